"""find_evidence without a language model: the fewest turns that cover the answer, best by likeness to the question.

A turn is worth its likeness to the question (cosine, BM25, who speaks) plus the share of the answer's parts that
it states: dates as days, numbers by value, names and other words by stem, rare ones first. Turns are added while
they state something new; equals are taken in history order. A question that compares two things or events has
the closest turn to either. An answer that is worked out (a count, a sum, a time between events) stands in no
turn: there larger sets are tried until `answer_questions` yields the answer. A told answer is not checked so: of
equal turns the check would choose those that suit one reader, and flatter it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from memgauge.solvers.extractive.answer import answer_questions
from memgauge.solvers.extractive.answer import parts_of as parts_of
from memgauge.solvers.extractive.context import dates_of
from memgauge.solvers.extractive.kinds import Expected, understand
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.ranking import Scores, TermIndex, Vectors, Weights, best_positions
from memgauge.tasks.answer_question import AnswerQuestion
from memgauge.tasks.find_evidence import Candidate, FindEvidence
from memgauge.text.dates import DateSpan, find_dates
from memgauge.text.normalise import tokens
from memgauge.text.numbers import find_numbers
from memgauge.text.render import render_date

# Chosen on synthetic train histories.
_COVER = 0.6  # worth of covering the whole answer, beside likeness of about 0 to 1.5
_GAIN = 0.1  # share of the answer that a further turn must newly cover
_NEAR = 0.5  # how far below the best turn's likeness a further turn may stand
_TRIED = 4  # sets of one size from which the answer is tried
_LARGEST = 8  # turns; an answer put together from more is not evidence of any of them
_STATED = 3.0  # weight of a date or a number, against the idf of a word
_SAID = 0.5  # share of a date covered by a turn of that day that names no date
_WORKED_OUT = frozenset({"count", "interval", "money"})  # kinds of answer that no turn may state
_HEDGES = "likely probably possibly presumably maybe perhaps certainly definitely"


@dataclass(frozen=True, slots=True)
class Parts:
    """What an answer states: days, values of numbers, stems of other words."""

    dates: tuple[DateSpan, ...]
    numbers: tuple[float, ...]
    stems: tuple[str, ...]


def find_evidence(tasks: Sequence[FindEvidence], vectors: Vectors, weights: Weights) -> list[tuple[int, ...]]:
    """For each task positions of its turns in order; none where no turn shares a word with question or answer."""
    sides = [side for task in tasks for side in parts_of(understand(task.question))]
    vectors.prepare([*sides, *(text for task in tasks for text in (task.question, *map(_line, task.turns)))])
    proposals = [list(_proposals(task, vectors, weights)) for task in tasks]
    return _recoverable(tasks, proposals, vectors, weights)


def _recoverable(
    tasks: Sequence[FindEvidence], proposals: Sequence[list[tuple[int, ...]]], vectors: Vectors, weights: Weights
) -> list[tuple[int, ...]]:
    """Each task's first proposal that yields its answer, else its first one."""
    asked = [
        (at, chosen, AnswerQuestion(task.question, _context(task.turns, chosen), task.question_date))
        for at, (task, sets) in enumerate(zip(tasks, proposals, strict=True))
        for chosen in sets
        if len(sets) > 1
    ]
    said = answer_questions([question for _, _, question in asked], vectors, weights)
    found = {at: sets[0] if sets else () for at, sets in enumerate(proposals)}
    for (at, chosen, _), answer in reversed(list(zip(asked, said, strict=True))):
        if any(_contains(answer, each) for each in tasks[at].answers):
            found[at] = chosen
    return [found[at] for at in range(len(tasks))]


def _proposals(task: FindEvidence, vectors: Vectors, weights: Weights) -> Iterator[tuple[int, ...]]:
    """The set that covers the answer; for an answer that is worked out also larger ones to try, in order."""
    if not task.turns or not any(answer.strip() for answer in task.answers):
        return
    expected = understand(task.question)
    terms = TermIndex([content_stems(_line(turn)) for turn in task.turns])
    likeness = _likeness(task, expected, terms, vectors, weights)
    covered = max((_coverage(task, answer, expected, terms) for answer in task.answers), key=lambda one: one.sum())
    if not covered.any() and not terms.shared(_topic(expected)).any():
        return
    first = _sides(task, expected, terms, vectors, weights) or _greedy(likeness, covered)
    yield tuple(sorted(first))
    if expected.kind in _WORKED_OUT:
        yield from _grown(first, best_positions(likeness, _TRIED + 1))


