"""Do two metrics order systems alike? (paper A, "CM and F1 Agreement")."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from memgauge.protocol.diagnosis import Cell


@dataclass(frozen=True, slots=True)
class MetricPoint:
    """One system under one condition: its mean by either metric."""

    system: str
    condition: str
    first: float
    second: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of all pairs of points how many both metrics order alike; `apart` lists the pairs they do not.

    `tied` counts the pairs of `apart` that one of the metrics ties: it gives them no order to disagree with.
    `orders` holds the systems by condition, best first, by either metric (ties in the order of the cells).
    """

    benchmark: str
    reader: str
    first: str
    second: str
    alike: int
    pairs: int
    tied: int
    points: tuple[MetricPoint, ...]
    apart: tuple[tuple[MetricPoint, MetricPoint], ...]
    orders: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]


def agreement(cells: Sequence[Cell], first: str, second: str) -> Agreement:
    """Compare two metrics over the cells of one benchmark and reader, of which there must be one at least."""
    points = _points(cells, first, second)
    pairs = list(combinations(points, 2))
    apart = tuple(
        (one, other) for one, other in pairs if _sign(one.first - other.first) != _sign(one.second - other.second)
    )
    tied = sum(one.first == other.first or one.second == other.second for one, other in apart)
    name = cells[0].name
    return Agreement(
        name.benchmark,
        name.reader,
        first,
        second,
        alike=len(pairs) - len(apart),
        pairs=len(pairs),
        tied=tied,
        points=points,
        apart=apart,
        orders=_orders(points),
    )


def _points(cells: Sequence[Cell], first: str, second: str) -> tuple[MetricPoint, ...]:
    points = []
    for cell in cells:
        if first in cell.metrics and second in cell.metrics:
            one, other = cell.metrics[first].gaps, cell.metrics[second].gaps
            for condition, a, b in (("CSM", one.csm, other.csm), ("RM", one.rm, other.rm)):
                if a.value is not None and b.value is not None:
                    points.append(MetricPoint(cell.name.system, condition, a.value, b.value))
    return tuple(points)


def _orders(points: Sequence[MetricPoint]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    orders = {}
    for condition in dict.fromkeys(point.condition for point in points):
        chosen = [point for point in points if point.condition == condition]
        by_first = sorted(chosen, key=lambda point: -point.first)
        by_second = sorted(chosen, key=lambda point: -point.second)
        orders[condition] = (tuple(each.system for each in by_first), tuple(each.system for each in by_second))
    return orders


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)
