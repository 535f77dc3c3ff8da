"""The raw history in short passages, oldest evicted first (paper A, section 4: no writer at all).

Keeps the newest passages of `passage_tokens` tokens that fit the budget. Deviations from the paper's plain
windows: a passage never crosses a session, so that one date applies to all of it, and holds whole turns; only
a turn longer than a passage is cut, after a sentence where possible.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memgauge.memory.base import Query, Ranking, Tools, Written
from memgauge.memory.passages import history_passages, newest_within
from memgauge.memory.shared import dense_hits
from memgauge.records import History, Store


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Passages of whole turns. `passage_tokens`: the most tokens of a passage's text (paper A: 200)."""

    name: ClassVar[str] = "verbatim"
    card: ClassVar[dict[str, str]] = {"passage_tokens": "paper A, section 4: 200"}

    passage_tokens: int = 200

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """The newest passages within the budget, oldest first."""
        entries = history_passages(history, self.passage_tokens)
        kept = newest_within(entries, budget_tokens)
        return Written(tuple(entries[kept:]), {"passages_evicted": kept})

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """All passages by similarity to the question."""
        return dense_hits(store, queries, tools.encoder)
