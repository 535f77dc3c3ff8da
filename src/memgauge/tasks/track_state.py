"""The retention reader's task: what three slots hold after the messages it is shown (paper C, section 3.4)."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.replies import read_object

Slot = Literal["item", "place", "duration"]
SLOTS: tuple[Slot, ...] = ("item", "place", "duration")
Note = Literal["none", "guidance", "placebo"]
TEMPLATES: dict[Note, str] = {
    "none": "track_state",
    "guidance": "track_state_guidance",
    "placebo": "track_state_placebo",
}
# Any text or null: no value that could be right is named.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "state": {
            "type": "object",
            "properties": {slot: {"type": ["string", "null"]} for slot in SLOTS},
            "required": list(SLOTS),
            "additionalProperties": False,
        }
    },
    "required": ["state"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class State:
    """What each slot holds; None where that cannot be told."""

    item: str | None
    place: str | None
    duration: str | None

    def value(self, slot: Slot) -> str | None:
        """One slot's value.

        >>> State("tram", None, "one night").value("duration")
        'one night'
        """
        found: str | None = getattr(self, slot)
        return found


@dataclass(frozen=True, slots=True)
class TrackState:
    """One state to be read off `history`, the retained messages as lines.

    `note` adds general guidance, or a placebo of about its length; `padding` is labelled filler that brings a
    prompt to the length of another. Without `constrained` the reply is free text that must still parse.
    """

    name: ClassVar[str] = "track_state"

    history: str
    note: Note = "none"
    padding: str | None = None
    constrained: bool = True

    @property
    def schema(self) -> dict[str, Any] | None:
        """The reply's JSON schema, None for a reply that is left free."""
        return SCHEMA if self.constrained else None

    @property
    def max_new_tokens(self) -> int:
        """Paper C allows 128 tokens."""
        return 128

    def messages(self) -> list[Message]:
        """System and user message; messages come first, so that prompts of one conversation share their start."""
        return render(TEMPLATES[self.note], history=self.history or "(nothing)", padding=self.padding)

    def parse(self, reply: str) -> State | ParseFailure:
        """Exactly {"state": {"item": v, "place": v, "duration": v}}, each v a text or null.

        >>> TrackState("").parse('{"state": {"item": "tram", "place": null, "duration": "one night"}}')
        State(item='tram', place=None, duration='one night')
        >>> TrackState("").parse('{"state": {"item": "tram"}}')
        ParseFailure(reason='the state has not exactly the slots item, place, duration')
        """
        found = read_object(reply)
        if isinstance(found, ParseFailure):
            return found
        if set(found) != {"state"} or not isinstance(found["state"], dict):
            return ParseFailure("the object has not exactly the key state, with an object")
        values = found["state"]
        if set(values) != set(SLOTS):
            return ParseFailure(f"the state has not exactly the slots {', '.join(SLOTS)}")
        for slot, value in values.items():
            if value is not None and not isinstance(value, str):
                return ParseFailure(f"{slot} is {value!r}, neither a text nor null")
        return State(**values)
