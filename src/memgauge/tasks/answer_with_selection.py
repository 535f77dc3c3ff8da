"""The answer agent's task: write out the entries that matter, then answer from them (Memory-R1, arXiv 2508.19828)."""

import re
from dataclasses import dataclass
from typing import ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.text.render import plain_date

_MARKER = re.compile(r"^[ \t*#>_-]*answer[ \t*_]*:[ \t*_]*", re.IGNORECASE | re.MULTILINE)
_LABEL = re.compile(r"(?:relevant|selected)(?: (?:entries|memories))?[*_]*:[*_]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SelectedAnswer:
    """The entries the reader wrote out as mattering, one text each, and its answer."""

    selected: tuple[str, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class AnswerWithSelection:
    """One question as `AnswerQuestion` has it; the context holds many entries of which few matter."""

    name: ClassVar[str] = "answer_with_selection"

    question: str
    context: str
    question_date: str | None = None

    @property
    def max_new_tokens(self) -> int:
        """Room for a dozen entries and a short answer; reimplementations of the paper allow 512."""
        return 512

    def messages(self) -> list[Message]:
        """System and user message; a question without a date has no date line."""
        date = plain_date(self.question_date)
        return render(self.name, context=self.context or "(nothing)", question=self.question, question_date=date)

    def parse(self, reply: str) -> SelectedAnswer | ParseFailure:
        """What stands after the one marker "Answer:"; the lines before it are the entries selected, perhaps none.

        >>> AnswerWithSelection("Who?", "").parse("Relevant:\\n- Ann has a cat.\\n**Answer:** Ann")
        SelectedAnswer(selected=('Ann has a cat.',), answer='Ann')
        >>> AnswerWithSelection("Who?", "").parse("Ann").reason
        'the reply has no line that opens with "Answer:"'
        """
        markers = list(_MARKER.finditer(reply))
        if not markers:
            return ParseFailure('the reply has no line that opens with "Answer:"')
        if len(markers) > 1:
            return ParseFailure("the reply gives an answer more than once")
        answer = " ".join(reply[markers[0].end() :].split())
        if not answer.strip("*_ "):
            return ParseFailure("the answer is empty")
        lines = (line.strip(" \t-*•") for line in reply[: markers[0].start()].splitlines())
        return SelectedAnswer(tuple(line for line in lines if line and not _LABEL.fullmatch(line)), answer.strip("*_ "))
