"""LightMem's way from messages to what a writer reads: shorter messages, topics, batches of topics.

It knows nothing of facts, entries or budgets of a store.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from memgauge.records import History, Turn
from memgauge.text.tokens import count_tokens
from memgauge.text.words import words

ASSISTANT = "assistant"
# A sentence without its negation says the opposite; digits are what questions ask for.
_FORCED = re.compile(r"\d|\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot)\b|n['’]t\b", re.I)
_END = ".!?…。！？"


@dataclass(frozen=True, slots=True)
class Said:
    """One message as it is passed on: its session's date, its turn, and what is left of its text."""

    date: str | None
    turn: Turn
    text: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message with the assistant's replies to it, if any; `tokens` count the message alone."""

    messages: tuple[Said, ...]
    tokens: int

    @property
    def text(self) -> str:
        """All that is said in it."""
        return " ".join(said.text for said in self.messages)


class WordStatistics:
    """How much a word tells, -log2 of its share of all words of a history, in bits."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = Counter(word for text in texts for word in words(text))
        self._total = max(self._counts.total(), 1)

    def information(self, word: str) -> float:
        """Bits of the rarest part of a word as it is written; 0 for marks, the most for a word never seen.

        >>> statistics = WordStatistics(["the cat the dog"])
        >>> statistics.information("The"), statistics.information("cat,"), statistics.information("-")
        (1.0, 2.0, 0.0)
        """
        parts = words(word)
        return log2(self._total / max(min(self._counts[part] for part in parts), 1)) if parts else 0.0

    def compress(self, text: str, rate: float, limit_tokens: int) -> str:
        """The `rate` of its words that tell most, in order; again while it still has `limit_tokens` or more.

        Negations and words with digits always stay, the end mark of a sentence too. A text that would be left
        without a word stays as it is.

        >>> WordStatistics(["the cat saw the dog", "the end"]).compress("the cat saw the dog.", 0.6, 512)
        'cat saw dog.'
        """
        shorter = self._keep(text, rate)
        while count_tokens(shorter) >= limit_tokens and (again := self._keep(shorter, rate)) != shorter:
            shorter = again
        return shorter or text

    def _keep(self, text: str, rate: float) -> str:
        written = text.split()
        forced = {at for at, word in enumerate(written) if _FORCED.search(word)}
        bits = {word: self.information(word) for word in set(written)}
        ranked = sorted(range(len(written)), key=lambda at: (at not in forced, -bits[written[at]], at))
        kept = set(ranked[: max(ceil(rate * len(written)), len(forced))])
        out: list[str] = []
        for at, word in enumerate(written):
            if at in kept:
                out.append(word)
            elif word[-1] in _END and out and out[-1][-1] not in _END:
                out[-1] += word[-1]
        return " ".join(out)


def make_exchanges(history: History, texts: Sequence[str]) -> list[Exchange]:
    """One exchange for every message but an assistant's, which joins the one before it in its session.

    `texts` are what is left of each turn of the history, in order.
    """
    groups: list[list[Said]] = []
    session_of_group: object = None
    for (session, turn), text in zip(history.turns(), texts, strict=True):
        if not (turn.speaker == ASSISTANT and groups and session_of_group is session):
            groups.append([])
        session_of_group = session
        groups[-1].append(Said(session.date, turn, text))
    return [Exchange(tuple(group), _user_tokens(group)) for group in groups]


def _user_tokens(group: Sequence[Said]) -> int:
    return sum(count_tokens(said.text) for said in group if said.turn.speaker != ASSISTANT)


def topic_cuts(vectors: NDArray[np.float32], thresholds: Sequence[float]) -> list[int]:
    """Where new topics start: neighbours less alike than the first threshold that any two of them are under.

    `vectors` are unit rows in the order said, shape (exchanges, dimensions).

    >>> vectors = np.array([[1, 0], [0.3, 0.954], [0.3, 0.954]], dtype=np.float32)
    >>> topic_cuts(vectors, [0.2, 0.35, 0.5]), topic_cuts(vectors, [0.2])
    ([1], [])
    """
    cosines = np.round(np.einsum("ij,ij->i", vectors[:-1], vectors[1:]), 6).tolist()
    for threshold in thresholds:
        cuts = [at + 1 for at, cosine in enumerate(cosines) if cosine < threshold]
        if cuts:
            return cuts
    return []


@dataclass(frozen=True, slots=True)
class SensoryBuffer:
    """At most `limit_tokens` of exchanges wait to be cut into topics."""

    limit_tokens: int
    thresholds: tuple[float, ...]

    def topics(self, tokens: Sequence[int], vectors: NDArray[np.float32]) -> list[range]:
        """Consecutive exchanges of one topic each, all exchanges in order; `tokens` are each one's.

        An exchange that no longer fits has the waiting ones cut; the last topic stays and waits on, unless it is
        the only one. An exchange longer than the buffer is a topic of its own.
        """
        topics: list[range] = []
        start = 0
        for at, size in enumerate(tokens):
            while start < at and sum(tokens[start:at]) + size > self.limit_tokens:
                cut = self._cut(range(start, at), vectors)
                topics += cut[:-1] or cut
                start = topics[-1].stop
            if size > self.limit_tokens:
                topics.append(range(at, at + 1))
                start = at + 1
        return topics + (self._cut(range(start, len(tokens)), vectors) if start < len(tokens) else [])

    def _cut(self, waiting: range, vectors: NDArray[np.float32]) -> list[range]:
        cuts = topic_cuts(vectors[waiting.start : waiting.stop], self.thresholds)
        edges = [waiting.start, *(waiting.start + cut for cut in cuts), waiting.stop]
        return [range(first, last) for first, last in pairwise(edges)]


def gather(tokens: Sequence[int], limit_tokens: int) -> Iterator[range]:
    """Consecutive topics that one call of the writer reads: as many as have at most `limit_tokens`, at least one.

    >>> list(gather([300, 200, 100, 900, 5], 512))
    [range(0, 2), range(2, 3), range(3, 4), range(4, 5)]
    """
    start, filled = 0, 0
    for at, size in enumerate(tokens):
        if start < at and filled + size > limit_tokens:
            yield range(start, at)
            start, filled = at, 0
        filled += size
    if start < len(tokens):
        yield range(start, len(tokens))
