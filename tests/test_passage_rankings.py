"""What paper C's passage budgets promise: neighbours without repetition, nested budgets, its printed counts."""

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.datasets.beam import read
from memgauge.errors import InputError
from memgauge.experiments.passage_budgets import (
    BUDGETS,
    STOP_WORDS,
    history_windows,
    passages,
    rank_history,
    turn_labels,
)
from memgauge.records import History, Question, Session, Turn
from memgauge.retrieval.passages import split_passages
from memgauge.text.qwen import count_qwen
from memgauge.text.tokens import count_many

OTHER_TOKENS = 175  # instructions, question and answer of one call


@dataclass(frozen=True)
class Cohort:
    """Chunks by tier, and the tokens of every passage shown by question."""

    chunks: Counter[str]
    tokens: dict[str, list[int]]
    qwen: dict[str, list[int]]

    def shown(self, budget: int) -> int:
        return sum(len(each[:budget]) for each in self.tokens.values())

    def cost(self, budget: int) -> int:
        return sum(sum(each[:budget]) + OTHER_TOKENS for each in self.tokens.values())


@pytest.fixture(scope="module")
def cohort(real_data):
    chunks: Counter[str] = Counter()
    tokens: dict[str, list[int]] = {}
    qwen: dict[str, list[int]] = {}
    for history, questions in read(real_data, Counter(), strip_markers=False):  # raw text: the reading of 13,125
        cut = history_windows(history)
        chunks[history.id.split("-")[1]] += len(cut)
        labels = turn_labels(history)
        texts = {
            ranking.question_id: [
                [labels[piece.document] + piece.text for piece in passage.pieces] for passage in ranking.passages
            ]
            for ranking in rank_history(history, questions, windows=cut)
        }
        distinct = list(dict.fromkeys(text for each in texts.values() for pieces in each for text in pieces))
        for sizes, counted in ((tokens, count_many), (qwen, count_qwen)):
            count = dict(zip(distinct, counted(distinct), strict=True))
            for name, each in texts.items():
                sizes[name] = [sum(count[text] for text in pieces) for pieces in each]
    return Cohort(chunks, tokens, qwen)


def test_beam_has_the_chunks_of_the_specification(cohort):
    assert cohort.chunks == {"100K": 13_125, "500K": 95_553}


def test_exactly_two_rankings_are_short_with_12_and_18_passages(cohort):
    short = {name: len(each) for name, each in cohort.tokens.items() if len(each) != 20}
    assert len(cohort.tokens) == 1_100
    assert short == {"beam-500K-11-q06": 12, "beam-500K-27-q09": 18}


def test_passages_shown_over_all_questions(cohort):
    assert [cohort.shown(budget) for budget in BUDGETS] == [1_100, 3_300, 5_500, 11_000, 21_990]


@pytest.mark.parametrize(("budget", "printed"), [(1, 12.7), (3, 32.22), (5, 51.6), (10, 100.0), (20, 196.24)])
def test_token_ratios_lie_within_a_point_of_the_printed_ones(cohort, budget, printed):
    assert 100 * cohort.cost(budget) / cohort.cost(10) == pytest.approx(printed, abs=1.0)


def test_no_prompt_of_twenty_passages_is_clipped(cohort):
    """The longest has 17,465 Qwen tokens with another wording of the date label; the reply's 1,024 stay free."""
    sizes = {name: sum(each) for name, each in cohort.qwen.items()}
    assert max(sizes, key=sizes.__getitem__) == "beam-500K-10-q08"
    assert sizes["beam-500K-10-q08"] == pytest.approx(17_465, abs=100)
    assert max(sizes.values()) + OTHER_TOKENS < 32_768 - 1_024


def test_ten_passages_cost_between_six_and_eight_million_qwen_tokens(cohort):
    shown = sum(sum(each[:10]) + OTHER_TOKENS for each in cohort.qwen.values())
    assert 6.2e6 < shown < 8.0e6


def windows(*texts, size=5, overlap=2):
    return [each for number, text in enumerate(texts) for each in split_passages(text, size, overlap, number)]


def parts(shown):
    return [(each.centre, [(piece.document, piece.text) for piece in each.pieces]) for each in shown]


def test_a_hit_shows_a_neighbour_on_either_side_even_of_another_turn():
    assert parts(passages(windows("ab", "cd", "ef", "gh"), [1], 1)) == [(1, [(0, "ab"), (1, "cd"), (2, "ef")])]


def test_chunks_at_either_end_have_one_neighbour():
    chunks = windows("ab", "cd", "ef", "gh")
    assert parts(passages(chunks, [0, 3], 2)) == [(0, [(0, "ab"), (1, "cd")]), (3, [(2, "ef"), (3, "gh")])]


