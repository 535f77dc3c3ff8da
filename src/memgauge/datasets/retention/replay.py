"""The first check of a target: play the events forward and keep what holds."""

from collections.abc import Iterable
from dataclasses import dataclass

from memgauge.datasets.retention.events import Event
from memgauge.tasks.track_state import SLOTS, Slot, State


@dataclass(frozen=True, slots=True)
class Replay:
    """The state after the events, and the slots whose accepted offer is not among them."""

    state: State
    unresolved: tuple[Slot, ...]


def replay(events: Iterable[Event]) -> Replay:
    """Play the events in order; the user's latest word on a slot holds (paper C).

    An offer changes nothing unless the user accepts it later, by its id and for its own slot; an acceptance that
    names no such offer leaves its slot unresolved. Any selection of events may be played.

    >>> replay([Event("e1", "assign", "item", "tram"), Event("e3", "accept", "item", offer="e2")])
    Replay(state=State(item=None, place=None, duration=None), unresolved=('item',))
    """
    held: dict[Slot, str | None] = {}
    offers: dict[str, Event] = {}
    unresolved: set[Slot] = set()
    for event in events:
        if event.kind == "offer":
            offers[event.id] = event
            continue
        unresolved.discard(event.slot)
        held[event.slot] = event.value
        if event.kind == "accept":
            named = offers.get(event.offer or "")
            if named is not None and named.slot == event.slot:
                held[event.slot] = named.value
            else:
                unresolved.add(event.slot)
    state = State(**{slot: held.get(slot) for slot in SLOTS})
    return Replay(state, tuple(slot for slot in SLOTS if slot in unresolved))
