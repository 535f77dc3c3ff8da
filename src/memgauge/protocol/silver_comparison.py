"""How far silver evidence is from gold: turn by turn, and in the diagnosis that follows from it.

OE is the only condition that is made of evidence, so the write gap (OE - CSM) moves by exactly the change of OE,
whatever the system; the retrieval gap (CSM - RM) does not move at all.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgauge.errors import InputError, NothingScoredError
from memgauge.metrics.scoring import ScoredItem
from memgauge.protocol.labels import Label, as_fraction, exact_mean, label_of
from memgauge.protocol.outcomes import CHAIN, any_item, column, grid_of
from memgauge.protocol.sample import Sample, draw_sample
from memgauge.protocol.silver import Silver
from memgauge.records import PRIMARY, Question
from memgauge.stats.intervals import Estimate

ALL = "all"
SCORES = ("precision", "recall", "f1", "same")
_DIAGNOSED = ("gold", "silver", "csm", "rm", "error")


@dataclass(frozen=True, slots=True)
class TurnAgreement:
    """Silver against gold turns over the questions of one type that have gold evidence.

    Means over questions: precision over those with a silver turn; recall, F1 and `same` (both sets are equal)
    over all, none found counting 0. `gold_turns` and `silver_turns` are totals.
    """

    type: str
    precision: Estimate
    recall: Estimate
    f1: Estimate
    same: Estimate
    gold_turns: int
    silver_turns: int


@dataclass(frozen=True, slots=True)
class SilverCell:
    """One system's write gap with gold and with silver evidence, over questions scored with both.

    `error` is silver minus gold: of OE and of the write gap alike. `agreement` is the share of bootstrap draws in
    which both diagnoses have one label, `agreement_clustered` the same over groups of histories.
    """

    system: str
    type: str
    oe_gold: Estimate
    oe_silver: Estimate
    error: Estimate
    write_gold: Estimate
    write_silver: Estimate
    retrieval: Estimate
    label_gold: Label
    label_silver: Label
    agreement: float | None
    agreement_clustered: float | None


def turn_agreement(
    questions: Sequence[Question], silver: Mapping[str, Silver], groups: Mapping[str, str], draws: int, seed: int
) -> list[TurnAgreement]:
    """Agreement over all questions with gold evidence, then by type; `groups` are by history id.

    Raises InputError for a question without a silver record, NothingScoredError where no question has gold.
    """
    if absent := [question.id for question in questions if question.id not in silver]:
        raise InputError(f"no silver evidence of question {absent[0]!r}; repeat `find_evidence`")
    asked = [question for question in questions if question.evidence and not question.abstention]
    if not asked:
        raise NothingScoredError("no answerable question has gold evidence to compare silver evidence with")
    scores = np.array([turn_scores(silver[each.id].turns, each.evidence) for each in asked], dtype=np.float64)
    kinds = np.array([question.type for question in asked])
    masks = {ALL: np.ones(len(asked), dtype=np.bool_)} | {kind: kinds == kind for kind in sorted(set(kinds.tolist()))}
    columns = {
        f"{kind}/{name}": np.where(mask, scores[:, place], np.nan)
        for kind, mask in masks.items()
        for place, name in enumerate(SCORES)
    }
    sample = draw_sample(columns, [groups[question.history_id] for question in asked], draws, seed)
    found = []
    for kind, mask in masks.items():
        members = [question for question, is_member in zip(asked, mask, strict=True) if is_member]
        gold = sum(len(set(each.evidence)) for each in members)
        made = sum(len(silver[each.id].turns) for each in members)
        precision, recall, f1, same = (sample.mean(f"{kind}/{name}") for name in SCORES)
        found.append(TurnAgreement(kind, precision, recall, f1, same, gold, made))
    return found


def turn_scores(silver: Sequence[str], gold: Sequence[str]) -> tuple[float, float, float, float]:
    """Precision (NaN without a silver turn), recall, F1, and whether both sets are equal; gold is not empty.

    >>> turn_scores(["a", "b"], ["b", "c", "d"])
    (0.5, 0.3333333333333333, 0.4, 0.0)
    """
    one, other = set(silver), set(gold)
    shared = len(one & other)
    precision = shared / len(one) if one else float("nan")
    return precision, shared / len(other), 2 * shared / (len(one) + len(other)), float(one == other)


def compare_cells(
    system: str, gold: Sequence[ScoredItem], oracle: Sequence[ScoredItem], draws: int, margin: float, seed: int
) -> list[SilverCell]:
    """One system's diagnosis with gold and with silver evidence, over all questions, then by type.

    `gold` holds the items of OE, CSM and RM; `oracle` those of OE from silver turns. Types without a question
    scored in all four ways are left out. Raises NothingScoredError when there is none at all.
    """
    grid, made = grid_of(gold), grid_of(oracle)
    made = {question: made.get(question, {}) for question in grid}
    values = [column(grid, condition, PRIMARY) for condition in CHAIN]
    values.insert(1, column(made, "OE", PRIMARY))
    whole = ~np.isnan(np.array(values)).any(axis=0)
    if not whole.any():
        raise NothingScoredError(f"no question of system {system!r} was scored with gold and with silver evidence")
    values.append(values[1] - values[0])
    rows = [any_item(row) for row in grid.values()]
    kinds = np.array([row.type for row in rows])
    masks = {ALL: whole} | {kind: whole & (kinds == kind) for kind in sorted(set(kinds[whole].tolist()))}
    columns = {
        f"{kind}/{name}": np.where(mask, value, np.nan)
        for kind, mask in masks.items()
        for name, value in zip(_DIAGNOSED, values, strict=True)
    }
    sample = draw_sample(columns, [row.group for row in rows], draws, seed)
    return [_cell(system, kind, sample, margin) for kind in masks]


def labels_agree(cells: Sequence[SilverCell]) -> dict[str, tuple[int, int]]:
    """By type: how many systems have the same label with silver as with gold evidence, of how many."""
    alike = Counter(cell.type for cell in cells if cell.label_gold == cell.label_silver)
    return {kind: (alike[kind], count) for kind, count in Counter(cell.type for cell in cells).items()}


def _cell(system: str, kind: str, sample: Sample, margin: float) -> SilverCell:
    gold, silver, csm, rm, error = (f"{kind}/{name}" for name in _DIAGNOSED)
    means = {name: exact_mean(sample.values(name)) for name in (gold, silver, csm, rm)}
    retrieval = means[csm] - means[rm]
    return SilverCell(
        system=system,
        type=kind,
        oe_gold=sample.mean(gold),
        oe_silver=sample.mean(silver),
        error=sample.mean(error),
        write_gold=sample.difference(gold, csm, float(means[gold] - means[csm])),
        write_silver=sample.difference(silver, csm, float(means[silver] - means[csm])),
        retrieval=sample.difference(csm, rm, float(retrieval)),
        label_gold=label_of(means[gold] - means[csm], retrieval, margin),
        label_silver=label_of(means[silver] - means[csm], retrieval, margin),
        agreement=_agreement(sample, (gold, silver, csm, rm), margin, clustered=False),
        agreement_clustered=_agreement(sample, (gold, silver, csm, rm), margin, clustered=True),
    )


def _agreement(sample: Sample, names: tuple[str, str, str, str], margin: float, clustered: bool) -> float | None:
    """The share of draws whose two labels are the same; None when fewer than two units were resampled."""
    gold, silver, csm, rm = names
    weights = (1.0, -2.0, 1.0)  # write - retrieval = OE - 2 CSM + RM
    first, counts, units = sample.weighted([gold, csm, rm], weights, clustered)
    second, _, _ = sample.weighted([silver, csm, rm], weights, clustered)
    kept = counts > 0
    if units < 2 or not kept.any():
        return None
    same = _sides(first[kept], counts[kept], margin) == _sides(second[kept], counts[kept], margin)
    return float(np.mean(same))


def _sides(leads: NDArray[np.float64], counts: NDArray[np.float64], margin: float) -> NDArray[np.int64]:
    """Each draw's label: 1 write, -1 retrieval, 0 mixed; compared in whole multiples, as `label_shares` does."""
    rule = as_fraction(margin)
    lead, allowed = leads * rule.denominator, counts * rule.numerator
    sides: NDArray[np.int64] = (lead > allowed).astype(np.int64) - (-lead > allowed).astype(np.int64)
    return sides