def test_a_hit_that_was_shown_as_a_neighbour_is_skipped_and_costs_nothing():
    chunks = windows("ab", "cd", "ef", "gh", "ij", "kl")
    assert [each.centre for each in passages(chunks, [1, 2, 0, 4], 2)] == [1, 4]


LETTERS = windows("abcdefghijklmnopqrstuv")  # abcde defgh ghijk jklmn mnopq pqrst stuv


def test_characters_shown_earlier_are_removed_at_both_ends():
    expected = [(0, [(0, "abcdefgh")]), (6, [(0, "pqrstuv")]), (3, [(0, "ijklmno")])]
    assert parts(passages(LETTERS, [0, 6, 3], 3)) == expected


def test_a_neighbour_loses_the_overlap_with_a_chunk_that_was_shown():
    again = passages(LETTERS, [1, 4], 2)
    assert parts(again) == [(1, [(0, "abcdefghijk")]), (4, [(0, "lmnopqrst")])]
    assert [(piece.start, piece.end) for each in again for piece in each.pieces] == [(0, 11), (11, 20)]


def test_fewer_hits_than_asked_for_give_fewer_passages():
    assert len(passages(windows("ab", "cd", "ef", "gh", "ij"), [0, 4], 20)) == 2
    assert passages(windows("ab"), [], 20) == ()


def test_a_budget_below_one_is_refused():
    with pytest.raises(InputError, match="at least 1 passage, not 0"):
        passages(windows("ab"), [0], 0)


@st.composite
def walks(draw):
    texts = draw(st.lists(st.text("abc", min_size=1, max_size=25), min_size=1, max_size=5))
    overlap = draw(st.integers(0, 2))
    chunks = windows(*texts, size=5, overlap=overlap)
    order = draw(st.permutations(range(len(chunks))))
    return texts, chunks, order[: draw(st.integers(0, len(order)))]


@given(walks())
def test_every_budget_is_a_prefix_and_no_character_is_shown_twice(walk):
    texts, chunks, order = walk
    longest = passages(chunks, order, 20)
    assert all(passages(chunks, order, budget) == longest[:budget] for budget in BUDGETS)
    pieces = [piece for each in longest for piece in each.pieces]
    assert all(piece.text == texts[piece.document][piece.start : piece.end] != "" for piece in pieces)
    assert all(len({piece.document for piece in each.pieces}) == len(each.pieces) > 0 for each in longest)
    shown = Counter((piece.document, place) for piece in pieces for place in range(piece.start, piece.end))
    assert set(shown.values()) <= {1}
    around = {near for each in longest for near in range(each.centre - 1, each.centre + 2) if 0 <= near < len(chunks)}
    assert set(order) <= around
    assert set(shown) == {
        (chunks[near].document, place) for near in around for place in range(chunks[near].start, chunks[near].end)
    }


def chat(*texts):
    turns = tuple(Turn(str(number), "user", text) for number, text in enumerate(texts))
    return History("h", "h", "test", (Session("s", "2024-03-15", turns),))


def test_chunks_start_every_1040_characters_and_stay_inside_a_turn():
    cut = history_windows(chat("x" * 2300, "y" * 1200))
    assert [(each.document, each.start, each.end) for each in cut] == [
        (0, 0, 1200),
        (0, 1040, 2240),
        (0, 2080, 2300),
        (1, 0, 1200),
    ]


def test_stop_words_find_nothing_and_ties_go_by_chunk_order():
    history = chat("Where is the cat?", "A bird.", "Snow", "Rain", "the cat is where")
    asked = [Question("q0", "h", "Where did the CAT go?", "x"), Question("q1", "h", "Where is it?", "x")]
    first, second = rank_history(history, asked)
    assert [each.centre for each in first.passages] == [0, 4]
    assert first.at(1) == first.passages[:1]
    assert second.passages == ()


def test_the_stop_list_has_56_words_and_keeps_those_that_the_short_rankings_need():
    assert len(STOP_WORDS) == 56
    assert {"where", "did", "when", "is", "the", "i"} <= STOP_WORDS
    assert not {"say", "live", "happening", "he", "so"} & STOP_WORDS


def test_a_question_about_another_history_is_refused():
    with pytest.raises(InputError, match="question q is about other, not h"):
        rank_history(chat("x"), [Question("q", "other", "x?", "x")])


def test_labels_name_date_and_speaker():
    assert turn_labels(chat("x")) == ("[15 March 2024] user: ",)
