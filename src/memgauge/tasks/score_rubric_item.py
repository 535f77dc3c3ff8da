"""The judge's other task: how far one answer meets one criterion of a rubric: 0, 0.5 or 1."""

from dataclasses import dataclass
from typing import Any, ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.replies import holds_object, label_of, read_object

_MARKS = {"0": 0.0, "0.0": 0.0, "0.5": 0.5, "1": 1.0, "1.0": 1.0}


@dataclass(frozen=True, slots=True)
class ScoreRubricItem:
    """One criterion; it is met or not as it is worded, so "says there is no such fact" is met by declining.

    Paper C's judge sees criterion and answer; with a `question` the judge is shown that too.
    """

    name: ClassVar[str] = "score_rubric_item"
    schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "reason": {"type": "string", "maxLength": 240},
            "score": {"type": "number", "enum": [0, 0.5, 1]},
        },
        "required": ["reason", "score"],
        "additionalProperties": False,
    }

    criterion: str
    answer: str
    question: str | None = None

    @property
    def max_new_tokens(self) -> int:
        """Room for a reason of 240 characters in any tokenizer, and the mark."""
        return 300

    def messages(self) -> list[Message]:
        """System and user message; the line of the question is left out where there is none."""
        answer = self.answer.strip() or "(nothing)"
        return render(self.name, criterion=self.criterion, question=self.question, answer=answer)

    def parse(self, reply: str) -> float | ParseFailure:
        """The mark under "score" of a JSON object, or a reply that is nothing but a mark.

        >>> task = ScoreRubricItem("names Oslo", "Oslo")
        >>> task.parse('{"reason": "half", "score": "0.5"}'), task.parse("1."), task.parse('{"score": 2}')
        (0.5, 1.0, ParseFailure(reason='mark 2 is not 0, 0.5 or 1'))
        """
        if not holds_object(reply):
            return parse_mark(label_of(reply))
        found = read_object(reply)
        if isinstance(found, ParseFailure):
            return found
        return parse_mark(found["score"]) if "score" in found else ParseFailure("the object has no key score")


def parse_mark(value: object) -> float | ParseFailure:
    """One mark: exactly 0, 0.5 or 1, as a number or its text; anything else is a failure.

    >>> parse_mark("0.5"), parse_mark(1), parse_mark(True)
    (0.5, 1.0, ParseFailure(reason='mark True is not 0, 0.5 or 1'))
    """
    mark: float | None = None
    if isinstance(value, str):
        mark = _MARKS.get(value.strip())
    elif isinstance(value, int | float) and not isinstance(value, bool) and value in (0, 0.5, 1):
        mark = float(value)
    return ParseFailure(f"mark {value!r} is not 0, 0.5 or 1") if mark is None else mark
