"""track_state without a language model: reads the shown lines in order and answers what they support, no more.

It knows how slots are set, changed, offered and accepted in words, not which values there are. A slot whose
accepted offer is not among the lines is null, so its answers mark the most that any reader can support.
"""

import re
from collections.abc import Sequence

from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.tasks.track_state import SLOTS, State, TrackState

_SLOT = rf"(?P<slot>{'|'.join(SLOTS)})"
_NUMBER = re.compile(r"\be\d+\b")  # a line's own number is the first in it
_SET = re.compile(rf"\b(?:set|change)\s+(?:the\s+)?{_SLOT}\s+to\s+(?P<value>.+?)\.?\s*$", re.IGNORECASE)
_OFFER = re.compile(rf"\boffer\s+(?P<value>.+?)\s+as\s+(?:the\s+)?{_SLOT}\b", re.IGNORECASE)
_ACCEPT = re.compile(rf"\baccept\s+(?:the\s+)?{_SLOT}\b.*?\b(?P<number>e\d+)\b", re.IGNORECASE)


def track_states(tasks: Sequence[TrackState], vectors: Vectors, weights: Weights) -> list[State]:
    """One state a task, in order; neither vectors nor weights are needed."""
    return [read_state(task.history) for task in tasks]


def read_state(history: str) -> State:
    """The state that the lines support.

    >>> read_state("e1 user: set place to west.\\ne3 user: I accept the item offered in e2.")
    State(item=None, place='west', duration=None)
    """
    held: dict[str, str | None] = {}
    offers: dict[tuple[str, str], str] = {}
    for line in history.splitlines():
        number = _NUMBER.search(line)
        if found := _ACCEPT.search(line):
            slot = found["slot"].lower()
            held[slot] = offers.get((found["number"], slot))
        elif found := _OFFER.search(line):
            if number:
                offers[number[0], found["slot"].lower()] = found["value"]
        elif found := _SET.search(line):
            held[found["slot"].lower()] = found["value"]
    return State(**{slot: held.get(slot) for slot in SLOTS})
