"""The reward as trl calls it, and the numbers of a training step under our names."""

from collections.abc import Callable, Mapping, Sequence
from math import fsum
from typing import Any

from memgauge.training.reward import Reward, Score, Summary
from memgauge.training.summary_rows import SummaryRow

Decode = Callable[[list[int]], str]
CURVES = {  # trl's names of what a step logs, and ours
    "reward": "reward",
    "reward_std": "reward_deviation",
    "f1": "f1",
    "saving": "saving",
    "cost_micro_usd": "cost_micro_usd",
    "completions/mean_length": "completion_tokens",
    "kl": "kl",
    "entropy": "entropy",
    "unscorable": "unscorable",
    "empty": "empty",
    "loss": "loss",
    "grad_norm": "grad_norm",
}


def curve(entry: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of one logged step under our names."""
    return {ours: float(entry[name]) for name, ours in CURVES.items() if entry.get(name) is not None}


def reward_function(rows: Sequence[SummaryRow], score: Score, stops: frozenset[int], decode: Decode) -> Any:
    """`score` as a reward function of trl, which hands the columns of the dataset on as lists.

    Besides the rewards it logs the means of their parts over the scored completions, and the shares of unscorable
    and of empty ones over all.
    """

    def worth(completion_ids: list[list[int]], row: list[int], log_metric: Any, **others: Any) -> list[float | None]:
        summaries = [_summary(ids, stops, decode) for ids in completion_ids]
        found = score(summaries, [rows[number] for number in row])
        for name, value in parts(found).items():
            log_metric(name, value)
        return [None if one is None else one.reward for one in found]

    return worth


def _summary(ids: Sequence[int], stops: frozenset[int], decode: Decode) -> Summary:
    ended = bool(ids) and ids[-1] in stops
    own = list(ids[:-1] if ended else ids)
    return Summary(decode(own), len(own), ended)


def parts(found: Sequence[Reward | None]) -> dict[str, float]:
    """Means of F1, saving and cost (millionths of a USD) over the scored; shares of unscorable and empty ones."""
    known = [one for one in found if one is not None]
    shares = {
        "unscorable": (len(found) - len(known)) / len(found),
        "empty": sum(one.empty for one in known) / len(found),
    }
    if not known:
        return shares
    means = {"f1": [one.f1 for one in known], "saving": [one.saving for one in known]}
    means["cost_micro_usd"] = [one.cost * 1e6 for one in known]
    return {**shares, **{name: fsum(values) / len(known) for name, values in means.items()}}
