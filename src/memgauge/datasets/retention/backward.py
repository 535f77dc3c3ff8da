"""The second check of a target: for each slot, look back for the user's last word and settle it there.

It shares nothing with the forward replay but the events.
"""

from collections.abc import Sequence

from memgauge.datasets.retention.events import Event
from memgauge.tasks.track_state import Slot, State


def look_back(events: Sequence[Event]) -> State:
    """The state that the last word on each slot settles.

    >>> look_back([Event("e1", "offer", "item", "tram"), Event("e2", "accept", "item", offer="e1")])
    State(item='tram', place=None, duration=None)
    """
    return State(item=_last(events, "item"), place=_last(events, "place"), duration=_last(events, "duration"))


def _last(events: Sequence[Event], slot: Slot) -> str | None:
    for place in range(len(events) - 1, -1, -1):
        event = events[place]
        if event.slot == slot and event.kind in ("assign", "update"):
            return event.value
        if event.slot == slot and event.kind == "accept":
            earlier = [each for each in events[:place] if each.kind == "offer" and each.id == event.offer]
            return earlier[-1].value if earlier and earlier[-1].slot == slot else None
    return None
