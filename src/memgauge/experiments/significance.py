"""What a change of a system does to each gap, paired by question, with plain and clustered intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memgauge.errors import NothingScoredError
from memgauge.metrics.scoring import ScoredItem
from memgauge.protocol.diagnosis import Cell, CellName, diagnose_cell
from memgauge.protocol.outcomes import CHAIN, any_item, column, complete_chains, grid_of
from memgauge.protocol.sample import draw_sample
from memgauge.records import PRIMARY
from memgauge.stats.intervals import Estimate


@dataclass(frozen=True, slots=True)
class Change:
    """An arm minus its base, over the questions both were scored on under OE, CSM and RM.

    `csm` and `rm` are changes of means, `write` and `retrieval` of gaps; `p` is the one-sided share of draws in
    which the change of CSM is not positive, `p_clustered` the same over groups of histories.
    """

    csm: Estimate
    rm: Estimate
    write: Estimate
    retrieval: Estimate
    p: float | None
    p_clustered: float | None


@dataclass(frozen=True, slots=True)
class Arm:
    """One setting of an experiment: its diagnosis, and its change against the base (None for the base)."""

    name: str
    cell: Cell
    change: Change | None


@dataclass(frozen=True, slots=True)
class Experiment:
    """The arms of one experiment under one reader, the base first; `unscored` names arms without any score."""

    benchmark: str
    reader: str
    base: str
    arms: tuple[Arm, ...]
    unscored: dict[str, str]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Bootstrap draws, the margin of the diagnosis rule, and the seed of the draws."""

    draws: int
    margin: float
    seed: int


def experiment(
    benchmark: str, reader: str, items_by_arm: Mapping[str, Sequence[ScoredItem]], base: str, statistics: Statistics
) -> Experiment:
    """Diagnose every arm and compare it with `base`, whose items must be among them.

    Items hold the shared conditions too. Raises NothingScoredError when the base has no score.
    """
    order = [base, *(name for name in items_by_arm if name != base)]
    arms: list[Arm] = []
    unscored: dict[str, str] = {}
    for name in order:
        cell_name = CellName(benchmark, reader, name)
        try:
            cell = diagnose_cell(cell_name, items_by_arm[name], statistics.draws, statistics.margin, statistics.seed)
        except NothingScoredError as error:
            if name == base:
                raise
            unscored[name] = str(error)
            continue
        change = None if name == base else gap_change(items_by_arm[base], items_by_arm[name], statistics)
        arms.append(Arm(name, cell, change))
    return Experiment(benchmark, reader, base, tuple(arms), unscored)


def gap_change(
    base: Sequence[ScoredItem], items: Sequence[ScoredItem], statistics: Statistics, metric: str = PRIMARY
) -> Change:
    """Paired change of CSM, RM and both gaps from `base` to `items`; OE is theirs in common.

    The change of the write gap is -change of CSM, that of the retrieval gap change of CSM - change of RM.
    """
    grids = [grid_of(base), grid_of(items)]
    questions = dict.fromkeys([*grids[0], *grids[1]])
    rows = [{question: grid.get(question, {}) for question in questions} for grid in grids]
    complete = complete_chains(rows[0], metric) & complete_chains(rows[1], metric)
    csm, rm = (
        np.where(complete, column(rows[1], each, metric) - column(rows[0], each, metric), np.nan) for each in CHAIN[1:]
    )
    groups = [any_item(grids[0].get(question) or grids[1][question]).group for question in questions]
    columns = {"csm": csm, "rm": rm, "write": 0.0 - csm, "retrieval": csm - rm}
    sample = draw_sample(columns, groups, statistics.draws, statistics.seed)
    csm_mean, rm_mean, write, retrieval = (sample.mean(name) for name in columns)
    return Change(csm_mean, rm_mean, write, retrieval, *sample.p_values("csm"))
