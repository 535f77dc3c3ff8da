"""How firm a paired change is: deletions of source groups, equal weights, missing pairs, worst-case flips."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memgauge.experiments.passage_scores import POINTS, Table
from memgauge.stats.flips import flipped_bounds, least_flips
from memgauge.stats.intervals import Interval, mean
from memgauge.stats.missing_bounds import unrestricted_bounds


@dataclass(frozen=True, slots=True)
class Stability:
    """Checks of one contrast, in points (paper C, 3.3 and figure 4).

    `deletions` is the change without each group, by group; `equal_weights` the mean over groups of their means;
    `missing` the bound with every incomplete pair free; `flips` the smallest number of complete pairs whose
    arbitrary change can erase the sign, with the missing pairs free; `worst_cases` the bounds by such a number.
    """

    budget: int
    reference: int
    missing_pairs: int
    deletions: Mapping[str, float | None]
    equal_weights: float | None
    missing: Interval | None
    flips: int | None
    worst_cases: Mapping[int, Interval | None]


def stability(table: Table, budget: int, reference: int, shown_flips: Sequence[int] = (10, 20, 50)) -> Stability:
    """All checks of one contrast; worst cases at 0, at `shown_flips` and at the number that erases the sign."""
    changes = table.changes(budget, reference)
    groups = [question.group for question in table.questions]
    flips = least_flips(changes, POINTS)
    complete = sum(change is not None for change in changes)
    wanted = sorted({0, *shown_flips} | ({flips} if flips is not None else set()))
    return Stability(
        budget=budget,
        reference=reference,
        missing_pairs=len(changes) - complete,
        deletions=deletions(changes, groups),
        equal_weights=equal_weights(changes, groups),
        missing=unrestricted_bounds(changes, POINTS),
        flips=flips,
        worst_cases={count: flipped_bounds(changes, count, POINTS) for count in wanted if count <= complete},
    )


def deletions(changes: Sequence[float | None], groups: Sequence[str]) -> dict[str, float | None]:
    """The mean change without each group, groups in order of appearance; None where nothing remains.

    >>> deletions([1.0, 3.0, None, 8.0], ["a", "a", "b", "b"])
    {'a': 8.0, 'b': 2.0}
    """
    parts = _by_group(changes, groups)
    whole = [change for part in parts.values() for change in part]
    sums = {group: math.fsum([*whole, *(-change for change in part)]) for group, part in parts.items()}
    return {
        group: sums[group] / (len(whole) - len(part)) if len(part) < len(whole) else None
        for group, part in parts.items()
    }


def equal_weights(changes: Sequence[float | None], groups: Sequence[str]) -> float | None:
    """The mean of the groups' mean changes, whatever their sizes.

    >>> equal_weights([1.0, 3.0, None, 8.0], ["a", "a", "b", "b"])
    5.0
    """
    means = [mean(part) for part in _by_group(changes, groups).values()]
    return mean([value for value in means if value is not None])


def _by_group(changes: Sequence[float | None], groups: Sequence[str]) -> dict[str, list[float]]:
    """Complete changes by group; groups without any are left out."""
    parts: dict[str, list[float]] = {}
    for change, group in zip(changes, groups, strict=True):
        if change is not None:
            parts.setdefault(group, []).append(change)
    return parts
