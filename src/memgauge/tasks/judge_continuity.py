"""The writer's task: does one page of a conversation carry on the page before it (MemoryOS's dialogue chains)?"""

from dataclasses import dataclass
from typing import ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.replies import label_of
from memgauge.text.render import render_date

LABELS = {"yes": True, "true": True, "no": False, "false": False}
Turns = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class JudgeContinuity:
    """Two pages in order, each an ISO date and (speaker, text) pairs."""

    name: ClassVar[str] = "judge_continuity"

    previous: tuple[str | None, Turns]
    page: tuple[str | None, Turns]

    @property
    def max_new_tokens(self) -> int:
        """One word."""
        return 8

    def messages(self) -> list[Message]:
        """System and user message; each page under its date."""
        return render(self.name, previous=_show(self.previous), page=_show(self.page))

    def parse(self, reply: str) -> bool | ParseFailure:
        """Yes or no and nothing beside it.

        >>> task = JudgeContinuity((None, ()), (None, ()))
        >>> task.parse("**Yes.**"), task.parse("no"), task.parse("Yes and no").reason
        (True, False, 'the reply is neither yes nor no')
        """
        return LABELS.get(label_of(reply), ParseFailure("the reply is neither yes nor no"))


def _show(page: tuple[str | None, Turns]) -> str:
    date, turns = page
    return "\n".join([render_date(date), *(f"{speaker}: {text}" for speaker, text in turns)])
