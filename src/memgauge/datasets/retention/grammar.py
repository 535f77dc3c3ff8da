"""The third check of a target: a grammar that reads the rendered lines back into events, or refuses them.

It is written down apart from the rendering, and wants a whole conversation: numbers without a gap, times that grow.
"""

import re
from collections.abc import Sequence

from memgauge.datasets.retention.events import Event, EventKind
from memgauge.datasets.retention.wording import WORDS, Vocabulary, Wrapper
from memgauge.errors import InputError
from memgauge.tasks.track_state import SLOTS, Slot

_FRAMES: dict[Wrapper, re.Pattern[str]] = {
    "clock": re.compile(
        r"\[(?P<day>Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)\] "
        r"(?P<id>e[1-9]\d*) (?P<speaker>user|assistant): (?P<sentence>.+)"
    ),
    "elapsed": re.compile(
        r"(?P<id>e[1-9]\d*) \((?P<speaker>user|assistant), (?P<minute>\d+) min in\): (?P<sentence>.+)"
    ),
}
_TOPICS: dict[Vocabulary, str] = {"travel": "trip", "reservation": "booking"}
_SLOT = f"(?P<slot>{'|'.join(SLOTS)})"
_CLAUSES: tuple[tuple[EventKind, str, str], ...] = (
    ("assign", "user", rf"set {_SLOT} to (?P<value>.+)"),
    ("update", "user", rf"change {_SLOT} to (?P<value>.+)"),
    ("offer", "assistant", rf"I can offer (?P<value>.+) as {_SLOT}"),
    ("accept", "user", rf"I accept the {_SLOT} offered in (?P<offer>e[1-9]\d*)"),
)
_WEEK = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def read_back(lines: Sequence[str], vocabulary: Vocabulary, wrapper: Wrapper) -> tuple[Event, ...]:
    """The events of a rendered conversation.

    Raises InputError for the first line that is not of the language: unknown wording or value, a speaker who
    does not say such things, a number out of turn, a time that does not grow.

    >>> read_back(["e1 (user, 0 min in): For the trip, set place to west."], "travel", "elapsed")
    (Event(id='e1', kind='assign', slot='place', value='west', offer=None),)
    """
    events = []
    before = -1
    for number, line in enumerate(lines, 1):
        frame = _FRAMES[wrapper].fullmatch(line)
        event = None if frame is None else _event(frame, vocabulary)
        if frame is None or event is None or event.id != f"e{number}":
            raise _refused(line)
        now = _minutes(frame)
        if now <= before:
            raise _refused(line)
        before = now
        events.append(event)
    return tuple(events)


def _event(frame: re.Match[str], vocabulary: Vocabulary) -> Event | None:
    for kind, speaker, clause in _CLAUSES:
        found = re.fullmatch(rf"For the {_TOPICS[vocabulary]}, {clause}\.", frame["sentence"])
        if found and frame["speaker"] == speaker:
            return _known(kind, frame["id"], found.groupdict(), vocabulary)
    return None


def _known(kind: EventKind, identity: str, found: dict[str, str], vocabulary: Vocabulary) -> Event | None:
    slot: Slot = next(each for each in SLOTS if each == found["slot"])
    if "value" in found and found["value"] not in WORDS[vocabulary][slot]:
        return None
    return Event(identity, kind, slot, found.get("value"), found.get("offer"))


def _minutes(frame: re.Match[str]) -> int:
    found = frame.groupdict()
    if "day" not in found:
        return int(found["minute"])
    return (_WEEK.index(found["day"]) * 24 + int(found["hour"])) * 60 + int(found["minute"])


def _refused(line: str) -> InputError:
    return InputError(f"{line!r} is no line of a retention conversation; make the stimuli again")
