"""choose_child and choose_pages without a language model: notes by likeness to the question, with a margin for several.

A note is as like a question as its likest line (cosine), plus its share of the question's rare words (BM25).
"""

from collections.abc import Sequence

import numpy as np

from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.ranking import Scores, TermIndex, Vectors, Weights, best_positions
from memgauge.tasks.choose_child import ChooseChild, Move
from memgauge.tasks.choose_pages import ChoosePages

_PART_MARGIN = 0.1  # a branch this close to the best one is worth a look too
_PAGE_MARGIN = 0.3  # a page costs one look-up and no walk


def choose_children(tasks: Sequence[ChooseChild], vectors: Vectors, weights: Weights) -> list[Move]:
    """The likest part not yet opened while it is within a margin of the likest of all; else back, else stop.

    At the bottom the walk ends where the note has every content word of the question.
    """
    notes = _Notes(vectors, weights)
    notes.prepare([(task.question, tuple(text for _, text in task.parts)) for task in tasks])
    return [_step(task, notes) for task in tasks]


def _step(task: ChooseChild, notes: "_Notes") -> Move:
    elsewhere: Move = "back" if task.back else "stop"
    if not task.parts:
        known = set(content_stems(task.place[1])) if task.place else set()
        return "stop" if known.issuperset(content_stems(task.question)) else elsewhere
    scores = notes.scores(task.question, tuple(text for _, text in task.parts))
    near = _near(scores, _PART_MARGIN)
    return next((position for position in near if position not in task.seen), elsewhere)


def choose_pages(tasks: Sequence[ChoosePages], vectors: Vectors, weights: Weights) -> list[tuple[int, ...]]:
    """The likest pages within a margin of the best one, best first, at most each task's limit."""
    notes = _Notes(vectors, weights)
    notes.prepare([(task.question, tuple(text for _, text in task.gists)) for task in tasks])
    return [_pages(task, notes) for task in tasks]


def _pages(task: ChoosePages, notes: "_Notes") -> tuple[int, ...]:
    if not task.gists:
        return ()
    scores = notes.scores(task.question, tuple(text for _, text in task.gists))
    return tuple(_near(scores, _PAGE_MARGIN)[: task.limit])


def _near(scores: Scores, margin: float) -> list[int]:
    """Positions within `margin` of the best score, best first, ties by position."""
    return [position for position in best_positions(scores, len(scores)) if scores[position] >= scores.max() - margin]


class _Notes:
    """Groups of notes indexed once each, however many questions are asked of them."""

    def __init__(self, vectors: Vectors, weights: Weights) -> None:
        self._vectors = vectors
        self._weights = weights
        self._groups: dict[tuple[str, ...], tuple[Scores, list[int], TermIndex]] = {}

    def prepare(self, asked: Sequence[tuple[str, tuple[str, ...]]]) -> None:
        groups = list(dict.fromkeys(texts for _, texts in asked if texts))
        lines = [line for texts in groups for text in texts for line in _lines(text)]
        self._vectors.prepare([*(question for question, _ in asked), *lines])
        for texts in groups:
            split = [_lines(text) for text in texts]
            matrix = self._vectors.matrix([line for one in split for line in one])
            starts = np.cumsum([0, *map(len, split[:-1])]).tolist()
            self._groups[texts] = (matrix, starts, TermIndex([content_stems(text) for text in texts]))

    def scores(self, question: str, texts: tuple[str, ...]) -> Scores:
        """One score a note. Shape (notes,)."""
        matrix, starts, terms = self._groups[texts]
        cosines = matrix @ self._vectors.matrix([question])[0]
        lexical = self._weights.lexical * terms.scores(content_stems(question))
        total: Scores = (np.maximum.reduceat(cosines, starts) + lexical).astype(np.float32)
        return total


def _lines(text: str) -> list[str]:
    """Lines to compare one by one, at least one."""
    return [line for line in text.splitlines() if line.strip()] or [text]
