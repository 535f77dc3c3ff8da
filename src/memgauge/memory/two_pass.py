"""Session summaries revised once (paper A, "Cost-matched comparison"): two calls a session, no question guessed.

The first pass is that of `summary`; the second shows the writer the session and the notes kept so far and asks
for the same length with vague words replaced by names, dates, numbers. All first passes are one call of the
solver, all second ones another. A failed second pass keeps the first; a failed first pass loses the session;
both are counted. The revision replaces the notes whole, as in the paper, even where it says less.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memgauge.memory.base import Query, Ranking, Tools, Written
from memgauge.memory.session_notes import (
    Planned,
    fitting_lines,
    grounded_lines,
    notes_entry,
    plan_sessions,
    sound_lines,
)
from memgauge.memory.shared import count_result, dense_hits
from memgauge.records import Entry, History, Store
from memgauge.tasks.refine_summary import RefineSummary
from memgauge.tasks.summarise_session import SummaryLine

Notes = tuple[SummaryLine, ...]


@dataclass(frozen=True, slots=True)
class TwoPass:
    """Query-agnostic session summaries, refined; it has no hyperparameters beyond the write budget."""

    name: ClassVar[str] = "two_pass"
    card: ClassVar[dict[str, str]] = {}

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """One entry for every session whose first pass succeeded, in history order."""
        counts: Counter[str] = Counter()
        planned = plan_sessions(history, budget_tokens, counts)
        first = _first_passes(planned, tools, counts)
        entries: list[Entry] = []
        for one, lines in _second_passes(first, tools, counts):
            entry = notes_entry(str(len(entries)), one, lines, counts)
            entries.extend([entry] if entry.text else [])
        return Written(tuple(entries), dict(sorted(counts.items())))

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """All session summaries by similarity to the question."""
        return dense_hits(store, queries, tools.encoder)


def _first_passes(planned: list[Planned], tools: Tools, counts: Counter[str]) -> list[tuple[Planned, Notes]]:
    """The sessions that have notes, with them."""
    results = tools.solver.solve([one.task() for one in planned]) if planned else []
    written = []
    for one, result in zip(planned, results, strict=True):
        count_result(result, counts)
        if lines := sound_lines(one, result.output, counts):
            written.append((one, lines))
    return written


def _second_passes(
    first: list[tuple[Planned, Notes]], tools: Tools, counts: Counter[str]
) -> list[tuple[Planned, Notes]]:
    """The refined notes, or the first ones where the refinement failed or came back without a line that holds."""
    results = tools.solver.solve([_refinement(one, lines) for one, lines in first]) if first else []
    refined = []
    for (one, lines), result in zip(first, results, strict=True):
        count_result(result, counts)
        revised = grounded_lines(one, result.output or (), counts)
        counts["refinements_failed"] += not revised
        refined.append((one, revised or lines))
    return refined


def _refinement(one: Planned, lines: Notes) -> RefineSummary:
    """The notes shown are those that fit: what the store would hold without a second pass."""
    task = one.task()
    return RefineSummary(task.date, task.turns, fitting_lines(one, lines), task.budget_tokens)
