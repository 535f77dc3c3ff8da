"""Amortisation: the curve, break-even against brute force, and the sweeps of alpha and depth."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.errors import InputError
from memgauge.experiments.alpha_sweep import AlphaRun, by_alpha, pareto, peak, read_runs
from memgauge.experiments.amortisation import COUNTS, break_even, break_evens, curve, through
from memgauge.experiments.depth_sweep import DEPTHS, DepthPoint, knee
from memgauge.experiments.qpc import Costs
from memgauge.metrics.cost import amortised, quality_per_cost

AMOUNTS = st.fractions(0, 10, max_denominator=5)
PAIRS = st.tuples(AMOUNTS, AMOUNTS)


def costs(system: str, write: Fraction | None, online: Fraction | None, stores: int = 2, questions: int = 314) -> Costs:
    return Costs("locomo", system, stores, questions, Fraction(questions, stores), write, online, online, ())


def cheaper(first: tuple[Fraction, Fraction], second: tuple[Fraction, Fraction], questions: int) -> bool:
    ours, theirs = amortised(*first, questions), amortised(*second, questions)
    assert ours is not None
    assert theirs is not None
    return ours < theirs


@given(PAIRS, PAIRS)
@settings(max_examples=80)
def test_break_even_is_what_counting_up_finds(
    first: tuple[Fraction, Fraction], second: tuple[Fraction, Fraction]
) -> None:
    """Writes of at most 10 over online differences of at least 1/20: after n = 200 nothing changes any more."""
    known = [cheaper(first, second, questions) for questions in range(1, 302)]
    dearer = [at for at, each in enumerate(known, start=1) if not each]
    start = dearer[-1] + 1 if dearer else 1
    expected: Any = "always" if start == 1 else start if start <= 301 else "never"
    assert break_even(first, second) == expected


@given(PAIRS, PAIRS)
def test_at_most_one_of_two_systems_wins_in_the_end(
    first: tuple[Fraction, Fraction], second: tuple[Fraction, Fraction]
) -> None:
    ours, theirs = break_even(first, second), break_even(second, first)
    assert "never" in (ours, theirs)
    assert (ours == theirs) == (first == second)


def test_break_even_at_an_exact_tie_starts_one_question_later() -> None:
    assert break_even((Fraction(10), Fraction(1)), (Fraction(0), Fraction(3))) == 6  # at n = 5 both cost 3
    assert break_even((Fraction(1), Fraction(1)), (Fraction(1), Fraction(1))) == "never"
    assert break_even((Fraction(1), Fraction(1)), (Fraction(2), Fraction(1))) == "always"


def test_an_unknown_cost_has_no_break_even_and_no_curve() -> None:
    assert break_even((None, Fraction(1)), (Fraction(1), Fraction(1))) is None
    assert all(usd is None for _, usd in curve(costs("x", None, Fraction(1)), 0.5).points)
    found = break_evens([costs("x", None, Fraction(1)), costs("y", Fraction(0), Fraction(1))])
    assert found == {("x", "y"): None, ("y", "x"): None}


@given(AMOUNTS, AMOUNTS)
def test_the_curve_falls_to_the_online_cost(write: Fraction, online: Fraction) -> None:
    points = [usd for _, usd in curve(costs("x", write, online), 0.5).points]
    assert [questions for questions, _ in curve(costs("x", write, online), 0.5).points] == list(COUNTS)
    assert all(usd is not None for usd in points)
    assert points == sorted(points, reverse=True, key=lambda usd: usd or Fraction(0))
    assert points[0] == write + online
    assert points[-1] == online


def test_qpc_along_the_curve_holds_f1_and_is_undefined_where_nothing_is_paid() -> None:
    found = curve(costs("x", Fraction(1, 10_000), Fraction(0)), 0.5, (1, 2, None)).qpc()
    assert found == ((1, 0.5), (2, 1.0), (None, None))


def test_the_number_of_stores_sets_the_runs_own_n() -> None:
    """314 questions about two conversations are two stores of 157, not one of 314."""
    two, one = costs("x", Fraction(1), Fraction(1)), costs("x", Fraction(1), Fraction(1), stores=1)
    assert (two.served, one.served) == (157, 314)
    assert two.cost == 1 + Fraction(1, 157)


def test_fewer_than_one_question_is_refused() -> None:
    with pytest.raises(InputError, match="cannot serve 0 questions"):
        amortised(Fraction(1), Fraction(1), 0)


@given(PAIRS, st.integers(1, 400), st.integers(401, 2000))
def test_two_points_give_the_curve_back(pair: tuple[Fraction, Fraction], few: int, many: int) -> None:
    points = [(each, amortised(*pair, each) or Fraction(0)) for each in (few, many)]
    assert through(points[0], points[1]) == pair


def test_quality_per_cost_needs_both() -> None:
    assert quality_per_cost(None, Fraction(1)) is None
    assert quality_per_cost(0.5, None) is None
    assert quality_per_cost(0.0, Fraction(1)) == 0.0


# Sweeps.


def record(alpha: float, **more: Any) -> dict[str, Any]:
    numbers = {"f1": 0.4, "cost_usd": 1e-5, "qpc": 4.0, "qpc_qa": 5.0, "summary_tokens": 12.0, "empty_share": 0.0}
    return {"alpha": alpha, "name": "a run", **numbers, **more}


def test_runs_of_one_alpha_are_joined_and_keep_their_spread() -> None:
    found = by_alpha(read_runs([record(0.8, f1=0.5, seed=2), record(0.2), record(0.8, f1=0.3, qpc=None)]))
    assert [(each.mean.alpha, each.runs) for each in found] == [(0.2, 1), (0.8, 2)]
    assert (found[1].mean.f1, found[1].low.f1, found[1].high.f1) == (0.4, 0.3, 0.5)
    assert found[1].mean.qpc is None
    assert found[0].mean == AlphaRun(0.2, 0.4, 1e-5, 4.0, 5.0, 12.0, 0.0)


@pytest.mark.parametrize("wrong", [{"f1": None}, {"alpha": "0.8"}, {"qpc": float("nan")}, {"summary_tokens": True}])
def test_a_run_without_a_number_is_refused_by_name(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=f"run 1: {name} is "):
        read_runs([record(0.2), record(0.4) | wrong])
    missing = record(0.2)
    del missing[name]
    with pytest.raises(InputError, match=f"run 0: {name} is None"):
        read_runs([missing])


def test_the_peak_is_the_smaller_alpha_of_two() -> None:
    points = by_alpha(read_runs([record(0.2), record(0.4, qpc_qa=9.0), record(0.6, qpc_qa=9.0)]))
    assert peak(points, "qpc_qa") == 0.4
    assert peak(by_alpha(read_runs([record(0.2, qpc=None)])), "qpc") is None


@given(st.lists(st.tuples(st.integers(0, 5).map(float), st.integers(0, 5).map(float)), min_size=1, max_size=9))
def test_the_front_beats_every_point_beside_it(points: list[tuple[float, float]]) -> None:
    front = [points[at] for at in pareto(points)]
    assert front
    for usd, quality in points:
        assert any(cheap <= usd and better >= quality for cheap, better in front)
    ordered = sorted(set(front))
    assert [quality for _, quality in ordered] == sorted({quality for _, quality in front})


def test_the_knee_is_the_shallowest_good_depth() -> None:
    f1 = dict(zip(DEPTHS, (0.30, 0.41, 0.46, 0.478, 0.47), strict=True))
    points = [DepthPoint(*depth, each, None, None) for depth, each in reversed(f1.items())]
    found = knee(points)
    assert found is not None
    assert found.name == "8/20"  # 96 % of the peak, as paper B reports
    assert knee([DepthPoint(2, 5, None, None, None)]) is None
