"""Rubric scores of BEAM: strict item marks, their mean, and the event-order score that is never NaN."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from memgauge.tasks.base import ParseFailure
from memgauge.tasks.score_rubric_item import parse_mark


def rubric_score(values: Sequence[object]) -> float | ParseFailure | None:
    """The mean mark of all items; the first failure when one cannot be read; None without items.

    >>> rubric_score([1, 0.5, "0"])
    0.5
    """
    marks = [parse_mark(value) for value in values]
    for mark in marks:
        if isinstance(mark, ParseFailure):
            return mark
    return sum(mark for mark in marks if isinstance(mark, float)) / len(marks) if marks else None


@dataclass(frozen=True, slots=True)
class EventOrder:
    """Both parts of an event-order score and their product, all in [0, 1]."""

    tau_norm: float
    f1: float
    score: float


def event_order(events: int, lines: Sequence[int | None]) -> EventOrder | None:
    """How completely and in which order an answer names the rubric's events; None without events.

    `lines` gives for every line of the answer the position (from 0) of the event it names, or None. A
    repeated event counts at its first line. `f1` compares the events named with those of the rubric;
    `tau_norm` is (tau-b + 1) / 2 over both lists' items, where an item absent from a list ties behind all
    others of that list. An undefined tau-b is 1 for a single matched event; without a match everything is
    0.

    >>> event_order(2, [1, 0])
    EventOrder(tau_norm=0.0, f1=1.0, score=0.0)
    >>> event_order(1, [0])
    EventOrder(tau_norm=1.0, f1=1.0, score=1.0)
    """
    if events == 0:
        return None
    # An unmatched line is an item of its own, behind the rubric's: events + its place.
    named = list(dict.fromkeys(events + at if event is None else event for at, event in enumerate(lines)))
    matched = sum(item < events for item in named)
    if matched == 0:
        return EventOrder(0.0, 0.0, 0.0)
    f1 = 2 * matched / (len(named) + events)
    items = list(range(events)) + [item for item in named if item >= events]
    last = len(items)
    rubric_ranks = [rank if rank < events else last for rank in range(len(items))]
    places = {item: place for place, item in enumerate(named)}
    tau = kendall_tau_b(rubric_ranks, [places.get(item, last) for item in items])
    tau_norm = 1.0 if tau is None else (tau + 1) / 2
    return EventOrder(tau_norm, f1, tau_norm * f1)


def kendall_tau_b(one: Sequence[int], other: Sequence[int]) -> float | None:
    """Kendall's tau-b of two rankings with ties; None where a ranking has no two different ranks.

    >>> kendall_tau_b([1, 2, 3], [1, 3, 2])
    0.3333333333333333
    """
    balance = pairs_one = pairs_other = 0
    for right in range(len(one)):
        for left in range(right):
            first, second = _sign(one[right] - one[left]), _sign(other[right] - other[left])
            balance += first * second
            pairs_one += abs(first)
            pairs_other += abs(second)
    return balance / sqrt(pairs_one * pairs_other) if pairs_one and pairs_other else None


def _sign(difference: int) -> int:
    return (difference > 0) - (difference < 0)
