"""Gists of pages, and a look-up of the pages a question needs (ReadAgent, arXiv 2402.09727, and its demo notebook).

Keeps one gist per session as a page, in order, each within the session's share of the budget.
Deviations: a page is a session, where the paper lets the model place page breaks; the paper then shows raw pages
in place of the chosen gists, which lie outside any write budget and which a system is not lent at retrieval, so
only stored text is shown (the paper's parallel look-up, strict): a question gets the gists of the chosen pages.
Naming no page, or an unreadable reply, ranks nothing and is counted.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from memgauge.memory.base import Hit, Query, Ranking, Tools, Written
from memgauge.memory.session_notes import Planned, notes_entry, plan_sessions, sound_lines
from memgauge.memory.shared import count_result
from memgauge.memory.summaries import without_blanks
from memgauge.records import Entry, History, Result, Store
from memgauge.tasks.choose_pages import ChoosePages
from memgauge.tasks.summarise_session import SummaryLine
from memgauge.tasks.write_gist import WriteGist


@dataclass(frozen=True, slots=True)
class Readagent:
    """`pages`: the most pages looked up for one question."""

    name: ClassVar[str] = "readagent"
    card: ClassVar[dict[str, str]] = {"pages": "paper: 5 on QuALITY (src: 6 in the demo)"}

    pages: int = 5

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """One entry for every session whose gist succeeded, in history order; all sessions in one call."""
        counts: Counter[str] = Counter()
        planned = plan_sessions(without_blanks(history), budget_tokens, counts)
        results = tools.solver.solve([_task(one) for one in planned]) if planned else []
        entries = [_entry(one, result, counts) for one, result in zip(planned, results, strict=True)]
        kept = [entry for entry in entries if entry.text]
        return Written(
            tuple(replace(entry, id=str(number)) for number, entry in enumerate(kept)), dict(sorted(counts.items()))
        )

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """The pages chosen for each question in the order named, and no others; all questions in one call."""
        if not store.entries or not queries:
            return [Ranking(()) for _ in queries]
        gists = tuple((entry.date, entry.text) for entry in store.entries)
        results = tools.solver.solve([ChoosePages(query.text, gists, self.pages, query.date) for query in queries])
        return [_ranking(result) for result in results]


def _task(planned: Planned) -> WriteGist:
    """What summarising the session would be asked for, asked for as a gist."""
    same = planned.task()
    return WriteGist(same.date, same.turns, same.budget_tokens)


def _entry(planned: Planned, result: Result[str], counts: Counter[str]) -> Entry:
    """The lines of a gist that hold and fit, from all turns of its page; a failed one has no text."""
    count_result(result, counts)
    told = None
    if result.output is not None:
        told = [SummaryLine(line) for line in result.output.splitlines() if line.strip()]
    lines = sound_lines(planned, told, counts)
    entry = notes_entry("", planned, lines or (), counts)
    counts["sessions_without_text"] += lines is not None and not entry.text
    return entry


def _ranking(result: Result[tuple[int, ...]]) -> Ranking:
    counts: Counter[str] = Counter()
    count_result(result, counts, "chooser")
    chosen = result.output or ()
    counts["questions_without_page"] += not chosen
    hits = tuple(Hit(position, 1 / rank) for rank, position in enumerate(chosen, 1))
    return Ranking(hits, dict(sorted((+counts).items())))
