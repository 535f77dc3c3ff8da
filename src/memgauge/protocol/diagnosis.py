"""The diagnosis of one cell: means per condition, the gaps between them, their intervals and the label.

A gap is an operational indicator under one reader, metric and budget, not a cause (paper A, section 3).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from memgauge.errors import NothingScoredError
from memgauge.metrics.scoring import ScoredItem
from memgauge.protocol.labels import Label, exact_mean, label_of, label_shares, labels_by_margin
from memgauge.protocol.outcomes import (
    CHAIN,
    CONDITIONS,
    METRICS,
    REFERENCES,
    Grid,
    OutcomeCount,
    Refusals,
    any_item,
    column,
    complete_chains,
    grid_of,
    is_scorable,
    lacks_evidence,
    missing_by_status,
    outcome_table,
    references_by_type,
    refusals_by_condition,
    refusals_by_type,
    unscorable_by_reason,
    value_of,
)
from memgauge.protocol.sample import Sample, draw_sample
from memgauge.records import PRIMARY
from memgauge.stats.intervals import Estimate, Interval, difference_bounds, mean_bounds

RECALLS = ("turn_recall", "span_recall")


@dataclass(frozen=True, slots=True)
class CellName:
    """The point of the grid that was diagnosed."""

    benchmark: str
    reader: str
    system: str


@dataclass(frozen=True, slots=True)
class Gaps:
    """Means of the chain and its gaps over the questions scored under OE, CSM and RM alike."""

    oe: Estimate
    csm: Estimate
    rm: Estimate
    write: Estimate
    retrieval: Estimate


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One metric's gaps and label.

    `references` holds NM, TFC and OE, each over all questions scored under it (so OE here may differ from
    `gaps.oe`); `bounds` say how far missing outcomes could move each condition's mean and each gap, over all
    scorable questions; those of OE and of the gaps leave out questions without evidence.
    """

    metric: str
    references: dict[str, Estimate]
    gaps: Gaps
    reading: Estimate
    label: Label
    label_shares: dict[Label, float] | None
    label_shares_clustered: dict[Label, float] | None
    labels_by_margin: dict[str, Label]
    bounds: dict[str, Interval]


@dataclass(frozen=True, slots=True)
class Cell:
    """Everything the tables say of one (benchmark, reader, system).

    `scored` questions have a contains match under OE, CSM and RM; `metrics` holds no metric that scored
    nothing; `by_type` is the primary metric; `recall` maps "turn_recall" and "span_recall" to CSM and RM;
    `no_evidence` counts scorable questions that OE cannot score; `refusals_by_type` has the types with
    unanswerable questions; `references_by_type` has mean and number by type, condition and metric.
    """

    name: CellName
    metrics: dict[str, Diagnosis]
    by_type: dict[str, Gaps]
    outcomes: tuple[OutcomeCount, ...]
    oracle_right_retrieved_wrong: Estimate
    recall: dict[str, dict[str, Estimate]]
    refusals: dict[str, Refusals]
    refusals_by_type: dict[str, dict[str, Refusals]]
    context_tokens: dict[str, Estimate]
    questions: int
    scored: int
    groups: int
    abstention: int
    unscorable: dict[str, int]
    missing: dict[str, dict[str, int]]
    warnings: dict[str, int] = field(default_factory=dict)
    no_evidence: int = 0
    references_by_type: dict[str, dict[str, dict[str, tuple[float | None, int]]]] = field(default_factory=dict)


def diagnose_cell(
    name: CellName,
    items: Sequence[ScoredItem],
    draws: int,
    margin: float,
    seed: int,
    warnings: Mapping[str, int] | None = None,
) -> Cell:
    """Diagnose one cell from the items of its five conditions.

    All columns share their resamples, so every difference is paired; the draws depend on the seed alone, so
    cells with the same questions are paired too.
    Raises NothingScoredError when no metric has a question scored under OE, CSM and RM alike.
    """
    grid = grid_of(items)
    metrics = [metric for metric in METRICS if complete_chains(grid, metric).any()]
    if not metrics:
        raise NothingScoredError(_nothing_scored(name, grid))
    types = _types(grid)
    sample = draw_sample(_columns(grid, metrics, types), _groups(grid), draws, seed)
    scorable = {question: row for question, row in grid.items() if is_scorable(row)}
    return Cell(
        name=name,
        metrics={metric: _diagnosis(scorable, sample, metric, margin) for metric in metrics},
        by_type={kind: _gaps(sample, f"type/{kind}") for kind in types},
        outcomes=outcome_table(grid),
        oracle_right_retrieved_wrong=sample.mean("right then wrong"),
        recall={recall: {each: sample.mean(f"{recall}/{each}") for each in CHAIN[1:]} for recall in RECALLS},
        refusals=refusals_by_condition(items),
        refusals_by_type=refusals_by_type(items),
        context_tokens={condition: sample.mean(f"context_tokens/{condition}") for condition in CONDITIONS},
        questions=len(grid),
        scored=int(complete_chains(grid, PRIMARY).sum()),
        groups=len(set(_groups(grid))),
        abstention=sum(any_item(row).abstention for row in grid.values()),
        unscorable=unscorable_by_reason(grid),
        missing=missing_by_status(grid),
        warnings=dict(sorted((warnings or {}).items())),
        no_evidence=sum(map(lacks_evidence, grid.values())),
        references_by_type=references_by_type(items),
    )


