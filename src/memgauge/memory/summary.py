"""One summary per session, written without knowing any question (paper A, section 4).

Keeps one entry per session, as the paper does: the writer's facts, one a line, in the writer's order, as many
as fit the session's share of the budget. Shares go by the square root of the session's length. A fact whose
source turns the writer did not name counts as coming from all turns of its session.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memgauge.memory.base import Query, Ranking, Tools, Written
from memgauge.memory.session_notes import notes_entry, plan_sessions, sound_lines
from memgauge.memory.shared import count_result, dense_hits
from memgauge.records import Entry, History, Store


@dataclass(frozen=True, slots=True)
class Summary:
    """Query-agnostic session summaries; it has no hyperparameters beyond the write budget."""

    name: ClassVar[str] = "summary"
    card: ClassVar[dict[str, str]] = {}

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """One entry for every session whose summary succeeded, in history order; all sessions in one call."""
        counts: Counter[str] = Counter()
        planned = plan_sessions(history, budget_tokens, counts)
        results = tools.solver.solve([one.task() for one in planned]) if planned else []
        entries: list[Entry] = []
        for one, result in zip(planned, results, strict=True):
            count_result(result, counts)
            lines = sound_lines(one, result.output, counts)
            if lines is not None:
                entry = notes_entry(str(len(entries)), one, lines, counts)
                entries.extend([entry] if entry.text else [])
        return Written(tuple(entries), dict(sorted(counts.items())))

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """All session summaries by similarity to the question."""
        return dense_hits(store, queries, tools.encoder)
