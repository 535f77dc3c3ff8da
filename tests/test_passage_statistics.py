"""Paper C's statistics on tables small enough to work out by hand, and against scipy."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from memgauge.errors import InputError, NothingScoredError
from memgauge.experiments.budget_advisor import advise
from memgauge.experiments.passage_contrasts import answerability, contrast, contrasts_by, interactions
from memgauge.experiments.passage_scores import PassageScore, tabulate
from memgauge.experiments.passage_stability import stability
from memgauge.experiments.passage_study import study
from memgauge.experiments.significance import Statistics
from memgauge.llm.prices import FREE
from memgauge.report.passage_figures import study_figure
from memgauge.report.passage_numbers import study_numbers
from memgauge.report.passage_pages import study_page
from memgauge.report.passage_published import published_budgets
from memgauge.stats.intervals import Interval

FEW = Statistics(draws=2_000, margin=0.02, seed=17)


def score(name, budget, value, group="a", tier="all", ability="x", abstention=False, tokens=(100, 10), recall=None):
    return PassageScore(
        question_id=name,
        history_id=group,
        group=group,
        tier=tier,
        ability=ability,
        abstention=abstention,
        budget=budget,
        passages=budget,
        status="ok" if value is not None else "parse_error",
        kind="rubric",
        score=value,
        contains_match=None,
        as_released=None if value is None else float(math.floor(value)),
        marks=(value,),
        input_tokens=tokens[0] * budget,
        output_tokens=tokens[1],
        estimated=False,
        judge_tokens=0,
        recall=recall,
    )


# question: (group, abstention, score at 3, score at 10)
SMALL = {
    "q0": ("a", False, 0.5, 1.0),
    "q1": ("a", False, 0.0, 0.0),
    "q2": ("b", False, 1.0, 0.5),
    "q3": ("b", False, 0.0, 1.0),
    "q4": ("c", True, 1.0, 0.0),
    "q5": ("c", True, 1.0, 1.0),
    "q6": ("c", False, None, 1.0),
    "q7": ("a", True, 0.0, None),
}


def small_scores():
    return [
        score(name, budget, value, group, abstention=abstention, ability="abstention" if abstention else "fact")
        for name, (group, abstention, *values) in SMALL.items()
        for budget, value in zip((3, 10), values, strict=True)
    ]


def test_a_contrast_counts_complete_pairs_only() -> None:
    found = contrast(tabulate(small_scores()), 3, 10, FEW)
    # changes: -50, 0, +50, -100, +100, 0
    assert (found.planned, found.change.n, found.groups) == (8, 6, 3)
    assert (found.wins, found.ties, found.losses, found.both_zero) == (2, 2, 2, 1)
    assert found.change.value == 0.0
    assert found.mean == pytest.approx(100 * 3.5 / 6)
    assert found.reference_mean == pytest.approx(100 * 3.5 / 6)


def test_contrasts_by_a_key_split_the_pairs() -> None:
    by = {each.name: each for each in contrasts_by(tabulate(small_scores()), answerability, 3, 10, FEW)}
    assert by["answerable"].change.value == pytest.approx(-25.0)
    assert (by["answerable"].change.n, by["answerable"].planned) == (4, 5)
    assert by["abstention"].change.value == pytest.approx(50.0)
    assert by["abstention"].change.clustered is None  # one source group with a complete pair: undefined
    assert by["abstention"].change.interval is not None


def test_the_interaction_is_the_abstention_effect_minus_the_answerable_one() -> None:
    (found,) = interactions(tabulate(small_scores()), 3, 10, FEW)
    assert found.value.value == pytest.approx(75.0)
    assert (found.abstention_pairs, found.answerable_pairs, found.groups) == (2, 4, 3)


def test_the_interactions_interval_is_of_level_97_and_a_half() -> None:
    """Two means of 200 changes of -50 or +50 each: the difference has a standard error of 50 sqrt(2 / 200) = 5."""
    scores = [
        score(f"q{at}", budget, value, f"g{at}", abstention=at % 2 == 0)
        for at in range(400)
        for budget, value in ((3, float(at % 4 < 2)), (10, 0.5))
    ]
    (found,) = interactions(tabulate(scores), 3, 10, Statistics(10_000, 0.02, 1))
    half = scipy_stats.norm.ppf(0.9875) * 5  # 11.2; a level of 95 % would give 9.8
    for bounds in (found.value.interval, found.value.clustered):
        assert bounds is not None
        assert (bounds.low, bounds.high) == pytest.approx((-half, half), abs=0.5)


def test_a_tier_without_abstention_questions_has_no_interaction() -> None:
    assert interactions(tabulate([score("q", b, 0.5) for b in (3, 10)]), 3, 10, FEW) == ()


def test_the_question_interval_is_scipys_within_its_monte_carlo_error() -> None:
    values = np.random.default_rng(3).choice([0.0, 0.5, 1.0], size=(60, 2))
    scores = [
        score(f"q{at}", b, float(v), f"g{at}")
        for at, row in enumerate(values)
        for b, v in zip((3, 10), row, strict=True)
    ]
    ours = contrast(tabulate(scores), 3, 10, Statistics(10_000, 0.02, 1)).change
    differences = 100 * (values[:, 0] - values[:, 1])
    theirs = scipy_stats.bootstrap(
        (differences,), np.mean, n_resamples=10_000, method="percentile", random_state=np.random.default_rng(5)
    ).confidence_interval
    assert ours.interval is not None
    assert ours.clustered is not None
    assert ours.value == pytest.approx(differences.mean())
    for interval in (ours.interval, ours.clustered):  # every question is its own group: both are the same scheme
        assert interval.low == pytest.approx(theirs.low, abs=1.0)
        assert interval.high == pytest.approx(theirs.high, abs=1.0)


def test_questions_of_one_group_move_together_and_widen_the_interval() -> None:
    scores = [
        score(f"q{at}", budget, value, f"g{at // 5}")
        for at in range(40)
        for budget, value in ((3, float(at // 5 % 2)), (10, 0.5))
    ]
    found = contrast(tabulate(scores), 3, 10, FEW).change
    assert found.interval is not None
    assert found.clustered is not None
    assert found.clustered.high - found.clustered.low > 1.5 * (found.interval.high - found.interval.low)


def test_stability_joins_all_checks() -> None:
    found = stability(tabulate(small_scores()), 3, 10, shown_flips=(1, 99))
    assert found.missing_pairs == 2
    assert found.missing == Interval(-25.0, 25.0)
    assert found.flips == 0
    assert set(found.worst_cases) == {0, 1}  # no more pairs than there are can change


def test_a_study_holds_every_part_and_survives_json() -> None:
    found = study(small_scores(), 3, 10, FEW)
    numbers = study_numbers(found)
    assert numbers["contrasts"]["3"]["pairs"] == 6
    assert numbers["abilities"]["3"]["fact"]["planned"] == 5
    assert numbers["interactions"]["all"]["interaction"] == pytest.approx(75.0)
    assert numbers["budgets"]["3"]["token_share"] == pytest.approx(310 / 1010)
    assert numbers["missing_marks"] == 2


def test_released_scores_lose_every_half_mark() -> None:
    whole, released = (contrast(tabulate(small_scores(), cut), 3, 10, FEW) for cut in (False, True))
    assert whole.mean == pytest.approx(100 * 3.5 / 6)
    assert released.mean == pytest.approx(100 * 3 / 6)


@pytest.mark.parametrize(("primary", "reference"), [(4, 10), (3, 9), (10, 10)])
def test_a_budget_that_was_not_run_is_refused(primary, reference) -> None:
    with pytest.raises(InputError, match=r"passages\."):
        study(small_scores(), primary, reference, FEW)


def test_nothing_scored_is_its_own_error() -> None:
    with pytest.raises(NothingScoredError):
        study([score("q", budget, None) for budget in (3, 10)], 3, 10, FEW)


def test_a_question_must_stand_once_at_every_budget() -> None:
    with pytest.raises(InputError, match="no score at budget 10"):
        tabulate([*small_scores(), score("q9", 3, 1.0)])
    with pytest.raises(InputError, match="scored twice at budget 3"):
        tabulate([*small_scores(), score("q0", 3, 1.0)])


def test_published_rows_agree_with_each_other() -> None:
    by = {(row.what, row.item): row for row in published_budgets().rows}
    assert by["change", "3"].value is not None
    parts = [by["subgroup", name] for name in ("answerable", "abstention")]
    whole = sum((part.value or 0) * part.n for part in parts) / sum(part.n for part in parts)
    assert whole == pytest.approx(by["change", "3"].value, abs=0.011)
    for tier in ("100K", "500K"):
        apart = (by["subgroup", f"{tier} abstention"].value or 0) - (by["subgroup", f"{tier} answerable"].value or 0)
        assert apart == pytest.approx(by["interaction", tier].value, abs=0.011)


def test_the_picture_is_a_png_of_the_same_bytes_each_time() -> None:
    found = study(small_scores(), 3, 10, FEW)
    picture = study_figure(found)
    assert picture.startswith(b"\x89PNG")
    assert picture == study_figure(found)


def test_the_page_says_what_scores_are_and_prints_the_judges_verdict() -> None:
    scores, verdict = small_scores(), "Judge m is not qualified."
    page = study_page(
        "beam, r", None, study(scores, 3, 10, FEW), advise(tabulate(scores), 10, FREE, 0.02, FEW), verdict, 2_000
    )
    assert verdict in page
    assert "8 by mean rubric mark" in page
    assert "6 of 8" in page  # complete pairs beside the change
    assert "-5.45" in page  # the published row