def _columns(grid: Grid, metrics: Sequence[str], types: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Every column that needs an interval, by name; NaN where a question has no value."""
    columns: dict[str, NDArray[np.float64]] = {}
    for metric in metrics:
        complete = complete_chains(grid, metric)
        for condition in CHAIN:
            columns[f"{metric}/{condition}"] = np.where(complete, column(grid, condition, metric), np.nan)
        columns |= {f"{metric}/{each} alone": column(grid, each, metric) for each in REFERENCES}
    kinds = np.array([any_item(row).type for row in grid.values()])
    for kind in types:
        for condition in CHAIN:
            columns[f"type/{kind}/{condition}"] = np.where(kinds == kind, columns[f"{PRIMARY}/{condition}"], np.nan)
    oracle, retrieved = columns[f"{PRIMARY}/OE"], columns[f"{PRIMARY}/RM"]
    columns["right then wrong"] = np.where(np.isnan(oracle), np.nan, (oracle == 1) & (retrieved == 0))
    for recall in RECALLS:
        columns |= {f"{recall}/{condition}": column(grid, condition, recall) for condition in CHAIN[1:]}
    columns |= {f"context_tokens/{each}": column(grid, each, "context_tokens") for each in CONDITIONS}
    return columns


def _diagnosis(scorable: Grid, sample: Sample, metric: str, margin: float) -> Diagnosis:
    """One metric's record: `scorable` has the bounds' denominator, the sample the means and intervals."""
    gaps = _gaps(sample, metric)
    oe, csm, rm = (exact_mean(sample.values(f"{metric}/{condition}")) for condition in CHAIN)
    names = [f"{metric}/{condition}" for condition in CHAIN]
    weights = (1.0, -2.0, 1.0)  # write - retrieval = OE - 2 CSM + RM
    return Diagnosis(
        metric=metric,
        references={condition: sample.mean(f"{metric}/{condition} alone") for condition in REFERENCES},
        gaps=gaps,
        reading=sample.complement(f"{metric}/OE", float(1 - oe)),
        label=label_of(oe - csm, csm - rm, margin),
        label_shares=label_shares(*sample.weighted(names, weights, clustered=False), margin),
        label_shares_clustered=label_shares(*sample.weighted(names, weights, clustered=True), margin),
        labels_by_margin=labels_by_margin(oe - csm, csm - rm),
        bounds=_bounds(scorable, metric),
    )


def _gaps(sample: Sample, prefix: str) -> Gaps:
    """Means and gaps; each gap is its exact difference rounded once, so they add up to OE - RM."""
    oe, csm, rm = (f"{prefix}/{condition}" for condition in CHAIN)
    return Gaps(
        oe=sample.mean(oe),
        csm=sample.mean(csm),
        rm=sample.mean(rm),
        write=sample.difference(oe, csm, _exact_gap(sample, oe, csm)),
        retrieval=sample.difference(csm, rm, _exact_gap(sample, csm, rm)),
    )


def _exact_gap(sample: Sample, first: str, second: str) -> float | None:
    above, below = sample.values(first), sample.values(second)
    if not len(above):
        return None
    gap: Fraction = exact_mean(above) - exact_mean(below)
    return float(gap)


def _bounds(scorable: Grid, metric: str) -> dict[str, Interval]:
    """What missing outcomes leave open for each mean and gap, over all scorable questions.

    A question without evidence can have neither an OE score nor a gap: it is not missing from them.
    """
    paired = [row for row in scorable.values() if not lacks_evidence(row)]
    oracle, stored, retrieved = ([value_of(row, each, metric) for row in paired] for each in CHAIN)
    found = {
        each: mean_bounds([value_of(row, each, metric) for row in scorable.values()])
        for each in CONDITIONS
        if each != "OE"
    }
    found["OE"] = mean_bounds(oracle)
    found["write"] = difference_bounds(oracle, stored)
    found["retrieval"] = difference_bounds(stored, retrieved)
    return {name: bounds for name, bounds in found.items() if bounds is not None}


def _types(grid: Grid) -> list[str]:
    return sorted({any_item(row).type for row in grid.values() if is_scorable(row)})


def _groups(grid: Grid) -> list[str]:
    return [any_item(row).group for row in grid.values()]


def _nothing_scored(name: CellName, grid: Grid) -> str:
    scorable = sum(is_scorable(row) for row in grid.values())
    return (
        f"nothing could be scored for system {name.system!r} on {name.benchmark!r} with reader "
        f"{name.reader!r}: of {len(grid)} questions {scorable} have a usable gold, and none was answered "
        f"under OE, CSM and RM alike; no evidence under OE: {sum(map(lacks_evidence, grid.values()))}; "
        f"missing by status: {missing_by_status(grid)}; look at the answers' statuses"
    )
