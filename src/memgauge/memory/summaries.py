"""Sessions summed up in one call, and groups of summaries summed up again in another."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from memgauge.memory.session_notes import Planned, grounded_lines, notes_entry, plan_sessions, sound_lines
from memgauge.memory.shared import count_result, turn_text
from memgauge.records import Entry, History, Session, Turn
from memgauge.tasks.base import Solver


def without_blanks(history: History) -> History:
    """The history without turns that neither say nor show anything."""
    sessions = (
        replace(session, turns=tuple(turn for turn in session.turns if turn_text(turn).strip()))
        for session in history.sessions
    )
    return replace(history, sessions=tuple(sessions))


def summarise_sessions(history: History, budget_tokens: int, solver: Solver, counts: Counter[str]) -> list[Entry]:
    """One entry (without id) for every session whose summary succeeded within its share, all in one call.

    A summary that names turns but none of its session counts as coming from all of them.
    """
    planned = plan_sessions(history, budget_tokens, counts)
    entries: list[Entry] = []
    for one, result in zip(planned, solver.solve([one.task() for one in planned]) if planned else [], strict=True):
        count_result(result, counts)
        lines = sound_lines(one, result.output, counts)
        entry = notes_entry("", one, lines or (), counts)
        counts["sessions_without_text"] += lines is not None and not entry.text
        if entry.text:
            sources = entry.sources or tuple(turn.id for turn in one.session.turns)
            entries.append(replace(entry, sources=sources))
    return entries


@dataclass(frozen=True, slots=True)
class Note:
    """An entry to be summed up with others; `label` names its time where a line names no speaker."""

    label: str
    entry: Entry


def summarise_notes(
    groups: Sequence[Sequence[Note]], tokens: int, speakers: Collection[str], solver: Solver, counts: Counter[str]
) -> list[Entry | None]:
    """One undated entry (without id) of at most `tokens` for every group of notes, all groups in one call.

    It comes from all turns of its notes; None where the summary failed or `tokens` has no room for a word.
    """
    planned = [Planned(at, Session("", None, _said(group, speakers)), tokens) for at, group in enumerate(groups)]
    tasks = [one.task() for one in planned]
    if not tasks or tasks[0].budget_tokens <= 0:
        return [None for _ in groups]
    entries: list[Entry | None] = []
    for one, group, result in zip(planned, groups, solver.solve(tasks), strict=True):
        count_result(result, counts)
        lines = grounded_lines(one, result.output or (), counts)
        text = notes_entry("", one, lines, Counter()).text  # its sources are those of the notes
        counts["notes_failed"] += not text
        sources = dict.fromkeys(source for note in group for source in note.entry.sources)
        entries.append(Entry("", text, tuple(sources)) if text else None)
    return entries


def _said(notes: Sequence[Note], speakers: Collection[str]) -> tuple[Turn, ...]:
    """Each line as said by the speaker it names, else as noted at its note's time."""
    said = []
    for note in notes:
        for line in note.entry.text.splitlines():
            speaker, colon, text = line.partition(": ")
            said.append((speaker, text) if colon and speaker in speakers else (note.label, line))
    return tuple(Turn(str(at), speaker, text) for at, (speaker, text) in enumerate(said))
