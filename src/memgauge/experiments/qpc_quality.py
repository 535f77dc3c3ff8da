"""F1, cost and QPC of every system with bootstrap intervals; F1 and cost of a question are always drawn together."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memgauge.experiments.qpc import Kind, Label, PricedQuestion, QpcCell, costs_of, priced_questions
from memgauge.metrics.cost import Usd, mean_usd, quality_per_cost
from memgauge.protocol.sample import Sample, draw_sample
from memgauge.stats.intervals import Estimate, mean, percentile_interval

Basis = Literal["cost", "qa"]  # what F1 is divided by: the whole cost of a question, or that of its QA call


@dataclass(frozen=True, slots=True)
class Quality:
    """One system over all its questions, or over those of `question_type`.

    `write` is USD a question for its share of a store that serves `served` of them, `online` and (part of it) `qa`
    USD a question, `cost` the first two together: means over the `questions` asked. Scores are means over those that
    have one; `missing` have no F1. QPC is F1 by cost in 1e-4 USD, `qpc_qa` the same by the cost of the QA call alone,
    `change` the QPC minus that of the base (None for the base, or where another set of questions was asked). Every
    estimate that divides by an unknown cost or by 0 is undefined.
    """

    benchmark: str
    system: str
    kind: Kind
    label: Label
    billed: str
    question_type: str | None
    served: Fraction
    questions: int
    missing: int
    f1: Estimate
    locomo_f1: float | None
    strict: float | None
    generous: float | None
    write: Usd
    online: Usd
    qa: Usd
    cost: Usd
    qpc: Estimate
    qpc_qa: Estimate
    change: Estimate | None


def qualities(
    cells: Sequence[QpcCell],
    draws: int,
    seed: int,
    base: str | None = None,
    question_type: str | None = None,
    served: int | None = None,
) -> tuple[Quality, ...]:
    """One `Quality` a cell, in order, all of one benchmark; with `question_type` over questions of that type only.

    A store's price is spread over `served` questions, or over those that were asked about its history (None).

    Every system's questions are drawn together, by question and clustered by group, so that differences are
    paired. `base` names the system that the others' QPC is compared with. A cell without a question of the type
    is left out.
    """
    priced = [(cell, [row for row in priced_questions(cell, served) if _is_of(row, question_type)]) for cell in cells]
    priced = [(cell, rows) for cell, rows in priced if rows]
    if not priced:
        return ()
    groups = {row.asked.question_id: row.asked.group for _, rows in priced for row in rows}
    columns: dict[str, NDArray[np.float64]] = {}
    for place, (_, rows) in enumerate(priced):
        columns |= _columns(str(place), rows, list(groups))
    sample = draw_sample(columns, list(groups.values()), draws, seed)
    drawn = [_Drawn(str(place), tuple(rows), sample) for place, (_, rows) in enumerate(priced)]
    against = next((each for each, (cell, _) in zip(drawn, priced, strict=True) if cell.system == base), None)
    return tuple(
        _quality(cell, each, against, question_type, served) for each, (cell, _) in zip(drawn, priced, strict=True)
    )


def question_types(cells: Sequence[QpcCell]) -> tuple[str, ...]:
    """The types that any cell has, by name."""
    return tuple(sorted({asked.type for cell in cells for asked in cell.asked}))


def billed_as(cell: QpcCell) -> str:
    """Who did each role that was given a task and how it is billed, on one line."""
    roles = dict.fromkeys(use.role for use in costs_of(cell).uses)
    return "; ".join(f"{role}: {cell.billing[role].text()}" for role in roles) or "no model"


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """One cell's questions and its columns of the sample."""

    prefix: str
    rows: tuple[PricedQuestion, ...]
    sample: Sample

    def scores(self, name: str) -> list[float]:
        """The known values of one score."""
        values = (getattr(row.asked, name) for row in self.rows)
        return [value for value in values if value is not None]

    def usd(self, basis: Basis) -> Usd:
        return mean_usd([getattr(row, basis) for row in self.rows])

    def value(self, basis: Basis) -> float | None:
        return quality_per_cost(mean(self.scores("f1")), self.usd(basis))

    def draws(self, basis: Basis, clustered: bool) -> tuple[NDArray[np.float64], int]:
        """QPC of every draw and the number of units drawn; NaN where a draw has no F1 or no cost."""
        scores, scored, units = self.sample.weighted([f"{self.prefix} f1"], [1.0], clustered)
        costs, asked, _ = self.sample.weighted([f"{self.prefix} {basis}"], [1.0], clustered)
        unit = quality_per_cost(1.0, self.usd(basis))  # the columns' costs are relative to their mean
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = (scores / scored) / (costs / asked) * (np.nan if unit is None else unit)
        return np.where(np.isfinite(drawn), drawn, np.nan), units

    def qpc(self, basis: Basis) -> Estimate:
        """QPC with both intervals."""
        value, scored = self.value(basis), len(self.scores("f1"))
        if value is None:
            return Estimate(None, scored)
        return Estimate(value, scored, *(percentile_interval(*self.draws(basis, each)) for each in (False, True)))

    def minus(self, base: "_Drawn") -> Estimate | None:
        """QPC minus the base's, draw by draw; None where the questions are not the same."""
        if self is base or _ids(self) != _ids(base):
            return None
        ours, theirs, scored = self.value("cost"), base.value("cost"), len(self.scores("f1"))
        if ours is None or theirs is None:
            return Estimate(None, scored)
        intervals = []
        for clustered in (False, True):
            drawn, units = self.draws("cost", clustered)
            intervals.append(percentile_interval(drawn - base.draws("cost", clustered)[0], units))
        return Estimate(ours - theirs, scored, *intervals)


