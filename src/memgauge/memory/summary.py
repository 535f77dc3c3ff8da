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
from memgauge.memory.shared import count_result, dense_hits, session_shares, turn_text
from memgauge.records import Entry, History, Session, Store
from memgauge.tasks.summarise_session import SummariseSession, SummaryLine
from memgauge.text.render import entry_tokens, render_date, render_turn
from memgauge.text.tokens import count_many, count_tokens, truncate


@dataclass(frozen=True, slots=True)
class Summary:
    """Query-agnostic session summaries; it has no hyperparameters beyond the write budget."""

    name: ClassVar[str] = "summary"

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """One entry for every session whose summary succeeded, in history order; all sessions in one call."""
        counts: Counter[str] = Counter()
        planned = _plan(history, budget_tokens, counts)
        tasks = [_task(session, share) for session, share in planned]
        results = tools.solver.solve(tasks) if tasks else []
        entries: list[Entry] = []
        for (session, share), result in zip(planned, results, strict=True):
            count_result(result, counts)
            counts["sessions_failed"] += result.output is None
            if result.output is not None:
                entry = _entry(str(len(entries)), session, result.output, share, counts)
                entries.extend([entry] if entry.text else [])
        return Written(tuple(entries), dict(sorted(counts.items())))

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """All session summaries by similarity to the question."""
        return dense_hits(store, queries, tools.encoder)


def _plan(history: History, budget_tokens: int, counts: Counter[str]) -> list[tuple[Session, int]]:
    """Sessions to summarise with their shares; a share too small for a heading and a word is counted."""
    sessions = [session for session in history.sessions if session.turns]
    lengths = count_many(["\n".join(map(render_turn, session.turns)) for session in sessions])
    planned = []
    for session, share in zip(sessions, session_shares(lengths, budget_tokens), strict=True):
        if share > _heading_tokens(session):
            planned.append((session, share))
        else:
            counts["sessions_without_share"] += 1
    return planned


def _heading_tokens(session: Session) -> int:
    return count_tokens(f"{render_date(session.date)}\n\n")


def _task(session: Session, share: int) -> SummariseSession:
    turns = tuple((turn.speaker, turn_text(turn)) for turn in session.turns)
    return SummariseSession(session.date, turns, share - _heading_tokens(session))


def _entry(name: str, session: Session, lines: Sequence[SummaryLine], share: int, counts: Counter[str]) -> Entry:
    """The longest prefix of the summary's lines that fits the share; a first line that is too long is cut."""
    texts = [line.text.strip() for line in lines]
    fitting = 0
    while fitting < len(texts) and _cost(texts[: fitting + 1], session) <= share:
        fitting += 1
    counts["lines_dropped"] += len(texts) - fitting
    text = "\n".join(texts[:fitting])
    if texts and not fitting:
        text = _cut(texts[0], session, share)
        counts["lines_cut"] += 1
    return Entry(name, text, _sources(session, lines[: max(fitting, 1)], counts), session.date)


def _cost(texts: Sequence[str], session: Session) -> int:
    return entry_tokens(Entry("", "\n".join(texts), (), session.date))


def _cut(text: str, session: Session, share: int) -> str:
    """The longest start of a line that fits, found from above since its heading costs too."""
    limit = share
    while limit > 0 and _cost([truncate(text, limit)], session) > share:
        limit -= 1
    return truncate(text, limit).rstrip()


def _sources(session: Session, lines: Sequence[SummaryLine], counts: Counter[str]) -> tuple[str, ...]:
    """Ids of the turns that the lines came from, in order; positions that name no turn are counted."""
    positions: set[int] = set()
    for line in lines:
        valid = {position for position in line.turns if 0 <= position < len(session.turns)}
        counts["sources_out_of_range"] += len(set(line.turns) - valid)
        positions |= valid if line.turns else set(range(len(session.turns)))
    return tuple(session.turns[position].id for position in sorted(positions))
