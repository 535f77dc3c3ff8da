"""Passages cover every character of a text exactly where they say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.errors import InputError
from memgauge.retrieval.passages import documents_of, split_passages


@given(st.text(max_size=80), st.integers(1, 20), st.data())
def test_windows_cover_all_characters_in_order(text, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    passages = split_passages(text, size, overlap, document=4)
    assert all(text[each.start : each.end] == each.text and each.document == 4 for each in passages)
    assert all(1 <= len(each.text) <= size for each in passages)
    assert "".join(each.text[overlap if each.start else 0 :] for each in passages) == text


def test_no_passage_lies_wholly_inside_the_one_before_it():
    assert [(each.start, each.end) for each in split_passages("abcdef", 4, 2)] == [(0, 4), (2, 6)]


def test_an_empty_text_has_no_passage():
    assert split_passages("", 5) == []


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-1, 0), (4, 4), (4, -1)])
def test_sizes_without_progress_are_refused(size, overlap):
    with pytest.raises(InputError):
        split_passages("abc", size, overlap)


def test_several_hits_in_one_document_count_once_at_the_best_place():
    passages = split_passages("abcdef", 2, document=0) + split_passages("xyz", 2, document=1)
    assert documents_of(passages, [4, 1, 0, 3]) == [1, 0]
