"""The chooser's task: name the pages whose content a question needs, from the gists of all pages."""

import re
from dataclasses import dataclass
from typing import ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.text.render import plain_date, render_date

_LIST = re.compile(r"(?:(?:pages?|answer|and)\b|[\s:,;&\[\]#\d])+\.?", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"\d+", re.ASCII)
_NONE = re.compile(r"(?:pages?\s*:?\s*)?none\.?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ChoosePages:
    """Which of the `gists` (ISO date, text) to look up for a question, at most `limit` of them."""

    name: ClassVar[str] = "choose_pages"

    question: str
    gists: tuple[tuple[str | None, str], ...]
    limit: int
    question_date: str | None = None

    @property
    def max_new_tokens(self) -> int:
        """A label and as many numbers as allowed, each with a separator."""
        return 16 + 6 * self.limit

    def messages(self) -> list[Message]:
        """System and user message: the gists first, which all questions of a history share, then the question."""
        date = plain_date(self.question_date)
        gists = "\n".join(_show(number, *gist) for number, gist in enumerate(self.gists, 1))
        return render(self.name, gists=gists, question=self.question, question_date=date, limit=self.limit)

    def parse(self, reply: str) -> tuple[int, ...] | ParseFailure:
        """Positions of the pages in the order named, each once; "none" names no page.

        >>> task = ChoosePages("Who?", ((None, "a"), (None, "b"), (None, "c")), 2)
        >>> task.parse("Pages 3 and 1"), task.parse("None."), task.parse("[2] [4]").reason
        ((2, 0), (), 'there is no page of a number named')
        """
        text = reply.strip(" \t\r\n*_`\"'")
        if _NONE.fullmatch(text):
            return ()
        named = _NUMBER.findall(text)
        if not named or _LIST.fullmatch(text) is None:
            return ParseFailure("the reply is not a list of page numbers")
        if len(named) > self.limit:
            return ParseFailure(f"the reply names more than {self.limit} pages")
        if any(len(number) > 6 or not 1 <= int(number) <= len(self.gists) for number in named):
            return ParseFailure("there is no page of a number named")
        return tuple(dict.fromkeys(int(number) - 1 for number in named))


def _show(number: int, date: str | None, text: str) -> str:
    heading = f"Page {number}" if date is None else f"Page {number} {render_date(date)}"
    return f"{heading}\n{text}"
