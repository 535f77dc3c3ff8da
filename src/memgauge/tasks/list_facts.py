"""The writer's task: all facts that dated messages tell, each with its message (LightMem's extraction)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.replies import read_object
from memgauge.text.render import render_date

LONGEST_FACT = 400  # characters
_FACT_TOKENS = 64  # room for one fact in any tokenizer
_MOST_TOKENS = 2048
DatedTurn = tuple[str | None, str, str]  # ISO date, speaker, text
SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "message": {"type": "integer", "minimum": 1},
            "fact": {"type": "string", "minLength": 1, "maxLength": LONGEST_FACT},
        },
        "required": ["message", "fact"],
        "additionalProperties": False,
    },
}


@dataclass(frozen=True, slots=True)
class SourcedFact:
    """One fact and the 0-based position of the turn that told it."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class ListFacts:
    """Turns in order, perhaps of several sessions: (ISO date, speaker, text) each."""

    name: ClassVar[str] = "list_facts"
    schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {"facts": SCHEMA},
        "required": ["facts"],
        "additionalProperties": False,
    }

    turns: tuple[DatedTurn, ...]

    @property
    def max_new_tokens(self) -> int:
        """Room for two facts a message."""
        return min(_MOST_TOKENS, 64 + 2 * _FACT_TOKENS * len(self.turns))

    def messages(self) -> list[Message]:
        """System and user message; turns numbered from 1 under the dates they were said on."""
        return render(self.name, turns=show_turns(self.turns))

    def parse(self, reply: str) -> tuple[SourcedFact, ...] | ParseFailure:
        """The facts of a JSON object, in its order; a fact without a message that was shown refuses them all.

        >>> task = ListFacts(((None, "Ann", "I moved."), (None, "Bo", "Oh!")))
        >>> task.parse('{"facts": [{"message": 1, "fact": "Ann moved."}]}')
        (SourcedFact(turn=0, text='Ann moved.'),)
        >>> task.parse('{"facts": [{"message": 3, "fact": "Ann moved."}]}').reason
        'message 3 is not there'
        """
        found = read_object(reply)
        if isinstance(found, ParseFailure):
            return found
        return read_facts(found.get("facts"), len(self.turns))


def show_turns(turns: Sequence[DatedTurn]) -> str:
    """Turns as a prompt shows them: numbered from 1, each new date on a line of its own.

    >>> show_turns([("2023-05-08", "Ann", "Hi."), ("2023-05-08", "Bo", "Hi!"), (None, "Ann", "Hm.")])
    '[8 May 2023]\\n1. Ann: Hi.\\n2. Bo: Hi!\\n[undated]\\n3. Ann: Hm.'
    """
    lines: list[str] = []
    previous: object = object()
    for number, (date, speaker, text) in enumerate(turns, 1):
        if date != previous:
            lines.append(render_date(date))
            previous = date
        lines.append(f"{number}. {speaker}: {text}")
    return "\n".join(lines)


def read_facts(given: object, turns: int) -> tuple[SourcedFact, ...] | ParseFailure:
    """Facts as SCHEMA has them, of a conversation of so many turns; one that is none refuses them all."""
    if not isinstance(given, list):
        return ParseFailure("the object holds no list of facts")
    facts = []
    for one in given:
        if not isinstance(one, dict) or not {"message", "fact"} <= one.keys():
            return ParseFailure("a fact is no object of message and fact")
        message, text = one["message"], one["fact"]
        if not isinstance(message, int) or isinstance(message, bool) or not 1 <= message <= turns:
            return ParseFailure(f"message {str(message)[:20]} is not there")
        if not isinstance(text, str) or not any(map(str.isalnum, text)) or len(text) > LONGEST_FACT:
            return ParseFailure(f"a fact is no text of 1 to {LONGEST_FACT} characters")
        facts.append(SourcedFact(message - 1, " ".join(text.split())))
    return tuple(facts)
