"""The writer's task: say how much one exchange matters for later, on a scale from 1 to 10."""

import re
from dataclasses import dataclass
from typing import ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.text.render import plain_date, render_said

LEAST, MOST = 1, 10
_RATING = re.compile(
    rf"(?:(?:importance|rating|score|answer)\b[\s:=]*(?:is\s+)?)?(?P<value>\d+)(?:\s*/\s*{MOST}|\s+out\s+of\s+{MOST})?\.?",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class RateImportance:
    """One exchange to be rated; `date` is its ISO date, `turns` are (speaker, text) pairs in order."""

    name: ClassVar[str] = "rate_importance"

    date: str | None
    turns: tuple[tuple[str, str], ...]

    @property
    def max_new_tokens(self) -> int:
        """A label and a number."""
        return 16

    def messages(self) -> list[Message]:
        """System and user message; an undated exchange has no date line."""
        date = plain_date(self.date)
        turns = render_said(self.turns)
        return render(self.name, date=date, turns=turns)

    def parse(self, reply: str) -> int | ParseFailure:
        """One whole number from 1 to 10 and nothing beside it but a label, "/10" or a full stop.

        >>> RateImportance(None, ()).parse("**Importance: 7/10**")
        7
        """
        match = _RATING.fullmatch(reply.strip(" \t\r\n*_`\"'"))
        if match is None:
            return ParseFailure("the reply is not one whole number")
        if len(match["value"]) > 2 or not LEAST <= int(match["value"]) <= MOST:
            return ParseFailure(f"the rating is not between {LEAST} and {MOST}")
        return int(match["value"])
