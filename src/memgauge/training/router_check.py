"""How a router does on questions it was not trained on, beside every module at one tier."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memgauge.memory.budgetmem_modules import TIERS
from memgauge.memory.budgetmem_pipeline import MODULES, Chooser, Fixed
from memgauge.training.router import RouterTraining
from memgauge.training.router_episodes import Episodes, Played, Seen


@dataclass(frozen=True, slots=True)
class Checked:
    """Means over the questions, and for each module the share of questions at each tier."""

    reward: float
    quality: float
    usd: float
    shares: Mapping[str, Mapping[str, float]]


def check_router(episodes: Episodes, chooser: Chooser, seen: Seen, options: RouterTraining) -> Checked:
    """All questions played once; rewards scaled by what training had seen, so that choosers can be compared."""
    played = episodes.play(list(range(episodes.questions)), chooser)
    rewards = seen.rewards(played, options.quality_weight, options.cost_weight)
    return Checked(
        float(rewards.mean()),
        float(np.mean([one.quality for one in played])),
        float(np.mean([one.usd for one in played])),
        tier_shares(played),
    )


def check_tiers(episodes: Episodes, seen: Seen, options: RouterTraining) -> dict[str, Checked]:
    """The same for every module at one tier: what a router has to beat."""
    return {tier: check_router(episodes, Fixed(tier), seen, options) for tier in TIERS}


def tier_shares(played: Sequence[Played]) -> dict[str, dict[str, float]]:
    """For each module, the share of questions at each tier.

    >>> tier_shares([Played((0, 0, 0, 0, 2), 1.0, 0.0)])["summary"]
    {'low': 0.0, 'mid': 0.0, 'high': 1.0}
    """
    counted = [Counter(one.tiers[at] for one in played) for at in range(len(MODULES))]
    return {
        module: {tier: counts[place] / max(len(played), 1) for place, tier in enumerate(TIERS)}
        for module, counts in zip(MODULES, counted, strict=True)
    }
