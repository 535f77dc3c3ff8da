"""The chooser's task: the words of a question to look its answer up under (MemoryOS's retrieval)."""

import re
from dataclasses import dataclass
from typing import ClassVar

from memgauge.prompts import render
from memgauge.tasks.base import Message, ParseFailure
from memgauge.tasks.name_themes import LONGEST_KEYWORD
from memgauge.tasks.replies import label_of

_LABEL = re.compile(r"^keywords?\s*:\s*", re.IGNORECASE)
_MARKS = " \t\r\n\"'`*.[]"


@dataclass(frozen=True, slots=True)
class PickKeywords:
    """One question; at most `limit` keywords are wanted."""

    name: ClassVar[str] = "pick_keywords"

    question: str
    limit: int = 3

    @property
    def max_new_tokens(self) -> int:
        """A label and a few words a keyword."""
        return 16 + 12 * self.limit

    def messages(self) -> list[Message]:
        """System and user message."""
        return render(self.name, question=self.question, limit=self.limit)

    def parse(self, reply: str) -> tuple[str, ...] | ParseFailure:
        """Keywords separated by commas, each once, in the order named; "none" names none.

        >>> task = PickKeywords("Where did Ann move?")
        >>> task.parse("Keywords: Ann, move."), task.parse("none"), task.parse("a, b, c, d").reason
        (('Ann', 'move'), (), 'the reply names more than 3 keywords')
        """
        text = _LABEL.sub("", reply.strip(_MARKS))
        if label_of(text) == "none":
            return ()
        named = list(dict.fromkeys(" ".join(part.strip(_MARKS).split()) for part in text.split(",")))
        if len(named) > self.limit:
            return ParseFailure(f"the reply names more than {self.limit} keywords")
        if any(not any(map(str.isalnum, word)) or len(word) > LONGEST_KEYWORD for word in named):
            return ParseFailure("the reply is not a list of keywords")
        return tuple(named)
