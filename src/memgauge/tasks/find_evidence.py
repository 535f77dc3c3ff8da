"""The annotator's task: name the fewest turns of a history that settle a question whose answer is known.

Silver evidence stands in for an annotator, not for a reader: the answer is an input here, and what is found is
used to choose what a reader is shown. The answer itself never reaches a reader.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.text.render import plain_date, render_date

MALFORMED = "the reply is not a list of message numbers"
MADE_UP = "there is no message of a number named"
_LIST = re.compile(r"(?:(?:messages?|numbers?|evidence|answer|and)\b|[\s:,;&\[\]#\d])+\.?", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"\d+", re.ASCII)
_NONE = re.compile(r"(?:(?:messages?|evidence)\s*:?\s*)?none\.?", re.IGNORECASE)
_LONGEST = 256  # tokens of a reply: room for about 60 numbers, whatever the tokenizer


@dataclass(frozen=True, slots=True)
class Candidate:
    """One turn that may be evidence: who says what, under which ISO date; it has no id but its position."""

    speaker: str
    text: str
    date: str | None = None


@dataclass(frozen=True, slots=True)
class FindEvidence:
    """Which of the `turns`, given in history order, are needed to answer: any one of `answers` is right."""

    name: ClassVar[str] = "find_evidence"

    question: str
    answers: tuple[str, ...]
    turns: tuple[Candidate, ...]
    question_date: str | None = None

    @property
    def max_new_tokens(self) -> int:
        """A label and a few numbers; a reply that names half of the history is cut, which is a failure."""
        return _LONGEST

    def messages(self) -> list[Message]:
        """System and user message: numbered turns under their dates, then the question and its answer."""
        return render(
            self.name,
            turns="\n".join(_lines(self.turns)),
            question=self.question,
            question_date=plain_date(self.question_date),
            answers=" | ".join(self.answers),
        )

    def parse(self, reply: str) -> tuple[int, ...] | ParseFailure:
        """0-based positions in history order, each once; "none" names no turn.

        A number without a turn makes the whole reply a failure: what else it names cannot be trusted either.

        >>> task = FindEvidence("Who?", ("Ann",), (Candidate("Ann", "Me."), Candidate("Bob", "Not I.")))
        >>> task.parse("Messages 2 and 1"), task.parse("None."), task.parse("[1], [3]").reason
        ((0, 1), (), 'there is no message of a number named')
        """
        text = reply.strip(" \t\r\n*_`\"'")
        if _NONE.fullmatch(text):
            return ()
        named = _NUMBER.findall(text)
        if not named or _LIST.fullmatch(text) is None:
            return ParseFailure(MALFORMED)
        if any(len(number) > 6 or not 1 <= int(number) <= len(self.turns) for number in named):
            return ParseFailure(MADE_UP)
        return tuple(sorted({int(number) - 1 for number in named}))


def _lines(turns: tuple[Candidate, ...]) -> list[str]:
    """Numbered turns; neighbours with one date share its heading."""
    lines: list[str] = []
    previous: object = object()
    for number, turn in enumerate(turns, 1):
        if turn.date != previous:
            lines.append(render_date(turn.date))
            previous = turn.date
        lines.append(f"{number}. {turn.speaker}: {turn.text}")
    return lines
