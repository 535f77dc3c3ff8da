"""The sweep of alpha, the reward's weight of quality: one record a training run, means by alpha, the Pareto front."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from memgauge.errors import InputError
from memgauge.stats.intervals import mean

OPTIONAL = ("qpc", "qpc_qa", "cost_usd")  # undefined where a price is unknown


@dataclass(frozen=True, slots=True)
class AlphaRun:
    """One run: F1, USD a question, both QPC, mean summary tokens, share of empty summaries."""

    alpha: float
    f1: float
    cost_usd: float | None
    qpc: float | None
    qpc_qa: float | None
    summary_tokens: float
    empty_share: float


@dataclass(frozen=True, slots=True)
class AlphaPoint:
    """All runs of one alpha: their mean, and lowest and highest of each number."""

    runs: int
    mean: AlphaRun
    low: AlphaRun
    high: AlphaRun


def read_runs(records: Sequence[Mapping[str, Any]]) -> tuple[AlphaRun, ...]:
    """Runs from their records, other keys ignored; InputError for a number that is missing or none.

    >>> names = ("alpha", "f1", "cost_usd", "qpc", "qpc_qa", "summary_tokens", "empty_share")
    >>> read_runs([dict.fromkeys(names, 0.5)])[0].alpha
    0.5
    """
    return tuple(_run(place, record) for place, record in enumerate(records))


def by_alpha(runs: Sequence[AlphaRun]) -> tuple[AlphaPoint, ...]:
    """The runs joined by alpha, ascending; a number that one of them lacks is None."""
    return tuple(_point([run for run in runs if run.alpha == alpha]) for alpha in sorted({run.alpha for run in runs}))


def pareto(points: Sequence[tuple[float, float]]) -> tuple[int, ...]:
    """Positions of the (cost, quality) points that no other point beats: none costs less or the same and is better.

    A point that ties with another in both is on the front with it.

    >>> pareto([(1.0, 0.2), (2.0, 0.4), (3.0, 0.3), (2.0, 0.1)])
    (0, 1)
    """
    return tuple(
        place
        for place, (usd, quality) in enumerate(points)
        if not any(cheap <= usd and better >= quality and (cheap, better) != (usd, quality) for cheap, better in points)
    )


def peak(points: Sequence[AlphaPoint], name: str) -> float | None:
    """The alpha at which the mean of a number is highest, the smaller one of two; None where none is defined."""
    known = [(getattr(point.mean, name), -point.mean.alpha) for point in points]
    defined = [(value, alpha) for value, alpha in known if value is not None]
    return -max(defined)[1] if defined else None


def _run(place: int, record: Mapping[str, Any]) -> AlphaRun:
    found: dict[str, Any] = {}
    for each in fields(AlphaRun):
        value = record.get(each.name)
        if value is None and each.name in OPTIONAL and each.name in record:
            found[each.name] = None
        elif isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
            found[each.name] = float(value)
        else:
            raise InputError(f"run {place}: {each.name} is {value!r}; it must be a finite number: repeat that run")
    return AlphaRun(**found)


def _point(runs: Sequence[AlphaRun]) -> AlphaPoint:
    columns: dict[str, list[Any]] = {each.name: [getattr(run, each.name) for run in runs] for each in fields(AlphaRun)}

    def over(statistic: Callable[[Sequence[float]], float | None]) -> AlphaRun:
        known: dict[str, Any] = {
            name: None if None in values else statistic(values) for name, values in columns.items()
        }
        return AlphaRun(**known)

    return AlphaPoint(len(runs), over(mean), over(min), over(max))
