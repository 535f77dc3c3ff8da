"""BM25: hand-computed weights, and what must not depend on order, processes or scripts."""

import subprocess
import sys
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.retrieval.bm25 import Bm25Index
from memgauge.retrieval.passages import documents_of, split_passages

WORDS = st.lists(st.sampled_from(["red", "car", "sea", "blue", "dog", "ran"]), max_size=6).map(" ".join)


def positions(index: Bm25Index, query: str, k: int | None = None) -> list[int]:
    return [each.position for each in index.search(query, k)]


def test_idf_of_two_documents_is_positive_in_one_and_in_both():
    # Equal lengths and tf = 1 make the tf part 1 * 2.5 / (1 + 1.5) = 1: the score is the idf.
    index = Bm25Index(["cat both", "dog both"])
    assert index.search("cat")[0].score == pytest.approx(log(2))  # n = 1: ln(1 + 1.5 / 1.5)
    assert [each.score for each in index.search("both")] == pytest.approx([log(1.2)] * 2)  # n = 2: ln(1 + .5 / 2.5)


def test_score_equals_the_formula_worked_by_hand():
    index = Bm25Index(["a b b", "a", "c c"], k1=1.2, b=0.5)
    # "b": n = 1 of N = 3, tf 2, length 3, mean length 2: norm = 1.2 * (0.5 + 0.5 * 1.5) = 1.5
    assert index.search("b")[0].score == pytest.approx(log(1 + 2.5 / 1.5) * 2 * 2.2 / (2 + 1.5))


def test_a_word_twice_in_the_query_counts_twice():
    index = Bm25Index(["a b", "c"])
    assert index.search("a a")[0].score == pytest.approx(2 * index.search("a")[0].score)


@pytest.mark.parametrize(("texts", "expected"), [([], []), (["", "  ", "!?"], []), (["a cat", "a dog"], [0, 1])])
def test_small_corpora_give_what_there_is(texts, expected):
    assert positions(Bm25Index(texts), "a", k=10) == expected


def test_documents_without_a_query_word_are_not_returned():
    assert positions(Bm25Index(["cat", "dog", "cat dog"]), "cat") == [0, 2]
    assert Bm25Index(["cat"]).search("") == []


def test_equal_scores_keep_corpus_order_and_top_five_is_a_prefix_of_top_ten():
    index = Bm25Index(["same short turn"] * 50)
    assert positions(index, "short", 10) == list(range(10))
    assert positions(index, "short", 5) == positions(index, "short", 10)[:5]


@given(st.lists(WORDS, max_size=8), WORDS, st.integers(0, 9))
def test_rankings_are_sorted_positive_and_prefix_closed(texts, query, k):
    index = Bm25Index(texts)
    hits = index.search(query)
    assert index.search(query, k) == hits[:k]
    assert hits == sorted(hits, key=lambda each: (-each.score, each.position))
    assert all(each.score > 0 for each in hits)


@given(st.lists(WORDS, min_size=1, max_size=6), st.permutations(["red", "car", "sea", "dog"]))
def test_the_order_of_query_words_does_not_move_a_bit(texts, query):
    assert Bm25Index(texts).search(" ".join(query)) == Bm25Index(texts).search("red car sea dog")


def test_ranking_is_the_same_in_processes_with_other_hash_seeds():
    code = (
        "from memgauge.retrieval.bm25 import Bm25Index;"
        "print(Bm25Index(['a b c', 'c b a', 'a a', 'd'] * 9).search('c a b d'))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in "123"
    }
    assert len(outputs) == 1


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("un café noir", "cafe\u0301"),
        ("un cafe\u0301 noir", "CAFÉ"),
        ("Мой портфель", "портфель"),
        ("ＧＰＵ server", "gpu"),
        ("서울 여행", "서울"),
        ("我住在北京", "北京"),
        ("STRASSE", "straße"),
    ],
)
def test_every_script_and_form_is_found(text, query):
    assert positions(Bm25Index(["nothing here", text]), query) == [1]


def test_stop_words_neither_match_nor_lengthen():
    index = Bm25Index(["the cat", "the the the cat"], stop_words={"the"})
    assert index.search("the") == []
    assert len({each.score for each in index.search("cat")}) == 1


def test_a_fact_at_the_end_of_an_enormous_message_is_found_once():
    filler = "we talked about the weather and other things for a while. " * 6000
    messages = ["hello there", filler + "The locker code is zebra seventeen.", "bye"]
    passages = [passage for number, text in enumerate(messages) for passage in split_passages(text, 1000, 100, number)]
    hits = Bm25Index([each.text for each in passages]).search("zebra locker code")
    assert documents_of(passages, [each.position for each in hits]) == [1]


def test_scores_agree_with_bm25s_up_to_its_constant_factor():
    bm25s = pytest.importorskip("bm25s")
    texts = ["red car fast", "blue sea", "red sea red", "dog ran far away today"]
    other = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    other.index([text.split() for text in texts], show_progress=False)
    ours = Bm25Index(texts).scores("red sea dog")
    assert ours / 2.5 == pytest.approx(other.get_scores(["red", "sea", "dog"]), rel=1e-5)
