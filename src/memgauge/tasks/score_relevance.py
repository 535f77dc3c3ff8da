"""The filter's task: how far each passage helps to answer a question, on a scale from 0 to 10."""

from dataclasses import dataclass
from typing import Any, ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.replies import read_object
from memgauge.text.render import plain_date, render_date

MOST = 10


@dataclass(frozen=True, slots=True)
class ScoreRelevance:
    """A question and the passages (ISO date, text) found for it; all are scored in one reply."""

    name: ClassVar[str] = "score_relevance"
    schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {"scores": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": MOST}}},
        "required": ["scores"],
        "additionalProperties": False,
    }

    question: str
    passages: tuple[tuple[str | None, str], ...]
    question_date: str | None = None

    @property
    def max_new_tokens(self) -> int:
        """A number and a comma for each passage."""
        return 24 + 5 * len(self.passages)

    def messages(self) -> list[Message]:
        """System and user message; passages numbered from 1."""
        passages = (
            f"Passage {number} {render_date(date)}\n{text}" for number, (date, text) in enumerate(self.passages, 1)
        )
        return render(
            self.name,
            passages="\n\n".join(passages),
            question=self.question,
            question_date=plain_date(self.question_date),
            count=len(self.passages),
        )

    def parse(self, reply: str) -> tuple[int, ...] | ParseFailure:
        """One whole number from 0 to 10 for each passage, in their order.

        >>> task = ScoreRelevance("Who?", ((None, "a"), (None, "b")))
        >>> task.parse('{"scores": [10, 0]}'), task.parse('{"scores": [10]}').reason
        ((10, 0), 'the reply has 1 scores for 2 passages')
        """
        found = read_object(reply)
        if isinstance(found, ParseFailure):
            return found
        scores = found.get("scores")
        if not isinstance(scores, list):
            return ParseFailure("scores is not a list")
        if any(not isinstance(one, int) or isinstance(one, bool) or not 0 <= one <= MOST for one in scores):
            return ParseFailure(f"a score is not a whole number from 0 to {MOST}")
        if len(scores) != len(self.passages):
            return ParseFailure(f"the reply has {len(scores)} scores for {len(self.passages)} passages")
        return tuple(scores)
