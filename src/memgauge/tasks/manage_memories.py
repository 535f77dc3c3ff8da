"""The memory manager's task: what to do to the entries kept so far, given new facts (Memory-R1, arXiv 2508.19828).

It only proposes: the runtime that owns the entries decides what an operation does (`memory.memory_r1_bank`).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.replies import read_object
from memgauge.text.render import plain_date, render_date

Event = Literal["ADD", "UPDATE", "DELETE", "NONE"]
EVENTS: tuple[Event, ...] = ("ADD", "UPDATE", "DELETE", "NONE")
MOST = 40  # operations of one reply


@dataclass(frozen=True, slots=True)
class Operation:
    """One proposal: `number` is that of an entry shown (from 0), None where the reply names none.

    `old` is what an UPDATE takes the entry's text to be, None where the reply does not say.
    """

    event: Event
    number: int | None = None
    text: str = ""
    old: str | None = None


@dataclass(frozen=True, slots=True)
class ManageMemories:
    """Entries kept so far that are like the new facts, as (ISO date, text); the facts, said on `date`."""

    name: ClassVar[str] = "manage_memories"
    schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "operations": {
                "type": "array",
                "maxItems": MOST,
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "integer", "minimum": 0},
                        "text": {"type": "string", "maxLength": 400},
                        "event": {"type": "string", "enum": list(EVENTS)},
                        "old_memory": {"type": ["string", "null"], "maxLength": 400},
                    },
                    "required": ["id", "text", "event", "old_memory"],  # all of them: hosted services demand it
                    "additionalProperties": False,
                },
            }
        },
        "required": ["operations"],
        "additionalProperties": False,
    }

    entries: tuple[tuple[str | None, str], ...]
    facts: tuple[str, ...]
    date: str | None = None

    @property
    def max_new_tokens(self) -> int:
        """Reimplementations of the paper allow 512."""
        return 512

    def messages(self) -> list[Message]:
        """System and user message; entries numbered from 0 with their dates."""
        kept = (_show(number, *entry) for number, entry in enumerate(self.entries))
        return render(
            self.name,
            entries="\n".join(kept) or "(none)",
            date=plain_date(self.date),
            facts="\n".join(f"- {fact}" for fact in self.facts),
        )

    def parse(self, reply: str) -> tuple[Operation, ...] | ParseFailure:
        """The operations of a JSON object in order; one that is malformed fails the whole reply.

        A number that names no entry shown is no failure here: what becomes of it is the runtime's to decide.

        >>> task = ManageMemories(((None, "Ann has a cat."),), ("Ann has two cats.",))
        >>> task.parse('{"operations": [{"id": "0", "event": "UPDATE", "text": "Ann has two cats."}]}')
        (Operation(event='UPDATE', number=0, text='Ann has two cats.', old=None),)
        >>> task.parse('{"operations": [{"id": 0, "event": "UPDATE"}]}').reason
        'UPDATE needs a text'
        """
        found = read_object(reply)
        if isinstance(found, ParseFailure):
            return found
        operations = found.get("operations")
        if not isinstance(operations, list):
            return ParseFailure("operations is not a list")
        if len(operations) > MOST:
            return ParseFailure(f"the reply proposes more than {MOST} operations")
        read = [_operation(one) for one in operations]
        failed = next((one for one in read if isinstance(one, ParseFailure)), None)
        return failed or tuple(one for one in read if isinstance(one, Operation))


def _show(number: int, date: str | None, text: str) -> str:
    return f"{number}. {text}" if date is None else f"{number}. {render_date(date)} {text}"


def _operation(given: Any) -> Operation | ParseFailure:
    if not isinstance(given, dict):
        return ParseFailure("an operation is not an object")
    event = str(given.get("event", "")).strip().upper()
    event = "NONE" if event == "NOOP" else event  # the paper's own word for it
    if event not in EVENTS:
        return ParseFailure(f"event {given.get('event')!r} is not one of {', '.join(EVENTS)}")
    text, old, number = given.get("text") or "", given.get("old_memory"), _number(given.get("id"))
    if not isinstance(text, str) or not isinstance(old, str | None):
        return ParseFailure("text or old_memory is not a text")
    if isinstance(number, ParseFailure):
        return number
    if event in ("ADD", "UPDATE") and not any(map(str.isalnum, text)):
        return ParseFailure(f"{event} needs a text")
    if event in ("UPDATE", "DELETE") and number is None:
        return ParseFailure(f"{event} needs an id")
    return Operation(event, number, " ".join(text.split()), old)


def _number(given: Any) -> int | ParseFailure | None:
    """A number, as such or in digits; None where none is given or its text is no number (an id made up for an ADD)."""
    if given is None:
        return None
    if isinstance(given, str):
        digits = given.strip()
        return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= 9 else None
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return given
    return ParseFailure(f"id {given!r} is not a number of at least 0")
