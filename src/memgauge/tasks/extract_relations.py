"""The relation modules' task: what passages say of one aspect of a question (BudgetMem, arXiv 2602.06025)."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.replies import read_object
from memgauge.text.render import plain_date, render_date

Aspect = Literal["entity", "temporal", "topic"]
ASPECTS: tuple[Aspect, ...] = ("entity", "temporal", "topic")
MOST = 12  # relations of one reply


@dataclass(frozen=True, slots=True)
class ExtractRelations:
    """One aspect of the passages (ISO date, text): who has to do with what, what happened when, what is talked about.

    At most `limit` relations are asked for.
    """

    name: ClassVar[str] = "extract_relations"
    schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {"relations": {"type": "array", "items": {"type": "string", "maxLength": 240}, "maxItems": MOST}},
        "required": ["relations"],
        "additionalProperties": False,
    }

    aspect: Aspect
    question: str
    passages: tuple[tuple[str | None, str], ...]
    limit: int = 6
    question_date: str | None = None

    @property
    def max_new_tokens(self) -> int:
        """About 40 tokens a relation."""
        return 32 + 40 * self.limit

    def messages(self) -> list[Message]:
        """System and user message; of the three instructions the aspect's alone is shown."""
        passages = (f"{render_date(date)}\n{text}" for date, text in self.passages)
        return render(
            self.name,
            passages="\n\n".join(passages),
            question=self.question,
            question_date=plain_date(self.question_date),
            limit=self.limit,
            **{aspect: "" if aspect == self.aspect else None for aspect in ASPECTS},
        )

    def parse(self, reply: str) -> tuple[str, ...] | ParseFailure:
        """The relations of a JSON object in the order given, one line each, repeated ones once.

        >>> task = ExtractRelations("entity", "Who?", ((None, "a"),))
        >>> task.parse('{"relations": ["Ann - sister of - Bob"]}'), task.parse('{"relations": [1]}').reason
        (('Ann - sister of - Bob',), 'a relation is not a text with a word')
        """
        found = read_object(reply)
        if isinstance(found, ParseFailure):
            return found
        relations = found.get("relations")
        if not isinstance(relations, list):
            return ParseFailure("relations is not a list")
        if len(relations) > MOST:
            return ParseFailure(f"the reply names more than {MOST} relations")
        if any(not isinstance(one, str) or not any(map(str.isalnum, one)) for one in relations):
            return ParseFailure("a relation is not a text with a word")
        return tuple(dict.fromkeys(" ".join(one.split()) for one in relations))
