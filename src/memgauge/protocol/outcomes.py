"""What became of each question: its answers by condition, outcome counts, missing ones and refusals."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memgauge.errors import InputError
from memgauge.metrics.scoring import ScoredItem

METRICS = ("contains_match", "contains_match_strict", "token_f1", "locomo_f1")
CONDITIONS = ("NM", "TFC", "OE", "CSM", "RM")
REFERENCES = ("NM", "TFC", "OE")  # shared by all systems
CHAIN = ("OE", "CSM", "RM")

Grid = dict[str, dict[str, ScoredItem]]  # question id -> condition -> item, in order of first appearance


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """How many questions had these contains-match outcomes: "right", "wrong" or "missing"."""

    oe: str
    csm: str
    rm: str
    questions: int


@dataclass(frozen=True, slots=True)
class Refusals:
    """Refusing as a detector of unanswerable questions, over `answers` that came back whole.

    Precision is None when nothing was refused, recall None when nothing was unanswerable.
    """

    answers: int
    unanswerable: int
    refused: int
    precision: float | None
    recall: float | None


def grid_of(items: Iterable[ScoredItem]) -> Grid:
    """Items by question and condition; raises InputError when one answer was scored twice."""
    grid: Grid = {}
    for item in items:
        row = grid.setdefault(item.question_id, {})
        if item.condition in row:
            raise InputError(
                f"question {item.question_id!r} was scored twice under {item.condition}; "
                "keep one answer for each question and condition"
            )
        row[item.condition] = item
    return grid


def any_item(row: Mapping[str, ScoredItem]) -> ScoredItem:
    """One item of a question, for what is the same under every condition (type, group, abstention)."""
    return next(iter(row.values()))


def is_scorable(row: Mapping[str, ScoredItem]) -> bool:
    """Whether the question has a gold that lexical metrics can use."""
    item = any_item(row)
    return not item.abstention and item.unscorable is None


def lacks_evidence(row: Mapping[str, ScoredItem]) -> bool:
    """Whether a scorable question was answered under OE without a score: it names no evidence to show."""
    oracle = row.get("OE")
    return is_scorable(row) and oracle is not None and oracle.status == "ok" and oracle.contains_match is None


def value_of(row: Mapping[str, ScoredItem], condition: str, field: str) -> float | None:
    """One score or recall of one question; None when the answer is absent or missing."""
    item = row.get(condition)
    return None if item is None else cast("float | None", getattr(item, field))


def column(grid: Grid, condition: str, field: str) -> NDArray[np.float64]:
    """A score of every question, NaN where missing; shape (questions,)."""
    values = (value_of(row, condition, field) for row in grid.values())
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def complete_chains(grid: Grid, metric: str) -> NDArray[np.bool_]:
    """Which questions have the metric under OE, CSM and RM alike; shape (questions,)."""
    values = np.array([column(grid, condition, metric) for condition in CHAIN])
    complete: NDArray[np.bool_] = ~np.isnan(values).any(axis=0)
    return complete


def missing_by_status(grid: Grid) -> dict[str, dict[str, int]]:
    """By condition, scorable questions without a whole answer, counted by status ("absent": no item)."""
    missing: dict[str, dict[str, int]] = {}
    for condition in CONDITIONS:
        statuses = Counter(_status(row, condition) for row in grid.values() if is_scorable(row))
        missing[condition] = {status: statuses[status] for status in sorted(statuses) if status != "ok"}
    return missing


def unscorable_by_reason(grid: Grid) -> dict[str, int]:
    """Answerable questions whose gold no lexical metric can use, by reason."""
    rows = [any_item(row) for row in grid.values()]
    reasons = Counter(item.unscorable for item in rows if item.unscorable is not None and not item.abstention)
    return {str(reason): reasons[reason] for reason in sorted(reasons)}


def outcome_table(grid: Grid) -> tuple[OutcomeCount, ...]:
    """Contains match under OE x CSM x RM over scorable questions; empty for averaged (not 0/1) scores."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for row in grid.values():
        if not is_scorable(row):
            continue
        values = [value_of(row, condition, "contains_match") for condition in CHAIN]
        if any(value not in (None, 0.0, 1.0) for value in values):
            return ()
        oe, csm, rm = ("missing" if value is None else "right" if value else "wrong" for value in values)
        counts[oe, csm, rm] += 1
    return tuple(OutcomeCount(*outcome, counts[outcome]) for outcome in sorted(counts))


def refusals(items: Sequence[ScoredItem], condition: str) -> Refusals:
    """Refusal precision and recall of one condition; answers that are not whole count for neither."""
    whole = [item for item in items if item.condition == condition and item.status == "ok"]
    unanswerable = sum(item.abstention for item in whole)
    refused = sum(item.refused for item in whole)
    hits = sum(item.abstention and item.refused for item in whole)
    return Refusals(
        answers=len(whole),
        unanswerable=unanswerable,
        refused=refused,
        precision=hits / refused if refused else None,
        recall=hits / unanswerable if unanswerable else None,
    )


def refusals_by_condition(items: Sequence[ScoredItem]) -> dict[str, Refusals]:
    """Refusal precision and recall of every condition."""
    return {condition: refusals(items, condition) for condition in CONDITIONS}


def refusals_by_type(items: Sequence[ScoredItem]) -> dict[str, dict[str, Refusals]]:
    """The same by question type, for the types that have unanswerable questions, by name."""
    kinds = sorted({item.type for item in items if item.abstention})
    return {kind: refusals_by_condition([item for item in items if item.type == kind]) for kind in kinds}


def references_by_type(items: Sequence[ScoredItem]) -> dict[str, dict[str, dict[str, tuple[float | None, int]]]]:
    """Question type -> NM, TFC or OE -> metric -> mean over the questions scored, and their number."""
    kinds = sorted({item.type for item in items})
    return {
        kind: {
            condition: {metric: _mean_scored(items, kind, condition, metric) for metric in METRICS}
            for condition in REFERENCES
        }
        for kind in kinds
    }


def _mean_scored(items: Sequence[ScoredItem], kind: str, condition: str, metric: str) -> tuple[float | None, int]:
    of_kind = (item for item in items if item.type == kind and item.condition == condition)
    values = [value for item in of_kind if (value := getattr(item, metric)) is not None]
    return (fsum(values) / len(values) if values else None), len(values)


def _status(row: Mapping[str, ScoredItem], condition: str) -> str:
    return row[condition].status if condition in row else "absent"
