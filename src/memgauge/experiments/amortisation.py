"""What a question costs as a store serves more of them, and from which number on one system is cheaper than another.

C_amortised(n) = C_write / n + C_online (paper B, appendix C), C_write of one store and n the questions that this one
store serves: a benchmark of 314 questions about two conversations has two stores and n = 157.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from memgauge.experiments.qpc import Costs
from memgauge.metrics.cost import Usd, amortised, quality_per_cost

COUNTS: tuple[int | None, ...] = (1, 2, 5, 10, 50, 100, 157, 314, 1000, None)  # None: without end
BreakEven = int | Literal["always", "never"] | None  # None: a cost is unknown


@dataclass(frozen=True, slots=True)
class Curve:
    """One system's cost a question in USD over the questions a store serves, and its QPC there (F1 held)."""

    costs: Costs
    f1: float | None
    points: tuple[tuple[int | None, Usd], ...]

    def qpc(self) -> tuple[tuple[int | None, float | None], ...]:
        """QPC at every number of questions; None where the cost is 0 or unknown."""
        return tuple((questions, quality_per_cost(self.f1, usd)) for questions, usd in self.points)


def curve(costs: Costs, f1: float | None, counts: Sequence[int | None] = COUNTS) -> Curve:
    """Cost a question at each number of questions a store."""
    return Curve(costs, f1, tuple((each, amortised(costs.write, costs.online, each)) for each in counts))


def break_even(first: tuple[Usd, Usd], second: tuple[Usd, Usd]) -> BreakEven:
    """The smallest whole n from which on the first (write, online) is strictly cheaper than the second.

    "always" from n = 1 on; "never" where no n begins that, also if the first is cheaper for few questions only:
    the second's own break-even then says up to where.

    >>> break_even((Fraction(10), Fraction(1)), (Fraction(0), Fraction(3)))
    6
    >>> break_even((Fraction(0), Fraction(3)), (Fraction(10), Fraction(1)))
    'never'
    """
    write, online = _difference(first[0], second[0]), _difference(first[1], second[1])
    if write is None or online is None:
        return None
    if online > 0 or (online == 0 and write >= 0):
        return "never"
    if online == 0 or write < -online:
        return "always"
    return write // -online + 1  # write / n < -online, n whole


def break_evens(costs: Sequence[Costs]) -> Mapping[tuple[str, str], BreakEven]:
    """The break-even of every two systems by (first, second), in order."""
    return {
        (first.system, second.system): break_even((first.write, first.online), (second.write, second.online))
        for first in costs
        for second in costs
        if first.system != second.system
    }


def _difference(first: Usd, second: Usd) -> Usd:
    return None if first is None or second is None else first - second


def through(first: tuple[int, Fraction], second: tuple[int, Fraction]) -> tuple[Fraction, Fraction]:
    """The (C_write, C_online) whose curve passes two points (n, USD), for checking printed curves.

    >>> through((1, Fraction(5)), (2, Fraction(3)))
    (Fraction(4, 1), Fraction(1, 1))
    """
    (few, dear), (many, cheap) = first, second
    write = (dear - cheap) / (Fraction(1, few) - Fraction(1, many))
    return write, dear - write / few
