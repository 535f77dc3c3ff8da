"""segment_batch without a language model: neighbouring turns stay together until the talk turns to something else.

The likeness of a place between two turns is the cosine of the turns before it and after it (two on each side, as
in TextTiling). A cut is made at the least like places first, where likeness is clearly below the batch's mean,
never between a question and its answer, and never so that a segment falls below `LEAST` turns; what is still
longer than `MOST` is cut at its least like place. Deterministic; ties go to the earlier place.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from memgauge.solvers.extractive.lexicon import STOP
from memgauge.solvers.extractive.ranking import Scores, Vectors, Weights
from memgauge.solvers.extractive.reasons import Reasoned, listed
from memgauge.solvers.extractive.summary import find_candidates, unit_vector, weigh_cues
from memgauge.tasks.segment_batch import LONGEST_TOPIC, Segment, SegmentBatch
from memgauge.tasks.summarise_session import SummariseSession
from memgauge.text.sentences import split_sentences, strip_fillers

LEAST, MOST = 2, 15  # turns of a segment (nemori's segmenter)
_BESIDE = 2  # turns on each side of a place that are compared
_DEPTH = 1.5  # standard deviations below the mean likeness at which the talk has turned; on synthetic train histories
_TOPIC_WORDS = 4
_WORD = re.compile(r"[^\W_][\w'’-]*")


def segment_batches(tasks: Sequence[SegmentBatch], vectors: Vectors, weights: Weights) -> list[Reasoned]:
    """Segments of each batch in order; together they hold every turn once."""
    said = [[_core(text) for _, text in task.turns] for task in tasks]
    vectors.prepare([text for texts in said for text in texts])
    return [_segmented(task, texts, vectors) for task, texts in zip(tasks, said, strict=True)]


def topic_of(turns: Sequence[tuple[str, str]]) -> str:
    """The first words of content of the statement that tells most; "small talk" where nothing is stated.

    >>> topic_of([("Ann", "Hi! The weather is fine."), ("Bo", "I moved to Lisbon with my dog.")])
    'moved Lisbon dog'
    """
    stated = find_candidates(SummariseSession(None, tuple(turns), 0))
    best = max(stated, key=lambda one: weigh_cues(one.core, None), default=None)
    told = [] if best is None else [match.group() for match in _WORD.finditer(best.core)]
    terms = [word for word in told if word.casefold() not in STOP]
    return " ".join(terms[:_TOPIC_WORDS])[:LONGEST_TOPIC].strip() or "small talk"


def _core(text: str) -> str:
    return " ".join(strip_fillers(sentence) for sentence in split_sentences(text)) or text


def _segmented(task: SegmentBatch, texts: Sequence[str], vectors: Vectors) -> Reasoned:
    if not task.turns:
        return Reasoned((), "")
    cuts = _cuts(vectors.matrix(texts), [text.rstrip().endswith("?") for _, text in task.turns])
    ends = [*cuts, len(task.turns)]
    segments = tuple(
        Segment(tuple(range(start, end)), topic_of(task.turns[start:end]))
        for start, end in zip([0, *cuts], ends, strict=True)
    )
    if not cuts:
        return Reasoned(segments, "All is about one matter.")
    return Reasoned(segments, f"The matter changes at {listed([str(cut + 1) for cut in cuts], len(cuts))}.")


def _cuts(matrix: Scores, asks: Sequence[bool]) -> list[int]:
    """Positions of the turns that open a segment, the first turn aside."""
    likeness = _likeness(matrix)
    size = len(matrix)
    cuts: list[int] = []
    if size >= 2 * LEAST:
        open_ = [at for at in range(LEAST, size - LEAST + 1) if not asks[at - 1]]
        floor = float(likeness[1:].mean() - _DEPTH * likeness[1:].std())
        for at in sorted(open_, key=lambda at: (float(likeness[at]), at)):
            if likeness[at] < floor and all(abs(at - cut) >= LEAST for cut in cuts):
                cuts.append(at)
    while (long := _longest(cuts, size)) is not None:
        start, end = long
        inside = range(start + LEAST, end - LEAST + 1)
        cuts.append(min(inside, key=lambda at: (asks[at - 1], float(likeness[at]), at)))
    return sorted(cuts)


def _longest(cuts: Sequence[int], size: int) -> tuple[int, int] | None:
    """The first segment of more than the most turns."""
    bounds = [0, *sorted(cuts), size]
    return next((pair for pair in pairwise(bounds) if pair[1] - pair[0] > MOST), None)


def _likeness(matrix: Scores) -> Scores:
    """For each turn how like the turns from it on are to those before it, shape (turns,); 1 for the first."""
    values = np.ones(len(matrix), dtype=np.float32)
    for at in range(1, len(matrix)):
        before = unit_vector(matrix[max(at - _BESIDE, 0) : at].sum(axis=0))
        after = unit_vector(matrix[at : at + _BESIDE].sum(axis=0))
        values[at] = np.round(before @ after, 6)
    return values