def _quality(
    cell: QpcCell, drawn: _Drawn, base: _Drawn | None, question_type: str | None, served: int | None
) -> Quality:
    return Quality(
        benchmark=cell.benchmark,
        system=cell.system,
        kind=cell.kind,
        label=cell.label,
        billed=billed_as(cell),
        question_type=question_type,
        served=costs_of(cell, served).served,
        questions=len(drawn.rows),
        missing=len(drawn.rows) - len(drawn.scores("f1")),
        f1=drawn.sample.mean(f"{drawn.prefix} f1"),
        locomo_f1=mean(drawn.scores("locomo_f1")),
        strict=mean(drawn.scores("strict")),
        generous=mean(drawn.scores("generous")),
        write=mean_usd([row.share for row in drawn.rows]),
        online=mean_usd([row.online for row in drawn.rows]),
        qa=drawn.usd("qa"),
        cost=drawn.usd("cost"),
        qpc=drawn.qpc("cost"),
        qpc_qa=drawn.qpc("qa"),
        change=None if base is None else drawn.minus(base),
    )


def _columns(prefix: str, rows: Sequence[PricedQuestion], questions: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """F1, cost and QA cost by question, NaN where missing.

    Costs are relative to their mean: in dollars they would drown in the grid on which draws are added up.
    """
    by_id = {row.asked.question_id: row for row in rows}
    known = [by_id.get(question) for question in questions]
    columns = {f"{prefix} f1": _array([None if row is None else row.asked.f1 for row in known])}
    for basis in ("cost", "qa"):
        amounts = [None if row is None else getattr(row, basis) for row in known]
        column = _array([None if amount is None else float(amount) for amount in amounts])
        scale = mean_usd([getattr(row, basis) for row in rows])
        columns[f"{prefix} {basis}"] = column / float(scale) if scale else np.full(len(known), np.nan)
    return columns


def _array(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _is_of(row: PricedQuestion, question_type: str | None) -> bool:
    return question_type is None or row.asked.type == question_type


def _ids(drawn: _Drawn) -> set[str]:
    return {row.asked.question_id for row in drawn.rows}
