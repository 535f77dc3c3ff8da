"""Paper C's whole comparison of passage budgets on one table of scores."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memgauge.errors import InputError, NothingScoredError
from memgauge.experiments.passage_contrasts import (
    Contrast,
    Interaction,
    ability,
    answerability,
    contrast,
    contrasts_by,
    interactions,
    tier_and_answerability,
)
from memgauge.experiments.passage_evidence import Recall, RecallRow, recall_rows
from memgauge.experiments.passage_scores import PassageScore, Table, tabulate
from memgauge.experiments.passage_stability import Stability, stability
from memgauge.experiments.significance import Statistics
from memgauge.stats.intervals import mean


@dataclass(frozen=True, slots=True)
class Curve:
    """One budget over all questions: reader tokens and their share of the reference's, mean score, recall.

    `judge_tokens` are in no share. `mean` is over the budget's own scored questions, in points; contrasts use pairs.
    """

    budget: int
    passages: int
    tokens: int
    judge_tokens: int
    token_share: float | None
    mean: float | None
    scored: int
    missing: int
    recall: float | None


@dataclass(frozen=True, slots=True)
class Study:
    """Everything paper C's C1 reports; `primary` is the planned budget, other contrasts are exploratory.

    `kinds` counts questions by what their score is, `statuses` answers by status, `missing_marks` rubric marks
    that the judge did not give, `estimated` answers whose reader reported no usage.
    """

    primary: int
    reference: int
    as_released: bool
    questions: int
    groups: int
    kinds: Mapping[str, int]
    statuses: Mapping[str, int]
    missing_marks: int
    estimated: int
    curves: tuple[Curve, ...]
    contrasts: tuple[Contrast, ...]
    subgroups: tuple[Contrast, ...]
    abilities: tuple[Contrast, ...]
    interactions: tuple[Interaction, ...]
    stability: Stability
    recall: tuple[RecallRow, ...]


def study(
    scores: Sequence[PassageScore], primary: int, reference: int, statistics: Statistics, as_released: bool = False
) -> Study:
    """Compare every budget with the reference; raises InputError when either named budget was not run.

    Raises NothingScoredError when no question has a score at both.
    """
    table = tabulate(scores, as_released)
    for name, budget in (("primary", primary), ("reference", reference)):
        if budget not in table.points:
            raise InputError(f"passages.{name} is {budget}, which is not among the budgets that were run; add it there")
    if primary == reference:
        raise InputError(f"passages.primary and passages.reference are both {reference}; compare two budgets")
    if all(change is None for change in table.changes(primary, reference)):
        raise NothingScoredError(f"no question has a score at both {primary} and {reference} passages")
    others = [budget for budget in table.budgets if budget != reference]
    abilities = [each for b in others for each in contrasts_by(table, ability, b, reference, statistics)]
    sides = contrasts_by(table, answerability, primary, reference, statistics)
    tiers = contrasts_by(table, tier_and_answerability, primary, reference, statistics)
    return Study(
        primary=primary,
        reference=reference,
        as_released=as_released,
        questions=len(table.questions),
        groups=len({question.group for question in table.questions}),
        kinds=dict(sorted(Counter(each.kind for each in scores if each.budget == reference).items())),
        statuses=dict(sorted(Counter(str(each.status) for each in scores).items())),
        missing_marks=sum(mark is None for each in scores for mark in each.marks),
        estimated=sum(each.estimated for each in scores),
        curves=tuple(_curve(table, scores, budget, reference) for budget in table.budgets),
        contrasts=tuple(contrast(table, budget, reference, statistics) for budget in others),
        subgroups=sides + tiers if len({question.tier for question in table.questions}) > 1 else sides,
        abilities=tuple(abilities),
        interactions=interactions(table, primary, reference, statistics),
        stability=stability(table, primary, reference),
        recall=recall_rows(recalls_of(table)),
    )


def recalls_of(table: Table) -> list[Recall]:
    """Each question's recall by budget."""
    return [
        Recall(
            question.id,
            question.tier,
            question.ability,
            question.abstention,
            {budget: table.recall[budget][place] for budget in table.budgets},
        )
        for place, question in enumerate(table.questions)
    ]


def _curve(table: Table, scores: Sequence[PassageScore], budget: int, reference: int) -> Curve:
    points = [value for value in table.points[budget] if value is not None]
    recall = [
        value
        for question, value in zip(table.questions, table.recall[budget], strict=True)
        if value is not None and not question.abstention
    ]
    whole = table.tokens(reference)
    return Curve(
        budget=budget,
        passages=sum(each.passages for each in scores if each.budget == budget),
        tokens=table.tokens(budget),
        judge_tokens=sum(each.judge_tokens for each in scores if each.budget == budget),
        token_share=table.tokens(budget) / whole if whole else None,
        mean=mean(points),
        scored=len(points),
        missing=len(table.questions) - len(points),
        recall=mean(recall),
    )
