"""The bound that incomplete pairs leave open when nothing at all is assumed about them."""

import math
from collections.abc import Sequence

from memgauge.errors import InputError
from memgauge.stats.intervals import Interval


def unrestricted_bounds(changes: Sequence[float | None], span: float) -> Interval | None:
    """The lowest and highest mean change when each missing one lies anywhere in [-span, span]; None of nothing.

    Wider than `difference_bounds`: a pair with one known outcome is as free as one with none (paper C, 4.1).

    >>> unrestricted_bounds([-10.0, None, 4.0, None], span=100.0)
    Interval(low=-51.5, high=48.5)
    """
    check_changes(changes, span)
    if not len(changes):
        return None
    known = [change for change in changes if change is not None]
    free = span * (len(changes) - len(known))
    return Interval(math.fsum([*known, -free]) / len(changes), math.fsum([*known, free]) / len(changes))


def check_changes(changes: Sequence[float | None], span: float) -> None:
    """Raises InputError for a span that is not positive or a change beyond it."""
    if not (math.isfinite(span) and span > 0):
        raise InputError(f"span is {span}; it must be the positive width of the score's scale")
    for change in changes:
        if change is not None and not abs(change) <= span:
            raise InputError(f"a change of {change} exceeds the scale's width {span}; give scores on one scale")
