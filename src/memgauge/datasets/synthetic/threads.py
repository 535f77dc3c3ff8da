"""A thread: one thing told over a history, who told which part, and the question it lets one ask."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from memgauge.datasets.synthetic.draws import Draws
from memgauge.datasets.synthetic.people import Persona

BEFORE_VOWEL = re.compile(r"\b([Aa]) (?=[aeioAEIO]|un[^i])")


@dataclass(frozen=True, slots=True)
class Statement:
    """What one exchange must contain. The fact (owner, key, value) is told by `speaker`.

    An empty `reply` leaves the assistant free. `owner` is "user", "assistant" or another person.
    """

    said: str
    key: str
    value: str
    reply: str = ""
    speaker: str = "user"
    owner: str = "user"


@dataclass(frozen=True, slots=True)
class Thread:
    """Statements in telling order, asides that may be told anywhere, and one question.

    `evidence` holds positions in `statements`; `updates` says that a later statement replaces the one before.
    """

    kind: str
    statements: tuple[Statement, ...]
    question: str
    type: str
    golds: tuple[str, ...]
    evidence: tuple[int, ...]
    asides: tuple[Statement, ...] = ()
    updates: bool = False
    trap: str | None = None

    @property
    def abstention(self) -> bool:
        """Whether nothing in the history answers the question."""
        return not self.golds


class Exhausted(Exception):
    """A vocabulary has nothing left that this history has not used."""


@dataclass(slots=True)
class Scene:
    """What a thread is built from: choices, people, days of its exchanges, day of asking, used keys."""

    draws: Draws
    persona: Persona
    days: Sequence[date]
    asked: date
    used: set[str]

    def fresh(self, kind: str, pool: Sequence[str]) -> str:
        """An item of the pool that this history has not used for this kind; raises Exhausted."""
        start = self.draws.below(len(pool))
        for step in range(len(pool)):
            item = pool[(start + step) % len(pool)]
            if f"{kind}:{item}" not in self.used:
                self.used.add(f"{kind}:{item}")
                return item
        raise Exhausted(kind)

    def say(self, templates: Sequence[str], **words: str) -> str:
        """One template filled in, with a capital first letter and the right indefinite articles."""
        text = BEFORE_VOWEL.sub(r"\1n ", self.draws.pick(templates).format(**words))
        return text[0].upper() + text[1:]


Builder = Callable[[Scene], Thread]


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to build threads: how many exchanges it may take, each size equally likely, and the builder."""

    sizes: tuple[int, ...]
    build: Builder
