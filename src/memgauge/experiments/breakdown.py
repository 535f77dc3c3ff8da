"""Where one system's store serves better than another's: by question type and by probe-question alignment."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from memgauge.experiments.significance import Statistics
from memgauge.memory.base import Encoder
from memgauge.metrics.scoring import ScoredItem
from memgauge.protocol.outcomes import Grid, any_item, column, grid_of
from memgauge.protocol.questions import by_history
from memgauge.protocol.sample import draw_sample
from memgauge.records import PRIMARY, Benchmark, Store
from memgauge.retrieval.dense import unit_rows
from memgauge.stats.intervals import Estimate

SINGLE_SESSION = "single-session"  # the paper reports LongMemEval's three single-session types as one
EVERYTHING, ALIGNED, APART = "all questions", "probe questions aligned", "probe questions not aligned"
_DECIMALS = 6  # cosines closer than this are ties


@dataclass(frozen=True, slots=True)
class Part:
    """CSM of `first` minus `second` over the questions of one part of the benchmark; p is one-sided."""

    name: str
    first: Estimate
    second: Estimate
    difference: Estimate
    p: float | None
    p_clustered: float | None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The parts in order: everything, question types by name, all single-session types together,
    then the two halves by alignment.

    `median_alignment` is None, and the halves are absent, when no question has an alignment.
    """

    benchmark: str
    reader: str
    first: str
    second: str
    parts: tuple[Part, ...]
    median_alignment: float | None
    without_alignment: int


def alignments(benchmark: Benchmark, stores: Mapping[str, Store], encoder: Encoder) -> dict[str, float]:
    """Each question's largest cosine to the probe questions its history was read with (paper A, "Probe Alignment").

    All guessed questions count, also those whose evidence was not kept. A question of a history without any has no
    alignment.
    """
    found: dict[str, float] = {}
    for history_id, questions in by_history(benchmark.questions).items():
        probes = stores[history_id].probes
        if probes:
            asked = unit_rows(encoder.encode([question.text for question in questions]))
            cosines = np.round(asked @ unit_rows(encoder.encode(probes)).T, _DECIMALS) + 0.0
            found |= {question.id: float(row.max()) for question, row in zip(questions, cosines, strict=True)}
    return found


def break_down(
    benchmark: str,
    reader: str,
    first: tuple[str, Sequence[ScoredItem]],
    second: tuple[str, Sequence[ScoredItem]],
    alignment: Mapping[str, float],
    statistics: Statistics,
) -> Breakdown:
    """Compare two systems' CSM by contains match, paired by question, over the questions both answered.

    The halves are split at the median alignment of those questions; at the median counts as aligned.
    """
    grids = [grid_of(items) for _, items in (first, second)]
    questions = [question for question in grids[0] if question in grids[1]]
    rows: list[Grid] = [{question: grid[question] for question in questions} for grid in grids]
    above, below = (column(grid, "CSM", PRIMARY) for grid in rows)
    both = ~np.isnan(above) & ~np.isnan(below)
    aligned = [
        alignment[question]
        for question, scored in zip(questions, both, strict=True)
        if scored and question in alignment
    ]
    middle = median(aligned) if aligned else None
    columns: dict[str, NDArray[np.float64]] = {}
    masks = dict(_masks(rows[0], both, alignment, middle))
    for name, mask in masks.items():
        for side, values in (("first", above), ("second", below), ("difference", above - below)):
            columns[f"{side}/{name}"] = np.where(mask & both, values, np.nan)
    groups = [any_item(row).group for row in rows[0].values()]
    sample = draw_sample(columns, groups, statistics.draws, statistics.seed)
    parts = []
    for name in masks:
        one, other, difference = (sample.mean(f"{side}/{name}") for side in ("first", "second", "difference"))
        parts.append(Part(name, one, other, difference, *sample.p_values(f"difference/{name}")))
    return Breakdown(benchmark, reader, first[0], second[0], tuple(parts), middle, int(both.sum()) - len(aligned))


def _masks(
    rows: Grid, both: NDArray[np.bool_], alignment: Mapping[str, float], middle: float | None
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Name and members of every part that has a question scored for both systems."""
    kinds = np.array([any_item(row).type for row in rows.values()])
    yield EVERYTHING, both
    for kind in sorted(set(kinds[both].tolist())):
        yield kind, kinds == kind
    single = np.array([kind.startswith(f"{SINGLE_SESSION}-") for kind in kinds.tolist()], dtype=bool)
    if (single & both).any():
        yield SINGLE_SESSION, single
    if middle is not None:
        values = np.array([alignment.get(question, np.nan) for question in rows])
        yield ALIGNED, values >= middle
        yield APART, values < middle
