"""The reader's task: answer one question from one context, or say that the context does not settle it."""

from dataclasses import dataclass
from typing import ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.text.render import plain_date


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """One question as a reader may see it; the same prompt for every condition and system (paper A, 4).

    `context` is text as `text.render` writes it, empty for the condition without memory;
    `question_date` is an ISO date of the moment the question is asked, where the benchmark gives one.
    """

    name: ClassVar[str] = "answer_question"

    question: str
    context: str
    question_date: str | None = None

    @property
    def max_new_tokens(self) -> int:
        """Paper A allows an answer 200 tokens."""
        return 200

    def messages(self) -> list[Message]:
        """System and user message; a question without a date has no date line."""
        date = plain_date(self.question_date)
        return render(self.name, context=self.context or "(nothing)", question=self.question, question_date=date)

    def parse(self, reply: str) -> str | ParseFailure:
        """The reply without the blanks around it.

        >>> AnswerQuestion("Who?", "").parse(" Ann\\n")
        'Ann'
        """
        return reply.strip() or ParseFailure("the reply is empty")
