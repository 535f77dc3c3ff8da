"""Reciprocal rank fusion against sums made by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.errors import InputError
from memgauge.retrieval.fusion import fuse

RANKING = st.lists(st.integers(0, 12), max_size=8)


def test_a_document_in_both_lists_wins_and_ties_go_by_id():
    fused = fuse([["X", "a", "Y"], ["b", "c", "Y"]])
    assert [each.id for each in fused] == ["Y", "X", "b", "a", "c"]
    assert [each.score for each in fused] == pytest.approx([2 / 63, 1 / 61, 1 / 61, 1 / 62, 1 / 62])


def test_ties_go_by_corpus_position_where_there_is_a_corpus():
    fused = fuse([["X", "a", "Y"], ["b", "c", "Y"]], corpus=["c", "b", "a", "Y", "X"])
    assert [each.id for each in fused] == ["Y", "b", "X", "c", "a"]


def test_repeats_within_a_list_are_removed_before_ranks_are_given():
    assert fuse([["a", "a", "b"]]) == fuse([["a", "b"]])


def test_numbers_and_their_texts_are_the_same_document():
    assert [each.id for each in fuse([[7, 8], ["8"]])] == ["8", "7"]


def test_no_lists_and_empty_lists_fuse_to_nothing():
    assert fuse([]) == fuse([[], []]) == []


def test_a_negative_constant_is_refused():
    with pytest.raises(InputError, match="at least 0, not -1"):
        fuse([["a"]], k=-1)


@given(st.lists(RANKING, max_size=5), st.randoms())
def test_the_order_of_the_lists_changes_nothing(rankings, random):
    shuffled = random.sample(rankings, len(rankings))
    assert fuse(rankings) == fuse(shuffled)
