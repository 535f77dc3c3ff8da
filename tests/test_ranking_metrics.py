"""Ranking and rubric metrics: hard inputs, hand-computed values, scipy where it applies."""

from math import isfinite, isnan, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from memgauge.metrics.ranking import mean_scored, ndcg_at, recall_at, reciprocal_rank
from memgauge.metrics.rubric import event_order, kendall_tau_b, rubric_score
from memgauge.tasks.base import ParseFailure
from memgauge.tasks.score_rubric_item import parse_mark

IDS = st.lists(st.sampled_from("ABCDEF"), max_size=10)


def test_a_repeated_hit_counts_once() -> None:
    assert recall_at(2, ["A", "B"], ["A", "A"]) == 0.5
    assert ndcg_at(2, ["A", "B"], ["A", "A"]) == pytest.approx(1 / (1 + 1 / log2(3)))
    assert recall_at(2, ["A", "B"], ["A", "A", "B"]) == 1.0  # the second distinct id


def test_ndcg_of_a_hit_at_rank_two() -> None:
    assert ndcg_at(5, ["A"], ["X", "A"]) == pytest.approx(1 / log2(3))
    assert ndcg_at(5, ["A"], ["X", "A"]) == pytest.approx(0.6309, abs=5e-5)


def test_an_empty_gold_is_left_out_and_counted() -> None:
    assert recall_at(5, [], ["A"]) is None
    assert ndcg_at(5, [], ["A"]) is None
    assert reciprocal_rank([], ["A"]) is None
    mean = mean_scored([0.5, None, 1.0, None])
    assert (mean.value, mean.scored, mean.left_out) == (0.75, 2, 2)
    assert mean_scored([None]).value is None


def test_reciprocal_rank_is_over_distinct_ids() -> None:
    assert reciprocal_rank(["B"], ["X", "X", "B"]) == 0.5
    assert reciprocal_rank(["B"], ["X"]) == 0.0


@given(IDS, IDS, st.integers(0, 8))
def test_ranking_scores_stay_in_range_and_grow_with_k(gold: list[str], ranked: list[str], k: int) -> None:
    if not gold:
        return
    for metric in (recall_at, ndcg_at):
        score = metric(k, gold, ranked)
        assert score is not None
        assert -1e-12 <= score <= 1 + 1e-12
    assert (recall_at(k, gold, ranked) or 0) <= (recall_at(k + 1, gold, ranked) or 0)


@given(IDS.filter(bool))
def test_a_ranking_of_the_gold_itself_is_perfect(gold: list[str]) -> None:
    assert recall_at(len(gold), gold, gold) == 1.0
    assert ndcg_at(len(gold), gold, gold) == pytest.approx(1.0)
    assert reciprocal_rank(gold, gold) == 1.0


# Rubric


def test_half_marks_are_kept() -> None:
    assert rubric_score([1, 0.5, "0"]) == 0.5
    assert rubric_score(["0.5"]) == 0.5
    assert rubric_score([]) is None


def test_a_satisfied_item_is_one_whatever_the_ability() -> None:
    assert rubric_score(["1", 1, 1.0, " 1 "]) == 1.0


@pytest.mark.parametrize(
    "value", [0.7, 2, -1, "0.7", "", "one", None, True, [1], float("nan"), "1/2", "1e0", ".5", float("inf")]
)
def test_any_other_mark_is_a_parse_error(value: object) -> None:
    assert isinstance(parse_mark(value), ParseFailure)
    assert isinstance(rubric_score([1, value]), ParseFailure)


# Event order


def test_a_single_matched_event_is_in_order() -> None:
    found = event_order(1, [0])
    assert found is not None
    assert (found.tau_norm, found.f1, found.score) == (1.0, 1.0, 1.0)


def test_no_matching_line_scores_nothing() -> None:
    for lines in ([], [None], [None, None]):
        found = event_order(3, lines)
        assert found is not None
        assert (found.tau_norm, found.f1, found.score) == (0.0, 0.0, 0.0)


def test_the_right_order_of_few_events_is_not_perfect() -> None:
    # Events 0, 1 of 4 named: ranks 0 1 2 3 against 0 1 4 4: 5 concordant pairs of 6 and 5 untied.
    found = event_order(4, [0, 1])
    assert found is not None
    assert found.f1 == pytest.approx(2 / 3)
    assert found.tau_norm == pytest.approx((5 / 30**0.5 + 1) / 2)
    assert found.score == pytest.approx(found.tau_norm * found.f1)


def test_order_and_completeness_are_reported_apart() -> None:
    backwards, complete = event_order(3, [2, 1, 0]), event_order(3, [0, 1, 2])
    assert backwards is not None
    assert complete is not None
    assert (backwards.tau_norm, backwards.f1, backwards.score) == (0.0, 1.0, 0.0)
    assert (complete.tau_norm, complete.f1, complete.score) == (1.0, 1.0, 1.0)


def test_a_rubric_without_events_has_no_score() -> None:
    assert event_order(0, [None]) is None


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.none() | st.integers(0, n - 1)))))
def test_event_order_is_never_undefined(case: tuple[int, list[int | None]]) -> None:
    found = event_order(*case)
    assert found is not None
    for part in (found.tau_norm, found.f1, found.score):
        assert isfinite(part)
        assert -1e-12 <= part <= 1 + 1e-12


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9))
def test_kendall_equals_scipy(pairs: list[tuple[int, int]]) -> None:
    one, other = [left for left, _ in pairs], [right for _, right in pairs]
    expected = float(stats.kendalltau(one, other).statistic)
    mine = kendall_tau_b(one, other)
    assert mine is None if isnan(expected) else mine == pytest.approx(expected, abs=1e-12)
