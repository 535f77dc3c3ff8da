"""The summariser's task: of all that was retrieved, only what one question needs (MemoryCPT's QAR, one rollout)."""

from dataclasses import dataclass
from typing import ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.text.render import plain_date


@dataclass(frozen=True, slots=True)
class SummariseForQuestion:
    """A context to be cut down for one question to at most `limit_tokens` tokens (cl100k_base).

    `context` is text as `text.render` writes it; `date` is the ISO date at which the question is asked, where the
    benchmark gives one. The limit is only asked for here: who shows the summary enforces it.
    """

    name: ClassVar[str] = "summarise_for_question"

    question: str
    context: str
    date: str | None
    limit_tokens: int

    @property
    def max_new_tokens(self) -> int:
        """Room to end by itself: a solver's tokens may be shorter than cl100k_base's."""
        return self.limit_tokens + self.limit_tokens // 4 + 8

    def messages(self) -> list[Message]:
        """System and user message; a question without a date has no date line."""
        return render(
            self.name,
            context=self.context or "(nothing)",
            question=self.question,
            date=plain_date(self.date),
            limit_tokens=self.limit_tokens,
        )

    def parse(self, reply: str) -> str | ParseFailure:
        """The reply without blank lines; it must hold a letter or a digit.

        >>> SummariseForQuestion("Who?", "", None, 60).parse(" Ann moved.\\n\\n")
        'Ann moved.'
        >>> SummariseForQuestion("Who?", "", None, 60).parse(" ... ")
        ParseFailure(reason='the reply has no word')
        """
        lines = [line.strip() for line in reply.splitlines() if line.strip()]
        if not any(character.isalnum() for character in reply):
            return ParseFailure("the reply has no word")
        return "\n".join(lines)

    def reply_of(self, rationale: str, output: str) -> str:
        """The output itself: a summary is shown as it is and never thinks aloud."""
        return output
