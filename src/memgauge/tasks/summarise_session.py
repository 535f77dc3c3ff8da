"""The writer's task: turn one session into separate facts, without knowing any question."""

import re
from dataclasses import dataclass
from typing import ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.text.render import plain_date, render_said

_BULLET = re.compile(r"^(?:[-*•–]|\d{1,2}[.)])\s+")


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """One fact; `turns` are 0-based positions of its source turns, () when the writer did not say."""

    text: str
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SummariseSession:
    """One session to be kept in at most `budget_tokens` tokens (cl100k_base).

    `date` is the session's ISO date; `turns` are (speaker, text) pairs in order. The budget is only asked for
    here: the harness is what enforces it.
    """

    name: ClassVar[str] = "summarise_session"

    date: str | None
    turns: tuple[tuple[str, str], ...]
    budget_tokens: int

    @property
    def max_new_tokens(self) -> int:
        """Room to end by itself: a solver's tokens may be shorter than cl100k_base's, and lists overshoot."""
        return 2 * self.budget_tokens + 32

    def messages(self) -> list[Message]:
        """System and user message; an undated session has no date line."""
        date = plain_date(self.date)
        turns = render_said(self.turns)
        return render(self.name, date=date, turns=turns, budget_tokens=self.budget_tokens)

    def parse(self, reply: str) -> tuple[SummaryLine, ...] | ParseFailure:
        """One fact a line; blank lines and leading bullets or numbers go.

        >>> SummariseSession(None, (), 50).parse("- Ann moved.\\n\\n2. Bob did not.")
        (SummaryLine(text='Ann moved.', turns=()), SummaryLine(text='Bob did not.', turns=()))
        """
        texts = [_BULLET.sub("", line.strip()) for line in reply.splitlines()]
        lines = tuple(SummaryLine(text) for text in texts if text.strip("-*•– "))
        return lines or ParseFailure("the reply has no line of text")
