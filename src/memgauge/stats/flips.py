"""How many pairs would have to change, in the worst case, before a mean change loses its sign (paper C, 3.3)."""

import math
from collections.abc import Sequence

from memgauge.stats.intervals import Interval
from memgauge.stats.missing_bounds import check_changes


def flipped_bounds(changes: Sequence[float | None], flips: int, span: float) -> Interval | None:
    """The lowest and highest mean when any `flips` complete pairs may take any change in [-span, span].

    Missing pairs (None) may too, throughout. The worst choice is the pairs that are farthest from the bound.
    None of nothing.

    >>> flipped_bounds([-30.0, 10.0, None, 0.0], flips=1, span=100.0)
    Interval(low=-57.5, high=52.5)
    """
    check_changes(changes, span)
    if not len(changes):
        return None
    known = sorted(change for change in changes if change is not None)
    ends = (_sum(known[::-1], len(changes), flips, -span), _sum(known, len(changes), flips, span))
    return Interval(ends[0] / len(changes), ends[1] / len(changes))


def least_flips(changes: Sequence[float | None], span: float) -> int | None:
    """The smallest number of complete pairs whose arbitrary change lets the mean reach 0 or the other sign.

    0 says that the missing pairs alone can do it, or that the mean of the complete pairs is 0 already; None
    that there is no complete pair.

    >>> least_flips([-60.0, -50.0, -40.0, 10.0], span=100.0), least_flips([-60.0, None], span=100.0)
    (1, 0)
    """
    check_changes(changes, span)
    known = sorted(change for change in changes if change is not None)
    if not known:
        return None
    negative = math.fsum(known) < 0
    ordered, end = (known, span) if negative else (known[::-1], -span)
    for flips in range(len(known) + 1):
        reached = _sum(ordered, len(changes), flips, end)
        if (reached >= 0) if negative else (reached <= 0):
            return flips
    raise AssertionError("changing every pair reaches any sign")


def _sum(ordered: Sequence[float], pairs: int, flips: int, end: float) -> float:
    """The correctly rounded sum when the first `flips` changes and the missing ones take the end of the scale."""
    return math.fsum([*ordered[flips:], *[end] * (pairs - len(ordered) + min(flips, len(ordered)))])
