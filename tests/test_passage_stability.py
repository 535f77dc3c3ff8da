"""Bounds and flips by hand, by brute force, and as paper C prints them."""

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.errors import InputError
from memgauge.experiments.passage_stability import deletions, equal_weights
from memgauge.stats.flips import flipped_bounds, least_flips
from memgauge.stats.intervals import Interval
from memgauge.stats.missing_bounds import unrestricted_bounds


def test_deletions_and_equal_weights_by_hand() -> None:
    changes = [-50.0, 0.0, 50.0, -100.0, 100.0, 0.0, None, None]
    groups = ["a", "a", "b", "b", "c", "c", "c", "d"]
    assert deletions(changes, groups) == {"a": 12.5, "b": 12.5, "c": -25.0}
    assert equal_weights(changes, groups) == pytest.approx((-25.0 - 25.0 + 50.0) / 3)
    assert deletions([1.0], ["a"]) == {"a": None}


def test_missing_pairs_are_unrestricted_even_when_one_side_is_known() -> None:
    assert unrestricted_bounds([0.0, None], 100.0) == Interval(-50.0, 50.0)
    assert unrestricted_bounds([], 100.0) is None
    with pytest.raises(InputError, match="exceeds the scale's width"):
        unrestricted_bounds([100.5], 100.0)


def test_the_published_bounds_follow_from_16_free_pairs() -> None:
    changes = [-5.445] * 1_084 + [None] * 16
    bounds = unrestricted_bounds(changes, 100.0)
    assert bounds is not None
    assert (round(bounds.low, 2), round(bounds.high, 2)) == (-6.82, -3.91)


def test_the_published_number_of_flips_follows_when_enough_pairs_fell_from_all_to_nothing() -> None:
    """The sum of 1,084 changes is -5,902; 22 pairs at -100 are among the 261 lower ones."""
    rest = (-5.445 * 1_084 + 22 * 100.0) / (1_084 - 22)
    assert least_flips([-100.0] * 22 + [rest] * (1_084 - 22) + [None] * 16, 100.0) == 22


CHANGES = st.lists(
    st.one_of(st.none(), st.sampled_from([-100.0, -75.0, -50.0, -25.0, 0.0, 25.0, 50.0, 100.0])), min_size=1, max_size=6
)


def by_brute_force(changes, flips):
    """The least and largest mean over every choice of pairs and every extreme value of the free ones."""
    known = [at for at, change in enumerate(changes) if change is not None]
    means = []
    for chosen in combinations(known, min(flips, len(known))):
        free = [at for at, change in enumerate(changes) if change is None or at in chosen]
        for ends in product((-100.0, 100.0), repeat=len(free)):
            values = dict(enumerate(changes)) | dict(zip(free, ends, strict=True))
            means.append(sum(values.values()) / len(changes))
    return min(means), max(means)


@settings(max_examples=60, deadline=None)
@given(CHANGES)
def test_flips_equal_brute_force(changes) -> None:
    known = [change for change in changes if change is not None]
    for flips in range(len(known) + 1):
        bounds = flipped_bounds(changes, flips, 100.0)
        assert bounds is not None
        assert (bounds.low, bounds.high) == pytest.approx(by_brute_force(changes, flips))
    if not known:
        assert least_flips(changes, 100.0) is None
        return
    negative = sum(known) < 0
    erased = [
        flips
        for flips in range(len(known) + 1)
        if (by_brute_force(changes, flips)[1] >= 0 if negative else by_brute_force(changes, flips)[0] <= 0)
    ]
    assert least_flips(changes, 100.0) == erased[0]
