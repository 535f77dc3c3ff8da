"""What MemoryOS puts into the prompt of an answer: of every tier of a store, for one question."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgauge.memory.base import Hit
from memgauge.memory.memoryos_segments import fold, keyword_overlap
from memgauge.memory.memoryos_store import ASSISTANT, CHAIN, PAGE, PROFILE, SEGMENT, SHORT, USER, read_segment
from memgauge.records import Entry

TIERS = (PROFILE, SEGMENT, CHAIN, PAGE, SHORT, USER, ASSISTANT)


def tier(entry: Entry) -> str:
    """The tier an entry's id opens with; one of another making is a page.

    >>> tier(Entry("user-3", "", ())), tier(Entry("x9", "", ()))
    ('user', 'page')
    """
    opening = entry.id.partition("-")[0]
    return opening if opening in TIERS else PAGE


@dataclass(frozen=True, slots=True)
class Folder:
    """A segment as it is searched: the row of its vector, its keywords, the positions of its pages."""

    row: int
    keywords: frozenset[str]
    pages: tuple[int, ...]


class Tiers:
    """The entries of a store by tier, as positions."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.of: dict[str, list[int]] = {name: [] for name in TIERS}
        for at, entry in enumerate(entries):
            self.of[tier(entry)].append(at)
        self._sources = [frozenset(entry.sources) for entry in entries]
        self.texts = [read_segment(entry.text)[0] if tier(entry) == SEGMENT else entry.text for entry in entries]
        folders = [Folder(at, fold(read_segment(entries[at].text)[1]), self._within(at)) for at in self.of[SEGMENT]]
        filed = {page for folder in folders for page in folder.pages}
        alone = [Folder(at, frozenset(), (at,)) for at in self.of[PAGE] if at not in filed]
        self.folders = sorted([*folders, *alone], key=lambda folder: folder.row)

    def _within(self, whole: int) -> tuple[int, ...]:
        """Pages all of whose sources an entry has."""
        return tuple(at for at in self.of[PAGE] if self._sources[at] <= self._sources[whole])

    def chains(self, pages: Sequence[int]) -> list[int]:
        """The chains that hold any of the pages."""
        return [at for at in self.of[CHAIN] if any(self._sources[page] <= self._sources[at] for page in pages)]


@dataclass(frozen=True, slots=True)
class Search:
    """How much is shown, and the least likeness; `segments`, `pages` and `facts` (of each side) count entries."""

    segments: int
    segment_floor: float
    keyword_weight: float
    pages: int
    page_floor: float
    facts: int
    fact_floor: float

    def hits(self, tiers: Tiers, cosines: NDArray[np.float64], keywords: Sequence[str]) -> tuple[Hit, ...]:
        """What a question is shown, the profile first, then by cosine, ties by store position.

        `cosines` are the question's with every entry of the store, shape (entries,).
        """
        pages = self._pages(tiers, cosines, fold(keywords))
        shown = {*tiers.of[SHORT], *pages, *tiers.chains(pages)}
        for side in (USER, ASSISTANT):
            shown.update(_best(tiers.of[side], cosines, self.fact_floor, self.facts))
        scored = [Hit(at, float(cosines[at])) for at in shown] + [Hit(at, 1.0) for at in tiers.of[PROFILE]]
        return tuple(sorted(scored, key=lambda hit: (-hit.score, hit.position)))

    def _pages(self, tiers: Tiers, cosines: NDArray[np.float64], keywords: frozenset[str]) -> list[int]:
        """The likest pages of the segments with the highest F."""
        scored = [
            (round(float(cosines[one.row]) + self.keyword_weight * keyword_overlap(keywords, one.keywords), 6), one)
            for one in tiers.folders
        ]
        open_ = [pair for pair in scored if pair[0] >= self.segment_floor]
        best = sorted(open_, key=lambda pair: (-pair[0], pair[1].row))[: self.segments]
        found = sorted({page for _, folder in best for page in folder.pages})
        return _best(found, cosines, self.page_floor, self.pages)


def _best(positions: Sequence[int], cosines: NDArray[np.float64], floor: float, most: int) -> list[int]:
    """At most so many positions of at least `floor`, the likest first, ties by position."""
    open_ = [at for at in positions if cosines[at] >= floor]
    return sorted(open_, key=lambda at: (-cosines[at], at))[:most]
