"""The writer's second look at one session: the same notes, said with more detail under the same budget."""

from dataclasses import dataclass
from typing import ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.summarise_session import SummariseSession, SummaryLine
from memgauge.text.render import plain_date, render_said


@dataclass(frozen=True, slots=True)
class RefineSummary:
    """Notes on one session to be made denser within `budget_tokens` tokens (cl100k_base), without any question.

    `date`, `turns` and `budget_tokens` are those of `SummariseSession`; `lines` are the notes it gave.
    """

    name: ClassVar[str] = "refine_summary"

    date: str | None
    turns: tuple[tuple[str, str], ...]
    lines: tuple[SummaryLine, ...]
    budget_tokens: int

    @property
    def max_new_tokens(self) -> int:
        """What the first pass was allowed."""
        return self._first_pass().max_new_tokens

    def messages(self) -> list[Message]:
        """System and user message; an undated session has no date line."""
        return render(
            self.name,
            date=plain_date(self.date),
            turns=render_said(self.turns),
            notes="\n".join(line.text for line in self.lines),
            budget_tokens=self.budget_tokens,
        )

    def parse(self, reply: str) -> tuple[SummaryLine, ...] | ParseFailure:
        """One fact a line, read as the first pass is.

        >>> RefineSummary(None, (), (), 50).parse("- Ann moved to Oslo.")
        (SummaryLine(text='Ann moved to Oslo.', turns=()),)
        """
        return self._first_pass().parse(reply)

    def _first_pass(self) -> SummariseSession:
        return SummariseSession(self.date, self.turns, self.budget_tokens)
