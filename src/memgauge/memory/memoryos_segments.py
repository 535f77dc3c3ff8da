"""MemoryOS's mid-term memory: segments of pages on one theme, their heat, and which of them go first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import exp

import numpy as np
from numpy.typing import NDArray

from memgauge.tasks.name_themes import Theme


@dataclass(slots=True)
class Segment:
    """Pages on one theme, by number. `visits`, `length` and `day` (of the last touch) make its heat.

    `number` is its place in the order of making; `heat` is as reckoned when it was touched last.
    """

    number: int
    theme: Theme
    pages: list[int] = field(default_factory=list)
    visits: int = 0
    length: int = 0
    day: float = 0.0
    heat: float = 0.0


@dataclass(frozen=True, slots=True)
class Heat:
    """H = visit * N_visit + interaction * L_pages + recency * R, R = exp(-days since the last touch / tau_days)."""

    visit: float = 1.0
    interaction: float = 1.0
    recency: float = 1.0
    tau_days: float = 1.0

    def of(self, segment: Segment, day: float) -> float:
        """The heat of a segment on a day of the dialogue.

        >>> Heat(2.0, 1.0, 4.0, 0.5).of(Segment(0, Theme(""), visits=3, length=2, day=7.0), 7.0)
        12.0
        """
        fresh = exp(-max(day - segment.day, 0.0) / self.tau_days)
        return self.visit * segment.visits + self.interaction * segment.length + self.recency * fresh


def survivors(segments: Iterable[Segment], heat: Heat, day: float) -> list[Segment]:
    """Segments, the one that goes last first: by visits, then by heat on that day, then the newer one.

    >>> warm, cold = Segment(0, Theme("a"), length=4), Segment(1, Theme("b"), length=2)
    >>> [one.number for one in survivors([cold, warm, Segment(2, Theme("c"), visits=1)], Heat(), 9.0)]
    [2, 0, 1]
    """
    return sorted(segments, key=lambda one: (-one.visits, -heat.of(one, day), -one.number))


def fold(keywords: Iterable[str]) -> frozenset[str]:
    """Keywords as they are compared."""
    return frozenset(word.casefold() for word in keywords)


def keyword_overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """S_kw = (shared / |first| + shared / |second|) / 2; 0 where either has none.

    >>> keyword_overlap(fold(["Lake", "tent"]), fold(["lake", "boat", "fish", "swim"]))
    0.375
    """
    shared = len(first & second)
    return (shared / len(first) + shared / len(second)) / 2 if shared else 0.0


@dataclass(frozen=True, slots=True)
class MidTerm:
    """How pages are filed: F = cosine of summaries + `keyword_weight` * S_kw must reach `similarity`.

    `capacity` is the most segments; a segment is analysed when it is the hottest and has `hot` or more.
    """

    similarity: float
    keyword_weight: float
    heat: Heat
    hot: float
    capacity: int

    def file(self, themes: Sequence[Sequence[Theme]], vectors: NDArray[np.float32], days: Sequence[float]) -> "Filed":
        """Every page of a history filed under each of its themes, in order.

        `vectors` are the unit vectors of all summaries in order, shape (themes, dimensions); `days` the pages'.
        """
        filed = Filed(self, vectors)
        row = 0
        for page, (own, day) in enumerate(zip(themes, days, strict=True)):
            for theme in own:
                filed.insert(page, theme, row, day)
                row += 1
            filed.analyse_hottest(day)
        return filed


class Filed:
    """Segments while a history is filed, and the groups of pages that were to be analysed, in order."""

    def __init__(self, rules: MidTerm, vectors: NDArray[np.float32]) -> None:
        self.segments: list[Segment] = []
        self.analyses: list[list[int]] = []
        self.evicted = 0
        self._rules = rules
        self._vectors = vectors
        self._rows: list[int] = []  # of the summaries of `segments`
        self._keywords: list[frozenset[str]] = []
        self._made = 0
        self._analysed: set[int] = set()

    def insert(self, page: int, theme: Theme, row: int, day: float) -> None:
        """Give the page to the best segment if F is high enough (ties to the older), else to a new one."""
        segment = self._best(fold(theme.keywords), row) or self._make(theme, row)
        if page not in segment.pages[-1:]:
            segment.pages.append(page)
        segment.length += 1
        segment.day = day
        segment.heat = self._rules.heat.of(segment, day)
        if len(self.segments) > self._rules.capacity:
            self._evict(segment, day)

    def _best(self, keywords: frozenset[str], row: int) -> Segment | None:
        if not self.segments:
            return None
        scores = (self._vectors[self._rows] @ self._vectors[row]).astype(np.float64)
        if keywords:
            overlaps = [keyword_overlap(own, keywords) for own in self._keywords]
            scores += self._rules.keyword_weight * np.array(overlaps)
        at = int(np.argmax(np.round(scores, 6)))
        return self.segments[at] if round(float(scores[at]), 6) >= self._rules.similarity else None

    def _make(self, theme: Theme, row: int) -> Segment:
        segment = Segment(self._made, theme)
        self._made += 1
        self.segments.append(segment)
        self._rows.append(row)
        self._keywords.append(fold(theme.keywords))
        return segment

    def _evict(self, newest: Segment, day: float) -> None:
        """Drop the segment that goes first of all but the one just made."""
        last = survivors((one for one in self.segments if one is not newest), self._rules.heat, day)[-1]
        at = next(at for at, one in enumerate(self.segments) if one is last)
        del self.segments[at], self._rows[at], self._keywords[at]
        self.evicted += 1

    def analyse_hottest(self, day: float) -> None:
        """If the hottest segment (the oldest of equals) is hot enough, note its pages not analysed yet and cool it."""
        hottest = max(self.segments, key=lambda one: one.heat, default=None)
        if hottest is None or hottest.heat < self._rules.hot:
            return
        pages = [page for page in hottest.pages if page not in self._analysed]
        if pages:
            self.analyses.append(pages)
            self._analysed.update(pages)
        hottest.visits, hottest.length, hottest.day, hottest.heat = 0, 0, day, 0.0
