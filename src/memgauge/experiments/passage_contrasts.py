"""Paired changes of score between two passage budgets, and how they differ by answerability (paper C, 3.1 and 3.2).

Intervals are percentile bootstraps over source groups (`clustered`) and, beside them, over questions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgauge.experiments.passage_evidence import ALL
from memgauge.experiments.passage_scores import Asked, Table, select
from memgauge.experiments.significance import Statistics
from memgauge.seeds import generator
from memgauge.stats.bootstrap import resample
from memgauge.stats.intervals import Estimate, mean, percentile_interval

LEVEL = 0.95
PLANNED_LEVEL = 0.975  # of each of the two planned interactions, so that both hold together at 95 % (Bonferroni)
ANSWERABLE, ABSTENTION = "answerable", "abstention"


@dataclass(frozen=True, slots=True)
class Contrast:
    """Budget against reference over complete pairs, in points; `planned` counts all questions of the subset.

    `change` holds the number of complete pairs; wins, ties and losses are pairs that score higher, equally or
    lower at the budget; `both_zero` are ties at 0.
    """

    name: str
    budget: int
    reference: int
    planned: int
    groups: int
    mean: float | None
    reference_mean: float | None
    change: Estimate
    wins: int
    ties: int
    losses: int
    both_zero: int


@dataclass(frozen=True, slots=True)
class Interaction:
    """The change of abstention questions minus that of answerable ones in one tier, with its 97.5 % interval."""

    tier: str
    budget: int
    reference: int
    abstention_pairs: int
    answerable_pairs: int
    groups: int
    value: Estimate


def contrast(table: Table, budget: int, reference: int, statistics: Statistics, name: str = ALL) -> Contrast:
    """One paired contrast over all questions of the table."""
    changes = table.changes(budget, reference)
    complete = [place for place, change in enumerate(changes) if change is not None]
    pairs = [(table.points[budget][place] or 0.0, table.points[reference][place] or 0.0) for place in complete]
    differences = [one - other for one, other in pairs]
    groups = [table.questions[place].group for place in complete]
    return Contrast(
        name=name,
        budget=budget,
        reference=reference,
        planned=len(changes),
        groups=len(set(groups)),
        mean=mean([one for one, _ in pairs]),
        reference_mean=mean([other for _, other in pairs]),
        change=_estimate(differences, groups, statistics, f"{budget} {reference} {name}"),
        wins=sum(difference > 0 for difference in differences),
        ties=sum(difference == 0 for difference in differences),
        losses=sum(difference < 0 for difference in differences),
        both_zero=sum(pair == (0.0, 0.0) for pair in pairs),
    )


def contrasts_by(
    table: Table, key: Callable[[Asked], str], budget: int, reference: int, statistics: Statistics
) -> tuple[Contrast, ...]:
    """One contrast for each value of the key, in order of appearance."""
    keys = [key(question) for question in table.questions]
    return tuple(
        contrast(select(table, [each == name for each in keys]), budget, reference, statistics, name)
        for name in dict.fromkeys(keys)
    )


def answerability(question: Asked) -> str:
    """Whether the question asks for an answer or for declining."""
    return ABSTENTION if question.abstention else ANSWERABLE


def ability(question: Asked) -> str:
    """The question's ability; abstention is one of its own, as in BEAM, whatever type its question has."""
    return ABSTENTION if question.abstention else question.ability


def tier_and_answerability(question: Asked) -> str:
    """The subgroups whose intervals paper C gives."""
    return f"{question.tier} {answerability(question)}"


def interactions(table: Table, budget: int, reference: int, statistics: Statistics) -> tuple[Interaction, ...]:
    """One interaction a tier that has questions of both kinds; the groups of the tier are redrawn."""
    tiers = dict.fromkeys(question.tier for question in table.questions)
    found = (_interaction(table, tier, budget, reference, statistics) for tier in tiers)
    return tuple(each for each in found if each is not None)


def _interaction(table: Table, tier: str, budget: int, reference: int, statistics: Statistics) -> Interaction | None:
    inside = select(table, [question.tier == tier for question in table.questions])
    changes = inside.changes(budget, reference)
    rows = [(q, change) for q, change in zip(inside.questions, changes, strict=True) if change is not None]
    if not rows or len({question.abstention for question, _ in rows}) < 2:
        return None
    nan = float("nan")
    pairs = [(change, nan) if question.abstention else (nan, change) for question, change in rows]
    values = np.array(pairs, dtype=np.float64)
    groups = [question.group for question, _ in rows]
    declined, answered = ([change for q, change in rows if q.abstention is kind] for kind in (True, False))
    above, below = mean(declined), mean(answered)
    assert above is not None
    assert below is not None
    return Interaction(
        tier=tier,
        budget=budget,
        reference=reference,
        abstention_pairs=len(declined),
        answerable_pairs=len(answered),
        groups=len(set(groups)),
        value=_interaction_estimate(above - below, values, groups, statistics, tier),
    )


def _interaction_estimate(
    value: float, values: NDArray[np.float64], groups: Sequence[str], statistics: Statistics, tier: str
) -> Estimate:
    """Both intervals of the difference of the two columns' means."""
    intervals = []
    for clusters in (None, groups):
        purpose = ("passages", "interaction", tier, "groups" if clusters else "questions")
        drawn = resample(values, clusters, statistics.draws, generator(statistics.seed, *purpose))
        means = drawn.means()
        units = len(values) if clusters is None else len(set(clusters))
        intervals.append(percentile_interval(means[:, 0] - means[:, 1], units, PLANNED_LEVEL))
    return Estimate(value, len(values), *intervals)


def _estimate(changes: Sequence[float], groups: Sequence[str], statistics: Statistics, purpose: str) -> Estimate:
    if not changes:
        return Estimate(None, 0)
    values = np.array(changes, dtype=np.float64)[:, None]
    intervals = []
    for clusters in (None, groups):
        unit = "groups" if clusters else "questions"
        stream = generator(statistics.seed, "passages", purpose, unit)
        drawn = resample(values, clusters, statistics.draws, stream)
        intervals.append(percentile_interval(drawn.means()[:, 0], int(drawn.units[0]), LEVEL))
    return Estimate(mean(changes), len(changes), *intervals)
