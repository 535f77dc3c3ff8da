"""The reader's task of paper C: answer from ranked passages, or decline in one fixed sentence."""

from dataclasses import dataclass
from typing import ClassVar

from memgauge.prompts import render
from memgauge.tasks.answer_question import AnswerQuestion
from memgauge.tasks.base import Message
from memgauge.text.render import render_date

DECLINED = "No information available."  # paper C's sentence for insufficient evidence; the prompt asks for it


@dataclass(frozen=True, slots=True)
class AnswerFromPassages(AnswerQuestion):
    """The task `answer_question` under paper C's prompt: `context` is the passages, best ranked first.

    A solver that works by ranking solves it as any other question over a context.
    """

    template: ClassVar[str] = "answer_from_passages"

    @property
    def max_new_tokens(self) -> int:
        """Paper C allows an answer 1,024 tokens."""
        return 1024

    def messages(self) -> list[Message]:
        """System and user message; at every budget the same but for the passages.

        >>> AnswerFromPassages("Where?", "[8 May 2023]\\nuser: In Oslo.").messages()[1]["content"].split("\\n")[1]
        '[8 May 2023]'
        """
        date = None if self.question_date is None else render_date(self.question_date).strip("[]")
        return render(self.template, passages=self.context or "(none)", question=self.question, question_date=date)
