"""The judge's task: is one answer right, given the golds, or given that the question has no answer?"""

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.replies import holds_object, label_of, read_object

Variant = Literal["strict", "generous"]
VARIANTS: tuple[Variant, ...] = ("strict", "generous")
LABELS = {
    "correct": True,
    "right": True,
    "true": True,
    "yes": True,
    "incorrect": False,
    "not correct": False,
    "wrong": False,
    "false": False,
    "no": False,
}
# Not `split_sentences`, to which "No." is short for number.
_STATEMENTS = re.compile(r"(?<=[.!?;])[\"')*\]]*\s+|\n+")
_LEAD_INS = ("the answer is ", "answer is ", "verdict: ", "label: ", "it is ")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the judge takes an answer as right, and why ("" when it did not say)."""

    correct: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """One answer to be judged: any one of `golds` is a right answer.

    `abstention` says that the history does not hold the answer: only declining is right, and `golds` is not
    shown. `variant` chooses the prompt: strict wants the stated precision, generous accepts a vaguer answer
    that points at the same thing.
    """

    name: ClassVar[str] = "judge_answer"
    schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "reason": {"type": "string", "maxLength": 240},
            "verdict": {"type": "string", "enum": ["correct", "wrong"]},
        },
        "required": ["reason", "verdict"],
        "additionalProperties": False,
    }

    question: str
    golds: tuple[str, ...]
    answer: str
    abstention: bool = False
    variant: Variant = "strict"

    @property
    def max_new_tokens(self) -> int:
        """Room for a reason of 240 characters in any tokenizer, and the label."""
        return 300

    @property
    def template(self) -> str:
        """The prompt template's name."""
        return template_of(self.variant)

    def messages(self) -> list[Message]:
        """System and user message; the golds' line or the one that says there are none, never both."""
        return render(
            self.template,
            question=self.question,
            answer=self.answer.strip() or "(nothing)",
            golds=None if self.abstention else " | ".join(self.golds),
            unanswerable="" if self.abstention else None,
        )

    def parse(self, reply: str) -> Verdict | ParseFailure:
        """The verdict of a JSON object, or of a reply in words that opens with one of LABELS.

        A label is a whole statement: "incorrect" and "not correct" are wrong, and an answer quoted in a
        reason decides nothing. Statements that are labels of both sides are a failure.

        >>> task = JudgeAnswer("When?", ("8 May",), "May")
        >>> task.parse('{"reason": "no day", "verdict": "WRONG"}'), task.parse("No. Yesterday is wrong.")
        (Verdict(correct=False, reason='no day'), Verdict(correct=False, reason='Yesterday is wrong.'))
        """
        return _read_json(reply) if holds_object(reply) else _read_words(reply)


def template_of(variant: Variant) -> str:
    """The name of a variant's prompt template.

    >>> template_of("strict")
    'judge_answer_strict'
    """
    return f"judge_answer_{variant}"


def _read_json(reply: str) -> Verdict | ParseFailure:
    found = read_object(reply)
    if isinstance(found, ParseFailure):
        return found
    label, reason = found.get("verdict"), found.get("reason", "")
    if not isinstance(label, str) or label_of(label) not in LABELS:
        return ParseFailure(f"verdict {label!r} is not one of {', '.join(LABELS)}")
    if not isinstance(reason, str):
        return ParseFailure(f"reason {reason!r} is not a text")
    return Verdict(LABELS[label_of(label)], reason.strip())


def _read_words(reply: str) -> Verdict | ParseFailure:
    statements = [part.strip() for part in _STATEMENTS.split(reply) if part.strip()]
    if not statements:
        return ParseFailure("the reply is empty")
    first, *rest = statements
    verdict = _label(first)
    if verdict is None:
        return ParseFailure("the reply opens with no label and holds no JSON object")
    if any(_label(one) not in (None, verdict) for one in rest):
        return ParseFailure("the reply names both labels")
    return Verdict(verdict, " ".join(rest))


def _label(statement: str) -> bool | None:
    """The side of a statement that is nothing but a label."""
    if statement.rstrip(" \"'`*)]").endswith("?"):
        return None
    text = label_of(statement)
    for lead_in in _LEAD_INS:
        text = text.removeprefix(lead_in)
    return LABELS.get(label_of(text))
