"""Systems beside each other: paired differences, tie groups, the mean over readers, metric agreement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from memgauge.errors import InputError
from memgauge.metrics.scoring import ScoredItem
from memgauge.protocol.diagnosis import Cell
from memgauge.protocol.outcomes import METRICS, any_item, column, grid_of
from memgauge.protocol.sample import draw_sample
from memgauge.stats.intervals import Estimate, mean


@dataclass(frozen=True, slots=True)
class Comparison:
    """Mean of `first` minus mean of `second` over the questions both answered, one-sided p beside it."""

    first: str
    second: str
    difference: Estimate
    p: float | None
    p_clustered: float | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Systems of one (benchmark, reader) under one condition and metric, best first, ties as groups.

    A group holds its best system and those after it whose paired interval against that best one includes 0
    (or is undefined): within a group this sample decides no order.
    """

    benchmark: str
    reader: str
    condition: str
    metric: str
    groups: tuple[tuple[str, ...], ...]
    comparisons: tuple[Comparison, ...]


def rank_systems(
    benchmark: str,
    reader: str,
    items_by_system: Mapping[str, Sequence[ScoredItem]],
    condition: str,
    metric: str,
    draws: int,
    seed: int,
) -> Ranking:
    """Compare every pair of systems by the paired bootstrap; equal means keep the order of the mapping."""
    columns, groups = _aligned(items_by_system, condition, metric)
    order = sorted(columns, key=lambda system: _mean_or_least(columns[system]), reverse=True)
    differences = {f"{a}\x1f{b}": columns[a] - columns[b] for a, b in combinations(order, 2)}
    comparisons: list[Comparison] = []
    if differences:
        sample = draw_sample(differences, groups, draws, seed)
        for name in differences:
            first, second = name.split("\x1f")
            comparisons.append(Comparison(first, second, sample.mean(name), *sample.p_values(name)))
    return Ranking(benchmark, reader, condition, metric, tie_groups(order, comparisons), tuple(comparisons))


def tie_groups(order: Sequence[str], comparisons: Sequence[Comparison]) -> tuple[tuple[str, ...], ...]:
    """Groups of systems, best first, none of which is shown to differ from the first of its group."""
    found = {(each.first, each.second): each.difference.interval for each in comparisons}
    groups: list[list[str]] = []
    for system in order:
        interval = found.get((groups[-1][0], system)) if groups else None
        if groups and (interval is None or interval.holds(0.0)):
            groups[-1].append(system)
        else:
            groups.append([system])
    return tuple(tuple(group) for group in groups)


def average_readers(items_by_reader: Mapping[str, Sequence[ScoredItem]]) -> list[ScoredItem]:
    """One item a question and condition with the mean score of all readers; missing when any reader's is.

    Raises InputError when the readers did not answer the same questions under the same conditions.
    """
    first, *others = ({(i.question_id, i.condition): i for i in items} for items in items_by_reader.values())
    for reader, other in zip(list(items_by_reader)[1:], others, strict=True):
        if other.keys() != first.keys():
            raise InputError(
                f"reader {reader!r} answered other questions than {next(iter(items_by_reader))!r}; "
                "run both on the same questions before averaging"
            )
    return [_averaged([item, *(other[key] for other in others)]) for key, item in first.items()]


def metric_agreement(cells: Sequence[Cell], first: str, second: str) -> tuple[int, int]:
    """Of all pairs of (system, condition) means, how many two metrics order alike, and how many there are.

    A pair that either metric ties counts as alike only when both tie it.
    """
    points = [
        (cell.metrics[first].gaps, cell.metrics[second].gaps)
        for cell in cells
        if first in cell.metrics and second in cell.metrics
    ]
    scores = [
        (a.value, b.value)
        for one, other in points
        for a, b in ((one.csm, other.csm), (one.rm, other.rm))
        if a.value is not None and b.value is not None
    ]
    pairs = list(combinations(scores, 2))
    alike = sum(np.sign(x[0] - y[0]) == np.sign(x[1] - y[1]) for x, y in pairs)
    return int(alike), len(pairs)


def _aligned(
    items_by_system: Mapping[str, Sequence[ScoredItem]], condition: str, metric: str
) -> tuple[dict[str, NDArray[np.float64]], list[str]]:
    """Each system's scores over one order of questions, and the questions' groups."""
    grids = {system: grid_of(items) for system, items in items_by_system.items()}
    groups: dict[str, str] = {}
    for grid in grids.values():
        for question, row in grid.items():
            groups.setdefault(question, any_item(row).group)
    columns = {
        system: column({question: grid.get(question, {}) for question in groups}, condition, metric)
        for system, grid in grids.items()
    }
    return columns, list(groups.values())


def _mean_or_least(values: NDArray[np.float64]) -> float:
    """The mean to sort by; below every score when nothing was scored."""
    found = mean([float(value) for value in values[~np.isnan(values)]])
    return -1.0 if found is None else found


def _averaged(items: Sequence[ScoredItem]) -> ScoredItem:
    """The items of one question and condition as one; a refusal only when every reader refused."""
    failed = [item.status for item in items if item.status != "ok"]
    scores: dict[str, float | None] = {}
    for metric in METRICS:
        values = [getattr(item, metric) for item in items]
        scores[metric] = None if None in values else mean(values)
    return replace(
        items[0],
        status=failed[0] if failed else "ok",
        refused=all(item.refused for item in items),
        contains_match=scores["contains_match"],
        contains_match_strict=scores["contains_match_strict"],
        token_f1=scores["token_f1"],
        locomo_f1=scores["locomo_f1"],
    )