def _grown(first: Sequence[int], closest: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Larger sets for an answer that is worked out (a sum, a length of time): one turn more, then the closest ones."""
    for position in closest[:_TRIED]:
        if position not in first:
            yield tuple(sorted({*first, position}))
    for size in range(2, len(closest) + 1):
        if size > len(first):
            yield tuple(sorted(closest[:size]))


def _sides(task: FindEvidence, expected: Expected, terms: TermIndex, vectors: Vectors, weights: Weights) -> list[int]:
    """For a question that compares two things or two events the closest turn to either; else none."""
    sides = parts_of(expected)
    if len(sides) < 2:
        return []
    lines = vectors.matrix([_line(turn) for turn in task.turns])
    cosines = vectors.matrix(sides) @ lines.T
    lexical = np.array([terms.scores(content_stems(side)) for side in sides])
    asks = np.array([turn.text.rstrip().endswith("?") for turn in task.turns])
    scores = cosines + weights.lexical * lexical + weights.question * asks
    return sorted({best_positions(row, 1)[0] for row in scores})


def _greedy(likeness: Scores, covered: Scores) -> list[int]:
    """The best turn, then those that newly cover most, while they do."""
    chosen = best_positions(likeness + np.float32(_COVER) * covered.sum(axis=1), 1)
    held = covered[chosen[0]]
    while len(chosen) < _LARGEST:
        gains = np.maximum(covered, held).sum(axis=1) - held.sum()
        able = (gains >= _GAIN) & (likeness >= likeness.max() - _NEAR)
        if not able.any():
            break
        worth = np.where(able, likeness + np.float32(_COVER) * gains / _GAIN, -np.inf)
        best = best_positions(worth, 1)[0]
        chosen.append(best)
        held = np.maximum(held, covered[best])
    return chosen


def _likeness(task: FindEvidence, expected: Expected, terms: TermIndex, vectors: Vectors, weights: Weights) -> Scores:
    """How close each turn is to the question. Shape (turns,)."""
    cosines = vectors.matrix([_line(turn) for turn in task.turns]) @ vectors.matrix([task.question])[0]
    named = np.array([turn.speaker.lower() in (*expected.names, expected.voice) for turn in task.turns])
    asks = np.array([turn.text.rstrip().endswith("?") for turn in task.turns])
    scores = cosines + weights.lexical * terms.scores(_topic(expected)) + weights.speaker * named
    total: Scores = (scores + weights.question * asks).astype(np.float32)
    return total


def _topic(expected: Expected) -> list[str]:
    return [term for term in expected.terms if term not in expected.names]


def _coverage(task: FindEvidence, answer: str, expected: Expected, terms: TermIndex) -> Scores:
    """Weighted share of the answer that each turn states, part by part. Shape (turns, parts); at least one part."""
    parts = read_parts(answer, expected)
    columns: list[tuple[float, list[float]]] = []
    for span in parts.dates:
        columns.append((_STATED, [_dated(turn, span) for turn in task.turns]))
    for value in parts.numbers:
        columns.append(
            (_STATED, [float(any(value == one.value for one in find_numbers(turn.text))) for turn in task.turns])
        )
    stems = [frozenset(content_stems(_line(turn))) for turn in task.turns]
    for stem in parts.stems:
        columns.append((terms.idf(stem), [float(stem in each) for each in stems]))
    total = sum(weight for weight, _ in columns)
    if not total:
        return np.zeros((len(task.turns), 1), dtype=np.float32)
    return np.array([[weight / total * share for share in shares] for weight, shares in columns], dtype=np.float32).T


def read_parts(answer: str, expected: Expected) -> Parts:
    """The parts of an answer; words that the question has too count only where there is nothing else.

    >>> parts = read_parts("two cats, since 7 May 2023", understand("Which pets has Ann?"))
    >>> [span.label for span in parts.dates], parts.numbers, parts.stems
    (['7 May 2023'], (2.0,), ('cat',))
    """
    dates = find_dates(answer)
    rest = answer
    for span in reversed(dates):
        rest = f"{rest[: span.start]} {rest[span.end :]}"
    numbers = find_numbers(rest)
    for number in reversed(numbers):
        rest = f"{rest[: number.start]} {rest[number.end :]}"
    hedges = content_stems(_HEDGES)
    words = [stem for stem in dict.fromkeys(content_stems(rest)) if stem not in hedges]
    new = [stem for stem in words if stem not in expected.terms]
    stems = new if new or dates or numbers else words
    return Parts(tuple(dates), tuple(dict.fromkeys(number.value for number in numbers)), tuple(stems))


def _dated(turn: Candidate, wanted: DateSpan) -> float:
    """How far a turn states a date: it names a time that meets it, or else it was said then."""
    day = date.fromisoformat(turn.date[:10]) if turn.date else None
    for span in dates_of(turn.text, day):
        if span.first <= wanted.last and wanted.first <= span.last:
            return 1.0
    return _SAID if day is not None and wanted.first <= day <= wanted.last else 0.0


def _line(turn: Candidate) -> str:
    return f"{turn.speaker}: {turn.text}"


def _context(turns: Sequence[Candidate], chosen: Sequence[int]) -> str:
    """The chosen turns as a reader would see them."""
    lines: list[str] = []
    previous: object = object()
    for position in chosen:
        turn = turns[position]
        if turn.date != previous:
            lines.append(render_date(turn.date))
            previous = turn.date
        lines.append(_line(turn))
    return "\n".join(lines)


def _contains(answer: str, gold: str) -> bool:
    """Whether the gold's normalised tokens stand in the answer's, one after the other."""
    wanted = tokens(gold)
    return bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(tokens(answer))} "
