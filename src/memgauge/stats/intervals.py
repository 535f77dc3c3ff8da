"""Intervals and one-sided p values from bootstrap draws, and the bounds that missing outcomes leave open."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgauge.stats.bootstrap import resample


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval in the unit of its estimate."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether the value lies inside, ends included.

        >>> Interval(-0.1, 0.0).holds(0.0), Interval(0.1, 0.2).holds(0.0)
        (True, False)
        """
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `n` values with its question and its clustered 95 % interval.

    None says undefined: no value at all, or (intervals) fewer than two units to resample.
    """

    value: float | None
    n: int
    interval: Interval | None = None
    clustered: Interval | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """First minus second over `n` complete pairs; `p` is the one-sided share of draws at or below 0."""

    value: float | None
    n: int
    interval: Interval | None
    p: float | None


def mean(values: Sequence[float]) -> float | None:
    """The correctly rounded mean, None of nothing: the same in any order of the values.

    >>> mean([0.0, 1.0, 1.0, 1.0]), mean([])
    (0.75, None)
    """
    return math.fsum(values) / len(values) if len(values) else None


def percentile_interval(draws: NDArray[np.float64], units: int, level: float = 0.95) -> Interval | None:
    """The central `level` of the draws (linear percentiles); None when fewer than two units were resampled.

    Draws that hold no value (NaN) are left out: they say nothing about the statistic.
    """
    defined = draws[~np.isnan(draws)]
    if units < 2 or not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def one_sided_p(draws: NDArray[np.float64], units: int) -> float | None:
    """The share of drawn differences that are not positive; None when fewer than two units were resampled.

    >>> one_sided_p(np.array([-1.0, 0.0, 1.0, 2.0]), units=4)
    0.5
    """
    defined = draws[~np.isnan(draws)]
    if units < 2 or not len(defined):
        return None
    return float(np.mean(defined <= 0))


def paired_difference(
    first: Sequence[float | None],
    second: Sequence[float | None],
    clusters: Sequence[str] | None,
    draws: int,
    generator: np.random.Generator,
) -> Difference:
    """Paired bootstrap of mean(first) - mean(second) over the questions that both answered.

    Outcomes stand in one order of questions, None where missing; with `clusters` whole clusters are redrawn.
    """
    pairs = [
        (a - b, position)
        for position, (a, b) in enumerate(zip(first, second, strict=True))
        if a is not None and b is not None
    ]
    if not pairs:
        return Difference(None, 0, None, None)
    differences = np.array([[difference] for difference, _ in pairs])
    kept = None if clusters is None else [clusters[position] for _, position in pairs]
    drawn = resample(differences, kept, draws, generator)
    means, units = drawn.means()[:, 0], int(drawn.units[0])
    value = mean([difference for difference, _ in pairs])
    return Difference(value, len(pairs), percentile_interval(means, units), one_sided_p(means, units))


def mean_bounds(values: Sequence[float | None]) -> Interval | None:
    """The lowest and highest mean that missing outcomes in [0, 1] allow; None of nothing.

    >>> mean_bounds([1.0, None, 0.0, None])
    Interval(low=0.25, high=0.75)
    """
    if not len(values):
        return None
    known = math.fsum(value for value in values if value is not None)
    missing = sum(value is None for value in values)
    return Interval(known / len(values), (known + missing) / len(values))


def difference_bounds(first: Sequence[float | None], second: Sequence[float | None]) -> Interval | None:
    """The lowest and highest mean difference that missing outcomes in [0, 1] allow.

    >>> difference_bounds([1.0, None], [0.0, 1.0])
    Interval(low=0.0, high=0.5)
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} outcomes cannot be paired")
    above, below = mean_bounds(first), mean_bounds(second)
    if above is None or below is None:
        return None
    return Interval(above.low - below.high, above.high - below.low)
