"""Passage budgets as JSON: every number of a study or of a cohort's facts, unrounded, None where undefined."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from memgauge.experiments.budget_advisor import Advice
from memgauge.experiments.passage_contrasts import Contrast
from memgauge.experiments.passage_evidence import RecallRow
from memgauge.experiments.passage_facts import OTHER_TOKENS, Facts
from memgauge.experiments.passage_study import Study
from memgauge.report.numbers import estimate_numbers

Numbers = dict[str, Any]


def facts_numbers(facts: Facts) -> Numbers:
    """A cohort's facts; budgets are text keys, as JSON has them."""
    short = sorted(facts.short.items())
    return {
        "questions": facts.questions,
        "passages": _by_budget(facts.passages),
        "token_ratio_percent": _by_budget(facts.ratio_percent),
        "short_rankings": [size for _, size in short],
        "short_ranking_questions": [name for name, _ in short],
        "characters": _by_budget(facts.characters),
        "tokens": _by_budget(facts.tokens),
        "other_tokens_per_question": OTHER_TOKENS,
        "evidence_recall": [recall_numbers(row) for row in facts.recall],
    }


def study_numbers(found: Study) -> Numbers:
    """A study by part; contrasts by budget, abilities by ability and budget."""
    return {
        "primary": found.primary,
        "reference": found.reference,
        "as_released": found.as_released,
        "questions": found.questions,
        "groups": found.groups,
        "kinds": dict(found.kinds),
        "statuses": dict(found.statuses),
        "missing_marks": found.missing_marks,
        "estimated": found.estimated,
        "budgets": {str(each.budget): asdict(each) for each in found.curves},
        "contrasts": {str(each.budget): contrast_numbers(each) for each in found.contrasts},
        "subgroups": _named(found.subgroups),
        "abilities": {
            str(budget): _named([each for each in found.abilities if each.budget == budget])
            for budget in dict.fromkeys(each.budget for each in found.abilities)
        },
        "interactions": {
            each.tier: {
                **estimate_numbers("interaction", each.value),
                "abstention_pairs": each.abstention_pairs,
                "answerable_pairs": each.answerable_pairs,
                "groups": each.groups,
            }
            for each in found.interactions
        },
        "stability": _stability(found),
        "recall": [recall_numbers(row) for row in found.recall],
    }


def contrast_numbers(each: Contrast) -> Numbers:
    """One contrast."""
    counts = ("planned", "groups", "mean", "reference_mean", "wins", "ties", "losses", "both_zero")
    numbers: Numbers = {name: getattr(each, name) for name in counts}
    return {**estimate_numbers("change", each.change), "pairs": each.change.n, **numbers}


def recall_numbers(row: RecallRow) -> Numbers:
    """One tier and ability."""
    return {
        "tier": row.tier,
        "ability": row.ability,
        "questions": row.questions,
        "recall": _by_budget(row.by_budget),
    }


def advice_numbers(advice: Advice) -> Numbers:
    """The advised budget with every choice; never without its share of draws."""
    return {
        **{name: getattr(advice, name) for name in ("reference", "tolerated_points", "price", "questions", "groups")},
        "advised": advice.advised,
        "share_of_draws": advice.choice.share,
        "draws": advice.draws,
        "choices": [asdict(each) for each in advice.choices],
    }


def _stability(found: Study) -> Numbers:
    each = found.stability
    known = [value for value in each.deletions.values() if value is not None]
    return {
        "missing_pairs": each.missing_pairs,
        "deletions": dict(each.deletions),
        "deletions_low": min(known, default=None),
        "deletions_high": max(known, default=None),
        "equal_weights": each.equal_weights,
        "missing_low": None if each.missing is None else each.missing.low,
        "missing_high": None if each.missing is None else each.missing.high,
        "flips": each.flips,
        "worst_cases": {
            str(count): None if bounds is None else [bounds.low, bounds.high]
            for count, bounds in each.worst_cases.items()
        },
    }


def _named(contrasts: Sequence[Contrast]) -> Numbers:
    return {each.name: contrast_numbers(each) for each in contrasts}


def _by_budget(values: Any) -> Numbers:
    return {str(budget): value for budget, value in values.items()}
