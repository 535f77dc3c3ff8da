"""The writer's task: the facts that a few turns tell, each worded to stand alone; what is already kept is not shown."""

from dataclasses import dataclass
from typing import Any, ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.replies import read_object
from memgauge.text.render import plain_date, render_said

MOST = 12  # facts of one reply


@dataclass(frozen=True, slots=True)
class NoteFacts:
    """Turns as (speaker, text) pairs in order, said on the ISO date `date`.

    Unlike `extract_facts`, which keeps what lasts, everything that may be asked about counts: events, plans, dates.
    """

    name: ClassVar[str] = "note_facts"
    schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": {"type": "string", "maxLength": 300}, "maxItems": MOST}},
        "required": ["facts"],
        "additionalProperties": False,
    }

    date: str | None
    turns: tuple[tuple[str, str], ...]

    @property
    def max_new_tokens(self) -> int:
        """Room for a dozen short facts."""
        return 512

    def messages(self) -> list[Message]:
        """System and user message; undated turns have no date line."""
        return render(self.name, date=plain_date(self.date), turns=render_said(self.turns))

    def parse(self, reply: str) -> tuple[str, ...] | ParseFailure:
        """The facts of a JSON object; one that is no text, or has no letter or digit, fails the whole reply.

        >>> task = NoteFacts(None, (("Ann", "I moved."),))
        >>> task.parse('{"facts": ["Ann moved. "]}'), task.parse('{"facts": []}'), task.parse('["Ann"]').reason
        (('Ann moved.',), (), 'the reply holds no JSON object')
        """
        found = read_object(reply)
        if isinstance(found, ParseFailure):
            return found
        facts = found.get("facts")
        if not isinstance(facts, list):
            return ParseFailure("facts is not a list")
        if len(facts) > MOST:
            return ParseFailure(f"the reply names more than {MOST} facts")
        if any(not isinstance(fact, str) or not any(map(str.isalnum, fact)) for fact in facts):
            return ParseFailure("a fact is not a text with a word")
        return tuple(" ".join(fact.split()) for fact in facts)
