"""The writer's guess at the future: questions that one session may have to answer (paper A, section 5, step 1)."""

import re
from dataclasses import dataclass
from typing import ClassVar
from unicodedata import normalize

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.text.render import plain_date, render_said

_ITEM = re.compile(r"(?P<number>[0-9]{1,6})[.):]\s*(?P<text>.*)")
_QUESTION_TOKENS = 40  # room for one question and its number


@dataclass(frozen=True, slots=True)
class ProposeQuestions:
    """One session that may be asked about; `count` questions are wanted.

    `date` is the session's ISO date; `turns` are (speaker, text) pairs in order.
    """

    name: ClassVar[str] = "propose_questions"

    date: str | None
    turns: tuple[tuple[str, str], ...]
    count: int

    @property
    def max_new_tokens(self) -> int:
        """Room for the list."""
        return _QUESTION_TOKENS * self.count + 32

    def messages(self) -> list[Message]:
        """System and user message; an undated session has no date line."""
        date = plain_date(self.date)
        turns = render_said(self.turns)
        return render(self.name, date=date, turns=turns, count=self.count)

    def parse(self, reply: str) -> tuple[str, ...] | ParseFailure:
        """The distinct questions of a list numbered 1, 2, 3 ..., however many; blank lines do not count.

        One line that ends with a colon may lead in. Any other line without its number, and a number out of
        turn, make the whole reply a failure: what is no list of questions must not steer what is kept. Digits
        and their punctuation may be full-width.

        >>> ProposeQuestions(None, (), 2).parse("1. Who moved?\\n2) Where to?")
        ('Who moved?', 'Where to?')
        >>> ProposeQuestions(None, (), 2).parse("Ann moved.")
        ParseFailure(reason='line 1 is no item numbered 1')
        """
        rows = [row.strip() for row in reply.splitlines() if row.strip()]
        if len(rows) > 1 and normalize("NFKC", rows[0]).endswith(":"):
            rows = rows[1:]
        questions: list[str] = []
        for number, row in enumerate(rows, 1):
            item = _ITEM.fullmatch(normalize("NFKC", row))
            if item is None or int(item["number"]) != number or not any(map(str.isalnum, item["text"])):
                return ParseFailure(f"line {number} is no item numbered {number}")
            questions.append(item["text"].strip())
        return tuple({question.casefold(): question for question in reversed(questions)}.values())[::-1] or (
            ParseFailure("the reply has no question")
        )
