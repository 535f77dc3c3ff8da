"""write_episode and merge_episodes without a language model: attributed statements with their days written out."""

from collections.abc import Sequence
from datetime import date

from memgauge.solvers.extractive.context import dates_of
from memgauge.solvers.extractive.gist import merge_speakers
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.probes import day_of, statements, worth
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.solvers.extractive.reasons import Reasoned, listed
from memgauge.solvers.extractive.refine import details_of
from memgauge.solvers.extractive.segments import topic_of
from memgauge.solvers.extractive.summary import Candidate, pick_varied
from memgauge.tasks.merge_episodes import Merge, MergeEpisodes
from memgauge.tasks.summarise_session import SummaryLine
from memgauge.tasks.write_episode import LONGEST_CONTENT, LONGEST_TITLE, Episode, WriteEpisode
from memgauge.text.dates import render_day
from memgauge.text.entities import find_names
from memgauge.text.numbers import find_numbers
from memgauge.text.tokens import count_many, count_tokens, truncate

_ALIKE = 0.8  # share of the shorter statement's stems that makes two statements one
_OVERLAP = 0.5  # share of the shorter note's stems that makes two notes one event
_DETAILS = 2  # names, dates or numbers that both notes of one event have, where the shorter has as many


def write_episodes(tasks: Sequence[WriteEpisode], vectors: Vectors, weights: Weights) -> list[Reasoned]:
    """One note a task: the statements worth most that the budget holds, in order, under their speakers' names."""
    candidates = [statements(task.date, task.turns) for task in tasks]
    vectors.prepare([one.core for group in candidates for one in group])
    return [_told(task, group, vectors) for task, group in zip(tasks, candidates, strict=True)]


def _told(task: WriteEpisode, candidates: Sequence[Candidate], vectors: Vectors) -> Reasoned:
    title = (task.topic.strip() or topic_of(task.turns))[:LONGEST_TITLE]
    budget = task.budget_tokens - count_tokens(f"{title}\n")
    chosen = _chosen(task, candidates, budget, vectors)
    content = merge_speakers([SummaryLine(one.text, (one.turn,)) for one in chosen], task.turns)
    if not chosen:
        content = _opening(task.turns, max(budget, 4))
    day = day_of(task.date)
    speakers = frozenset(speaker.casefold() for speaker, _ in task.turns)
    details = [detail for one in chosen for detail in sorted(details_of(one.core, day, speakers))]
    reason = f"Worth keeping: {listed(details)}." if details else "Little of this lasts."
    return Reasoned(Episode(title, content[:LONGEST_CONTENT].strip(), task.date), reason)


def _chosen(task: WriteEpisode, candidates: Sequence[Candidate], budget: int, vectors: Vectors) -> list[Candidate]:
    if not candidates:
        return []
    matrix = vectors.matrix([one.core for one in candidates])
    costs = count_many([f"{one.text}\n" for one in candidates])
    picked = pick_varied(worth(candidates, task.date, matrix), matrix, costs, budget)
    return [candidates[at] for at in sorted(picked)]


def _opening(turns: Sequence[tuple[str, str]], budget: int) -> str:
    """The start of the longest message: all that is left where nothing is stated, or no statement fits."""
    speaker, text = max(turns, key=lambda turn: len(turn[1]), default=("", ""))
    said = truncate(f"{speaker}: {' '.join(text.split())}", budget).strip()
    return said if any(character.isalnum() for character in said) else "nothing was said"


def merge_episodes(tasks: Sequence[MergeEpisodes], vectors: Vectors, weights: Weights) -> list[Reasoned]:
    """The first candidate that tells of the same event, with the statements of both; else the note stays alone."""
    return [_merged(task) for task in tasks]


def _merged(task: MergeEpisodes) -> Reasoned:
    for position, old in enumerate(task.candidates):
        shared = _details(old.content) & _details(task.episode.content)
        if _same_event(old, task.episode, len(shared)):
            seen = listed(sorted(shared)) or "the same words"
            reason = f"Note {position + 1} tells of the same event: {seen}."
            return Reasoned(Merge(position, _joined(old, task.episode)), reason)
    return Reasoned(Merge(None, None), "No older note tells of the same event.")


def _same_event(old: Episode, new: Episode, shared: int) -> bool:
    one, other = set(content_stems(old.content)), set(content_stems(new.content))
    overlap = len(one & other) / max(min(len(one), len(other)), 1)
    least = min(len(_details(old.content)), len(_details(new.content)), _DETAILS)
    return overlap >= _ALIKE or (overlap >= _OVERLAP and 0 < least <= shared)


def _details(text: str) -> frozenset[str]:
    names = [name.text for name in find_names(text)]
    numbers = [number.text for number in find_numbers(text)]
    return frozenset({*names, *numbers, *(span.label for span in dates_of(text, None))})


def _joined(old: Episode, new: Episode) -> Episode:
    """The older note's title and day, its lines and what the newer one adds; of two days each line bears its own."""
    apart = (old.date or "")[:10] != (new.date or "")[:10]
    lines = [_dated(line, old.date) if apart else line for line in old.content.splitlines()]
    for line in new.content.splitlines():
        if not any(_within(line, held) for held in lines):
            lines.append(_dated(line, new.date) if apart else line)
    dates = [one for one in (old.date, new.date) if one is not None]
    return Episode(old.title, "\n".join(lines)[:LONGEST_CONTENT].strip(), min(dates, default=None))


def _within(line: str, held: str) -> bool:
    said, known = set(content_stems(line)), set(content_stems(held))
    return bool(said) and len(said & known) >= _ALIKE * len(said)


def _dated(line: str, moment: str | None) -> str:
    """The line with its day behind it, unless it names one."""
    if moment is None or dates_of(line, None):
        return line
    return f"{line} ({render_day(date.fromisoformat(moment[:10]))})"
