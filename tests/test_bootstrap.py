"""Bootstrap draws and intervals against hand-made numbers, scipy, and the properties every bootstrap has."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from memgauge.seeds import generator
from memgauge.stats import bootstrap
from memgauge.stats.bootstrap import quantised, resample, unit_counts
from memgauge.stats.intervals import (
    Interval,
    difference_bounds,
    mean_bounds,
    one_sided_p,
    paired_difference,
    percentile_interval,
)

DRAWS = 10_000
# Monte Carlo error of a 2.5 % percentile is sqrt(.025 * .975 / draws) / density = about .027 standard
# errors at 10,000 draws; two runs differ by sqrt(2) of that, and four of those deviations are rarely passed.
TOLERANCE_IN_STANDARD_ERRORS = 4 * 0.027 * 2**0.5


def binary(questions: int, share: float, *purpose: str) -> np.ndarray:
    return (generator(1, *purpose).random(questions) < share).astype(float)


def ends(interval: Interval | None) -> np.ndarray:
    assert interval is not None
    return np.array([interval.low, interval.high])


def test_paired_interval_and_p_agree_with_scipy_within_monte_carlo_error() -> None:
    first, second = binary(200, 0.55, "first"), generator(1, "second").random(200)
    ours = paired_difference(list(first), list(second), None, DRAWS, generator(3, "ours"))
    theirs = stats.bootstrap(
        (first, second),
        lambda a, b, axis=-1: a.mean(axis) - b.mean(axis),
        paired=True,
        n_resamples=DRAWS,
        method="percentile",
        rng=generator(4, "scipy"),
    )
    error = np.std(first - second) / np.sqrt(200)
    interval = [theirs.confidence_interval.low, theirs.confidence_interval.high]
    assert ends(ours.interval) == pytest.approx(interval, abs=TOLERANCE_IN_STANDARD_ERRORS * error)
    assert ours.value == pytest.approx(np.mean(first - second), abs=1e-15)
    share = np.mean(theirs.bootstrap_distribution <= 0)
    assert ours.p == pytest.approx(share, abs=4 * np.sqrt(2 * share * (1 - share) / DRAWS))


def test_width_does_not_depend_on_the_number_of_draws() -> None:
    values = list(binary(300, 0.4, "width"))
    zeros = [0.0] * len(values)
    intervals = [
        ends(paired_difference(values, zeros, None, draws, generator(5, str(draws))).interval)
        for draws in (2_000, 32_000)
    ]
    widths = [high - low for low, high in intervals]
    # 2,000 draws have sqrt(5) times the error of 10,000.
    assert widths[0] == pytest.approx(widths[1], rel=0.06)
    assert widths[1] == pytest.approx(2 * 1.96 * np.std(values) / np.sqrt(300), rel=0.04)


def test_two_seeds_agree_within_monte_carlo_error_but_are_not_equal() -> None:
    values = generator(1, "seeds").random(150)
    intervals = [
        ends(paired_difference(list(values), [0.0] * 150, None, DRAWS, generator(seed, "x")).interval)
        for seed in (1, 2)
    ]
    error = np.std(values) / np.sqrt(150)
    assert intervals[0] == pytest.approx(intervals[1], abs=TOLERANCE_IN_STANDARD_ERRORS * error)
    assert (intervals[0] != intervals[1]).any()


def test_same_seed_gives_the_same_draws_whatever_the_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    values = generator(1, "blocks").random((37, 3))
    whole = resample(values, None, 500, generator(9, "same"))
    monkeypatch.setattr(bootstrap, "BLOCK_CELLS", 100)
    pieces = resample(values, None, 500, generator(9, "same"))
    assert (whole.sums == pieces.sums).all()
    assert (whole.counts == pieces.counts).all()


def test_every_draw_takes_as_many_units_as_there_are() -> None:
    times = np.vstack(list(unit_counts(7, 1000, generator(1, "units"))))
    assert times.shape == (1000, 7)
    assert (times.sum(axis=1) == 7).all()
    assert times.mean(axis=0) == pytest.approx(np.ones(7), abs=0.13)


def test_two_questions_give_the_three_possible_means_in_their_probabilities() -> None:
    drawn = resample(np.array([[0.0], [1.0]]), None, DRAWS, generator(1, "two"))
    means, counts = np.unique(drawn.means(), return_counts=True)
    assert means.tolist() == [0.0, 0.5, 1.0]
    assert counts / DRAWS == pytest.approx([0.25, 0.5, 0.25], abs=0.02)


def test_clusters_are_drawn_whole_and_pooled_by_questions() -> None:
    # Cluster a: three questions, all right; cluster b: one question, wrong. Draws: aa 1, ab 3/4, bb 0.
    values = np.array([[1.0], [0.0], [1.0], [1.0]])
    drawn = resample(values, ["a", "b", "a", "a"], DRAWS, generator(1, "clusters"))
    means, counts = np.unique(drawn.means(), return_counts=True)
    assert means.tolist() == [0.0, 0.75, 1.0]
    assert counts / DRAWS == pytest.approx([0.25, 0.5, 0.25], abs=0.02)
    assert drawn.units.tolist() == [2]


def test_each_question_its_own_cluster_is_the_plain_bootstrap() -> None:
    values = generator(1, "own").random((40, 2))
    plain = resample(values, None, 300, generator(2, "own"))
    clustered = resample(values, [f"h{row}" for row in range(40)], 300, generator(2, "own"))
    assert (plain.sums == clustered.sums).all()


def test_clustering_widens_the_interval_when_clusters_answer_alike() -> None:
    values = [float(cluster % 2) for cluster in range(20) for _ in range(10)]
    clusters = [str(cluster) for cluster in range(20) for _ in range(10)]
    plain = ends(paired_difference(values, [0.0] * 200, None, DRAWS, generator(1, "w")).interval)
    wide = ends(paired_difference(values, [0.0] * 200, clusters, DRAWS, generator(1, "w")).interval)
    assert (wide[1] - wide[0]) / (plain[1] - plain[0]) == pytest.approx(np.sqrt(10), rel=0.1)


def test_a_missing_outcome_leaves_only_its_own_column() -> None:
    values = np.array([[1.0, 1.0], [np.nan, 0.0], [1.0, 0.0]])
    drawn = resample(values, None, 2000, generator(1, "missing"))
    means = drawn.means()
    assert drawn.units.tolist() == [2, 3]
    assert set(means[~np.isnan(means[:, 0]), 0]) == {1.0}
    assert np.isnan(means[:, 0]).mean() == pytest.approx(1 / 27, abs=0.015)
    assert not np.isnan(means[:, 1]).any()


def test_pairs_with_a_missing_outcome_are_left_out() -> None:
    found = paired_difference([1.0, None, 0.5, 1.0], [0.0, 1.0, None, 1.0], None, 100, generator(1, "pairs"))
    assert (found.value, found.n) == (0.5, 2)


@pytest.mark.parametrize(
    ("first", "clusters"),
    [
        ([1.0], None),
        ([1.0, 0.0, 1.0], ["h", "h", "h"]),
        ([1.0, None], ["h", "g"]),
        ([None], None),
        ([], None),
    ],
)
def test_fewer_than_two_units_have_no_interval_and_no_p(first: list[float | None], clusters: list[str] | None) -> None:
    found = paired_difference(first, [0.0] * len(first), clusters, 100, generator(1, "one"))
    assert found.interval is None
    assert found.p is None


def test_p_is_the_share_of_draws_at_or_below_zero() -> None:
    assert one_sided_p(np.array([-0.1, 0.0, 0.1, np.nan]), units=5) == pytest.approx(2 / 3)
    assert ends(percentile_interval(np.arange(101.0), units=5)) == pytest.approx([2.5, 97.5])


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=1, max_size=30), st.data())
@settings(max_examples=50, deadline=None)
def test_bounds_hold_whatever_the_missing_outcomes_were(values: list[float | None], data: st.DataObject) -> None:
    filled = [data.draw(st.floats(0, 1)) if value is None else value for value in values]
    bounds = mean_bounds(values)
    assert bounds is not None
    assert bounds.low - 1e-12 <= sum(filled) / len(filled) <= bounds.high + 1e-12


def test_bounds_of_a_difference_take_each_side_at_its_worst() -> None:
    assert difference_bounds([1.0, None, 1.0, 0.0], [None, 1.0, 0.0, 0.0]) == Interval(0.0, 0.5)
    assert mean_bounds([]) is None


def test_sums_are_exact_so_that_order_and_threads_cannot_change_a_bit() -> None:
    values = generator(1, "grain").random((1000, 1))
    times = generator(1, "times").integers(0, 9, 1000).astype(float)
    grained = quantised(values)[:, 0]
    order = generator(1, "order").permutation(1000)
    assert times @ grained == times[order] @ grained[order]
    assert np.abs(grained - values[:, 0]).max() <= 2**-33
    assert quantised(np.array([0.0, 1.0, 0.5])).tolist() == [0.0, 1.0, 0.5]
