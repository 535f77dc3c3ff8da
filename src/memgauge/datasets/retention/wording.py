"""Two vocabularies and two timestamp wrappers: how a family's events become lines."""

from typing import Literal

from memgauge.datasets.retention.events import Event
from memgauge.datasets.retention.families import Family, Step
from memgauge.tasks.track_state import Slot

Vocabulary = Literal["travel", "reservation"]
Wrapper = Literal["clock", "elapsed"]
Variant = Literal["direct", "reference"]
VOCABULARIES: tuple[Vocabulary, ...] = ("travel", "reservation")
WRAPPERS: tuple[Wrapper, ...] = ("clock", "elapsed")
VARIANTS: tuple[Variant, ...] = ("direct", "reference")

WORDS: dict[Vocabulary, dict[Slot, tuple[str, ...]]] = {
    "travel": {
        "item": ("shuttle", "ferry", "tram", "coach", "bicycle", "minibus", "taxi", "sleeper"),
        "place": ("west", "harbour", "old town", "airport", "north", "lakeside", "station", "hillside"),
        "duration": (
            *("evening", "weekend", "one night", "morning"),
            *("three days", "fortnight", "afternoon", "two weeks"),
        ),
    },
    "reservation": {
        "item": ("table", "suite", "court", "studio", "booth", "cabin", "locker", "desk"),
        "place": ("terrace", "garden", "rooftop", "lobby", "basement", "balcony", "upper floor", "gallery"),
        "duration": (
            *("one hour", "two hours", "half day", "full day"),
            *("forty minutes", "three hours", "one month", "lunchtime"),
        ),
    },
}
OPENINGS: dict[Vocabulary, str] = {"travel": "For the trip", "reservation": "For the booking"}
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
START_MINUTES = 8 * 60  # on a Monday


def events_of(family: Family, vocabulary: Vocabulary, variant: Variant) -> tuple[Event, ...]:
    """A family's events in one vocabulary; the variants differ in one event, the acceptance (paper C)."""
    return tuple(_event(family, place, step, vocabulary, variant) for place, step in enumerate(family.steps))


def _event(family: Family, place: int, step: Step, vocabulary: Vocabulary, variant: Variant) -> Event:
    identity, value = f"e{place + 1}", WORDS[vocabulary][step.slot][step.number]
    if step.kind != "accept":
        return Event(identity, step.kind, step.slot, value)
    if variant == "direct":
        return Event(identity, "assign", step.slot, value)
    return Event(identity, "accept", step.slot, offer=f"e{family.offered + 1}")


def line_of(event: Event, minute: int, vocabulary: Vocabulary, wrapper: Wrapper) -> str:
    """One message as a reader sees it; wrappers share the sentence (paper C).

    >>> line_of(Event("e2", "update", "place", "west"), 75, "travel", "clock")
    '[Mon 09:15] e2 user: For the trip, change place to west.'
    >>> line_of(Event("e9", "accept", "item", offer="e8"), 75, "travel", "elapsed")
    'e9 (user, 75 min in): For the trip, I accept the item offered in e8.'
    """
    sentence = f"{OPENINGS[vocabulary]}, {_clause(event)}."
    if wrapper == "elapsed":
        return f"{event.id} ({event.speaker}, {minute} min in): {sentence}"
    hours, minutes = divmod(START_MINUTES + minute, 60)
    return f"[{DAYS[hours // 24 % 7]} {hours % 24:02}:{minutes:02}] {event.id} {event.speaker}: {sentence}"


def _clause(event: Event) -> str:
    match event.kind:
        case "assign":
            return f"set {event.slot} to {event.value}"
        case "update":
            return f"change {event.slot} to {event.value}"
        case "offer":
            return f"I can offer {event.value} as {event.slot}"
        case "accept":
            return f"I accept the {event.slot} offered in {event.offer}"
