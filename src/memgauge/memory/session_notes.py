"""Notes on a session as one entry: which sessions are written, within which share, which lines hold and what fits.

What the summarising systems have in common. Knows tasks' lines and asks no solver.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memgauge.memory.grounding import ground_of
from memgauge.memory.shared import session_shares, turn_text
from memgauge.records import Entry, History, Session
from memgauge.tasks.summarise_session import SummariseSession, SummaryLine
from memgauge.text.render import entry_tokens, render_date, render_turn
from memgauge.text.tokens import count_many, count_tokens, truncate


@dataclass(frozen=True, slots=True)
class Planned:
    """One session to be written within `share` tokens, heading included; `position` is its place in the history."""

    position: int
    session: Session
    share: int

    def task(self) -> SummariseSession:
        """Its first writing, with what the share leaves beside the heading."""
        return SummariseSession(self.session.date, spoken(self.session), self.share - _heading_tokens(self.session))


def spoken(session: Session) -> tuple[tuple[str, str], ...]:
    """(speaker, text) of each turn, as tasks take them."""
    return tuple((turn.speaker, turn_text(turn)) for turn in session.turns)


def plan_sessions(history: History, budget_tokens: int, counts: Counter[str]) -> list[Planned]:
    """Sessions with turns and their shares; a share too small for a heading and a word is counted."""
    sessions = [(position, session) for position, session in enumerate(history.sessions) if session.turns]
    lengths = count_many(["\n".join(map(render_turn, session.turns)) for _, session in sessions])
    planned = []
    for (position, session), share in zip(sessions, session_shares(lengths, budget_tokens), strict=True):
        if share > _heading_tokens(session):
            planned.append(Planned(position, session, share))
        else:
            counts["sessions_without_share"] += 1
    return planned


def sound_lines(
    planned: Planned, lines: Sequence[SummaryLine] | None, counts: Counter[str]
) -> tuple[SummaryLine, ...] | None:
    """The lines of a writer's reply that come from its session (`grounding`); the others are dropped and counted.

    None, a failed session, when there was no reply to read or all its lines were dropped.
    """
    kept = grounded_lines(planned, lines or (), counts)
    failed = lines is None or (len(lines) > 0 and not kept)
    counts["sessions_failed"] += failed
    return None if failed else kept


def grounded_lines(planned: Planned, lines: Sequence[SummaryLine], counts: Counter[str]) -> tuple[SummaryLine, ...]:
    """The lines that come from the session."""
    ground = ground_of(spoken(planned.session))
    kept = tuple(line for line in lines if ground.holds(line.text))
    counts["lines_ungrounded"] += len(lines) - len(kept)
    return kept


def fitting_lines(planned: Planned, lines: Sequence[SummaryLine]) -> tuple[SummaryLine, ...]:
    """The longest start of the lines that fits the share; a first line that is too long is cut to fit."""
    texts = [line.text.strip() for line in lines]
    fitting = 0
    while fitting < len(texts) and _cost(texts[: fitting + 1], planned.session) <= planned.share:
        fitting += 1
    if texts and not fitting:
        return (SummaryLine(_cut(texts[0], planned), lines[0].turns),)
    return tuple(SummaryLine(text, line.turns) for text, line in zip(texts[:fitting], lines, strict=False))


def notes_entry(name: str, planned: Planned, lines: Sequence[SummaryLine], counts: Counter[str]) -> Entry:
    """The entry of one session's notes, its text perhaps empty; what was dropped, cut or misnamed is counted."""
    kept = fitting_lines(planned, lines)
    counts["lines_dropped"] += len(lines) - len(kept)
    counts["lines_cut"] += bool(kept) and kept[0].text != lines[0].text.strip()
    text = "\n".join(line.text for line in kept)
    return Entry(name, text, _sources(planned.session, kept, counts), planned.session.date)


def _heading_tokens(session: Session) -> int:
    return count_tokens(f"{render_date(session.date)}\n\n")


def _cost(texts: Sequence[str], session: Session) -> int:
    return entry_tokens(Entry("", "\n".join(texts), (), session.date))


def _cut(text: str, planned: Planned) -> str:
    """The longest start of a line that fits, found from above since its heading costs too."""
    limit = planned.share
    while limit > 0 and _cost([truncate(text, limit)], planned.session) > planned.share:
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
