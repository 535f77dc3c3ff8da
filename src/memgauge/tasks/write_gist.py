"""The writer's task: retell one page of a conversation in far fewer words, without knowing any question."""

from dataclasses import dataclass
from typing import ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.text.render import plain_date, render_said


@dataclass(frozen=True, slots=True)
class WriteGist:
    """One page to be retold in at most `budget_tokens` tokens (cl100k_base).

    `date` is the page's ISO date; `turns` are (speaker, text) pairs in order. The budget is only asked for
    here: the harness is what enforces it.
    """

    name: ClassVar[str] = "write_gist"

    date: str | None
    turns: tuple[tuple[str, str], ...]
    budget_tokens: int

    @property
    def max_new_tokens(self) -> int:
        """Room to end by itself: a solver's tokens may be shorter than cl100k_base's."""
        return 2 * self.budget_tokens + 32

    def messages(self) -> list[Message]:
        """System and user message; an undated page has no date line."""
        date = plain_date(self.date)
        turns = render_said(self.turns)
        return render(self.name, date=date, turns=turns, budget_tokens=self.budget_tokens)

    def parse(self, reply: str) -> str | ParseFailure:
        """The reply without blank lines; it must hold a letter or a digit.

        >>> WriteGist(None, (), 50).parse(" Ann moved.\\n\\nBob stayed. \\n")
        'Ann moved.\\nBob stayed.'
        """
        lines = [line.strip() for line in reply.splitlines() if line.strip()]
        if not any(character.isalnum() for character in reply):
            return ParseFailure("the reply has no word")
        return "\n".join(lines)
