"""Evidence recall: hand-made memories, and the fast search against the plain definition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.metrics.evidence import EntryIndex, jaccard, span_recall, spans, token_set, turn_recall

WORDS = st.lists(st.sampled_from(["red", "blue", "green", "dog", "cat", "fish", "ann", "bob"]), max_size=8).map(
    " ".join
)


def test_turn_recall_counts_turns_with_an_entry_more_than_half_alike() -> None:
    entries = ["Ann: I moved to Rome today", "Bob: hello"]
    assert turn_recall(["Ann: I moved to Rome"], entries) == 1.0  # 5 of 6
    assert turn_recall(["Ann: I moved to Rome", "Bob: I like tea"], entries) == 0.5  # the second: 1 of 5


def test_exactly_half_alike_is_not_enough() -> None:
    assert turn_recall(["red dog"], ["red"]) == 0.0
    assert turn_recall(["red dog fish"], ["red dog"]) == 1.0


def test_turn_recall_needs_gold_turns_but_not_entries() -> None:
    assert turn_recall([], ["anything"]) is None
    assert turn_recall(["red dog"], []) == 0.0
    assert turn_recall(["?!"], ["?!"]) == 0.0  # no token, so nothing in common


@given(WORDS, st.lists(WORDS, max_size=8), st.sampled_from([0.0, 0.25, 0.5, 0.75, 0.9]))
def test_the_index_agrees_with_comparing_everything(gold: str, entries: list[str], threshold: float) -> None:
    scores = [jaccard(token_set(gold), token_set(entry)) for entry in entries]
    index = EntryIndex(entries)
    assert index.keeps(gold, threshold) is any(score > threshold for score in scores)
    best = max(scores, default=0.0)
    assert index.closest(gold) == ((scores.index(best), best) if best else None)


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        ("7 May 2023", ("7 may 2023",)),
        ("The week before 9 June 2023", ("9 june 2023",)),
        ("May 7, 2023 or June 2022", ("may 7, 2023", "june 2022")),
        ("2023-05-07", ("2023-05-07",)),
        ("2022", ("2022",)),
        ("$2,000 at 7:30", ("$2,000", "7:30")),
        ("3.5 km and two dogs", ("3.5", "two")),
        ("Dr. Lee met J. Smith. It was Bob", ("dr. lee", "j. smith", "bob")),
        ("New York and Los Angeles", ("new york", "los angeles")),
        ("Caroline’s National Park", ("caroline", "national park")),
        ("Tower of London", ("tower of london",)),
        ("Likely no; She was in the U.S. Army", ("u.s. army",)),
        ("Watching movies, making desserts", ()),
        ("Hiking, camping in Oslo", ("oslo",)),
        ("Max and Luna. Then Paris", ("max", "luna", "paris")),
        ("Friday before 20 May", ("friday", "20 may")),
        ("yes", ()),
        ("Yes", ()),
        ("a quiet cat", ()),
    ],
)
def test_spans_are_dates_numbers_and_names(gold: str, expected: tuple[str, ...]) -> None:
    assert spans(gold) == expected


def test_span_recall_is_the_share_of_spans_found() -> None:
    gold = "With Ann, to Rome, on 7 May 2023 with 2 dogs"
    assert span_recall([gold], "[7 May 2023]\nBob: Ann has 2 dogs") == 0.75
    assert span_recall([gold], "") == 0.0


def test_a_gold_without_spans_has_no_span_recall() -> None:
    assert span_recall(["a quiet cat"], "a quiet cat") is None
    assert span_recall([], "text") is None


def test_the_best_gold_with_spans_counts() -> None:
    assert span_recall(["a quiet cat", "Rome", "Oslo"], "in Oslo") == 1.0


@pytest.mark.parametrize(
    ("gold", "context", "found"),
    [
        ("5", "15", False),
        ("3", "3.5", False),
        ("1", "1,000", False),
        ("000", "1,000", False),
        ("5", "5, or 6.", True),
        ("5", "It was 5.", True),
        ("5", "$5", True),
        ("UK", "Ukraine", False),
        ("UK", "(UK)", True),
        ("Ann", "Ann’s cat", True),
        ("Ann", "Annette and Ann", True),
        ("Rome", "ROME", True),
        ("Tower of London", "Tower of\nLondon", True),
        ("7 May 2023", "17 May 2023", False),
    ],
)
def test_spans_are_found_at_word_edges_only(gold: str, context: str, found: bool) -> None:
    assert span_recall([gold], context) == float(found)


@given(st.text(max_size=40))
def test_every_span_of_a_text_is_found_in_that_text(text: str) -> None:
    assert span_recall([text], text) in (None, 1.0)
