"""The writer's fourth operation: what stays true of the speakers beyond the event (MemoryCPT, SemanticExtractor)."""

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.rationale import LONGEST_REPLY, read_operation, write_operation
from memgauge.tasks.write_episode import Episode
from memgauge.text.render import plain_date, render_said

LONGEST_FACT = 400  # characters
_FACT_TOKENS = 48  # room for one fact in any tokenizer
_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class ExtractFacts:
    """A segment with its note: facts are wanted that neither the note nor `known` tells, at most `most`.

    `date` is the session's ISO date, `turns` are (speaker, text) pairs in order, `known` the statements that the
    store already has on the matter, the closest first.
    """

    name: ClassVar[str] = "extract_facts"

    date: str | None
    turns: tuple[tuple[str, str], ...]
    episode: Episode
    known: tuple[str, ...]
    most: int = 5
    rationale: bool = True

    @property
    def schema(self) -> dict[str, Any] | None:
        """A list of texts, perhaps empty; None where a reply may think."""
        if self.rationale:
            return None
        fact = {"type": "string", "minLength": 1, "maxLength": LONGEST_FACT}
        return {
            "type": "object",
            "properties": {"facts": {"type": "array", "items": fact, "maxItems": self.most}},
            "required": ["facts"],
            "additionalProperties": False,
        }

    @property
    def max_new_tokens(self) -> int:
        """Room for the list and a rationale."""
        return min(LONGEST_REPLY, _FACT_TOKENS * self.most + 64)

    def messages(self) -> list[Message]:
        """System and user message; lines for a date and for known statements only where there are some."""
        known = "\n".join(f"- {statement}" for statement in self.known)
        return render(
            self.name,
            thinking="" if self.rationale else None,
            most=self.most,
            date=plain_date(self.date),
            turns=render_said(self.turns),
            episode=self.episode.text,
            known=f"Known:\n{known}" if known else None,
        )

    def parse(self, reply: str) -> tuple[str, ...] | ParseFailure:
        """The facts of a JSON object that holds nothing but their list; one that is no text refuses all.

        >>> task = ExtractFacts(None, (), Episode("a", "b", None), ())
        >>> task.parse('<think>a home</think>{"facts":["Ann lives in Oslo."]}'), task.parse('{"facts":[]}')
        (('Ann lives in Oslo.',), ())
        >>> task.parse('{"facts":["Ann lives in Oslo.", 7]}').reason
        'a fact is no text of 1 to 400 characters'
        """
        found = read_operation(reply, ["facts"])
        if isinstance(found, ParseFailure):
            return found
        facts = found["facts"]
        if not isinstance(facts, list):
            return ParseFailure("facts is no list")
        if len(facts) > self.most:
            return ParseFailure(f"the reply has {len(facts)} facts; at most {self.most} were asked for")
        if not all(isinstance(one, str) and _WORD.search(one) and len(one) <= LONGEST_FACT for one in facts):
            return ParseFailure(f"a fact is no text of 1 to {LONGEST_FACT} characters")
        return tuple(" ".join(one.split()) for one in facts)

    def reply_of(self, rationale: str, output: tuple[str, ...]) -> str:
        """The reply that `parse` reads as this output; the rationale is left out where none is wanted."""
        return write_operation(rationale if self.rationale else "", {"facts": list(output)})
