"""Gists, ratings, steps and look-ups: what is shown, how strictly replies are read, what no model gives instead."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from memgauge.solvers.extractive.choices import choose_children, choose_pages
from memgauge.solvers.extractive.gist import write_gists
from memgauge.solvers.extractive.importance import rate_importances
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.tasks.base import ParseFailure, Task
from memgauge.tasks.choose_child import ChooseChild
from memgauge.tasks.choose_pages import ChoosePages
from memgauge.tasks.rate_importance import RateImportance
from memgauge.tasks.write_gist import WriteGist
from memgauge.text.tokens import count_tokens

NOTES = ((None, "Ann moved to Lisbon."), ("2023-05-08", "Bob adopted two cats."), (None, "Cy plays chess."))
FAILED = "failed"


class StemEncoder:
    """Bags of stems over 256 places."""

    def encode(self, texts: Sequence[str]) -> Any:
        rows = np.zeros((len(texts), 256), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for stem in content_stems(text):
                row[sum(map(ord, stem)) * 7 % 256] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def solve(method: Any, *tasks: Any) -> Any:
    return method(tasks, Vectors(StemEncoder()), Weights())


def read(task: Any, reply: str) -> Any:
    parsed = task.parse(reply)
    return FAILED if isinstance(parsed, ParseFailure) else parsed


# --- reading replies


@pytest.mark.parametrize(
    ("reply", "rating"),
    [
        ("7", 7), (" 10\n", 10), ("1.", 1), ("8/10", 8), ("8 out of 10", 8), ("Importance: 6", 6), ("**9**", 9),
        ("Rating is 3", 3), ("0", FAILED), ("11", FAILED), ("-3", FAILED), ("7.5", FAILED), ("7 or 8", FAILED),
        ("7, since she has 2 cats", FAILED), ("seven", FAILED), ("Very important!", FAILED), ("", FAILED),
        ("重要度は七です", FAILED), ("٧", FAILED), ("9" * 5000, FAILED), ("7\n8", FAILED), ("7/100", FAILED),
    ],
)  # fmt: skip
def test_a_rating_is_one_whole_number_on_the_scale(reply: str, rating: Any) -> None:
    assert read(RateImportance(None, ()), reply) == rating


@pytest.mark.parametrize(
    ("reply", "move"),
    [
        ("1", 0), ("3.", 2), ("[3]", 2), ("Part 1", 0), ("Open part 1", 0), ("Answer: 3", 2), ("BACK", "back"),
        ("stop.", "stop"), ("**STOP**", "stop"), ("2", FAILED), ("0", FAILED), ("4", FAILED), ("-1", FAILED),
        ("1 or 3", FAILED), ("part 1 and part 3", FAILED), ("I think part 1 is best", FAILED), ("", FAILED),
        ("go back to 1", FAILED), ("Retour", FAILED), ("1" * 5000, FAILED), ("part " * 5000, FAILED), ("1.5", FAILED),
    ],
)  # fmt: skip
def test_a_step_is_one_move_that_is_open(reply: str, move: Any) -> None:
    assert read(ChooseChild("Who?", None, NOTES, seen=(1,), back=True), reply) == move


def test_no_way_back_from_the_top_and_no_part_below_the_bottom() -> None:
    assert read(ChooseChild("Who?", None, NOTES), "back") == FAILED
    assert read(ChooseChild("Who?", NOTES[0], (), back=True), "1") == FAILED
    assert read(ChooseChild("Who?", NOTES[0], (), back=True), "back") == "back"


@pytest.mark.parametrize(
    ("reply", "pages"),
    [
        ("2", (1,)), ("3, 1", (2, 0)), ("page 3 and 1", (2, 0)), ("Pages: 3 & 1.", (2, 0)), ("[1] [3]", (0, 2)),
        ("1\n2", (0, 1)), ("3, 3", (2,)), ("3, 03", (2,)), ("none", ()), ("None.", ()), ("Pages: none", ()),
        ("1, 2, 3", FAILED), ("1, 1, 1", FAILED), ("0", FAILED), ("1, 4", FAILED), ("-1", FAILED),
        ("1.5", FAILED), ("1-3", FAILED),
        ("page three", FAILED), ("Page 1 because it names Ann", FAILED), ("", FAILED), ("all", FAILED),
        (", ".join(map(str, range(10_000))), FAILED), ("1 " * 9999 + "x", FAILED), ("1" * 9999 + "x", FAILED),
        ("第一頁", FAILED), ("No pages", FAILED),
    ],
)  # fmt: skip
def test_pages_are_a_list_of_numbers_within_the_limit(reply: str, pages: Any) -> None:
    assert read(ChoosePages("Who?", NOTES, 2), reply) == pages


@pytest.mark.parametrize(
    ("reply", "gist"),
    [
        ("Ann moved.", "Ann moved."), ("  Ann moved.\n\n\n Bob did not. ", "Ann moved.\nBob did not."),
        ("安は引っ越した。", "安は引っ越した。"), ("", FAILED), (" \n---\n…", FAILED),
    ],
)  # fmt: skip
def test_a_gist_is_any_text_with_a_word(reply: str, gist: Any) -> None:
    assert read(WriteGist(None, (), 50), reply) == gist


# --- what a language model is shown


def test_tasks_keep_the_contract() -> None:
    for task in (WriteGist(None, (), 9), RateImportance(None, ()), ChooseChild("", None, ()), ChoosePages("", (), 1)):
        assert isinstance(task, Task)
        assert [message["role"] for message in task.messages()] == ["system", "user"]
        assert "None" not in task.messages()[1]["content"]


def test_a_step_shows_place_parts_question_date_and_the_open_moves() -> None:
    task = ChooseChild("Who has {cats}?", (None, "Three friends."), NOTES, (1,), True, "2023-06-01")
    content = task.messages()[1]["content"]
    for part in ("Three friends.", "Part 3\nCy plays chess.", "[8 May 2023]\nBob adopted", "Who has {cats}?"):
        assert part in content
    assert "Part 2 (already opened)" in content
    assert "Today is 1 June 2023." in content
    assert "(1, 3)" in content
    assert "BACK" in content
    assert "BACK" not in ChooseChild("Who?", None, NOTES).messages()[1]["content"]
    assert "Part" not in ChooseChild("Who?", NOTES[0], (), back=True).messages()[1]["content"]


def test_a_look_up_shows_all_gists_before_the_question() -> None:
    content = ChoosePages("Who has cats?", NOTES, 2).messages()[1]["content"]
    parts = ("Page 1\nAnn moved", "Page 2 [8 May 2023]\nBob", "Page 3\nCy", "Who has cats?", "at most 2")
    assert [content.index(part) for part in parts] == sorted(content.index(part) for part in parts)
    assert "Today" not in content


def test_an_exchange_and_a_page_are_shown_with_speakers_and_date() -> None:
    for task in (RateImportance("2023-05-08", (("Ann", "Hi"),)), WriteGist("2023-05-08", (("Ann", "Hi"),), 40)):
        assert "8 May 2023\nAnn: Hi\n" in task.messages()[1]["content"]
    assert "40 tokens" in WriteGist(None, (), 40).messages()[1]["content"]


# --- without a language model

TURNS = (
    ("Ann", "I moved to Lisbon on 3 March and I love the food there."),
    ("Ann", "I decided to quit my job at the bank."),
    ("Bob", "I adopted a puppy named Biscuit yesterday."),
)


@pytest.mark.parametrize("budget", [0, 5, 20, 35, 60, 500])
def test_a_gist_keeps_its_budget(budget: int) -> None:
    (gist,) = solve(write_gists, WriteGist("2023-05-08", TURNS, budget))
    assert count_tokens(gist) <= budget


def test_a_gist_names_a_speaker_once_for_sentences_in_a_row() -> None:
    (gist,) = solve(write_gists, WriteGist("2023-05-08", TURNS, 500))
    assert gist.splitlines() == [
        "Ann: I moved to Lisbon on 3 March and I love the food there. I decided to quit my job at the bank.",
        "Bob: I adopted a puppy named Biscuit yesterday (7 May 2023).",
    ]


def test_what_a_gist_saves_on_speakers_buys_more_sentences() -> None:
    turns = tuple(
        ("Caroline-Anne", f"I decided to visit {city} with Tom.") for city in ("Oslo", "Rome", "Bath", "Kyiv")
    )
    (gist,) = solve(write_gists, WriteGist(None, turns, 46))
    separate = "\n".join(f"{speaker}: {text}" for speaker, text in turns)
    assert count_tokens(separate) > 46
    assert gist.count("I decided") == 4


def test_importance_grows_with_what_is_told() -> None:
    said = [
        "Hey, how are you?",
        "Sounds good to me.",
        "I like tea a lot.",
        "I decided to move to Lisbon on 3 March 2023.",
    ]
    ratings = solve(rate_importances, *(RateImportance(None, (("Ann", text),)) for text in said))
    assert ratings[0] == 1
    assert ratings == sorted(ratings)
    assert ratings[3] >= ratings[2] + 3
    assert all(1 <= rating <= 10 for rating in ratings)


def test_a_rating_depends_on_its_exchange_alone_and_stays_on_the_scale() -> None:
    loud = RateImportance(
        None, (("Ann", "I never told Zoe, Tom and Max that I hate, love and quit 3 jobs on 7 May 2021. " * 99),)
    )
    others = [RateImportance(None, (("Ann", f"I bought {number} xylophones."),)) for number in range(5)]
    assert solve(rate_importances, loud, *others)[0] == solve(rate_importances, loud)[0] == 10
    assert solve(rate_importances, RateImportance(None, ()), RateImportance(None, (("Ann", "🙂"),))) == [1, 1]


def test_a_step_takes_the_likest_part_then_the_next_within_the_margin_then_back() -> None:
    parts = ((None, "Bob adopted cats."), (None, "Ann: Hi.\nBob adopted cats."), (None, "Cy plays chess."))
    question = "Which cats did Bob adopt?"
    moves = [ChooseChild(question, None, parts, seen, back=True) for seen in ((), (0,), (0, 1))]
    assert solve(choose_children, *moves) == [0, 1, "back"]
    assert solve(choose_children, ChooseChild(question, None, parts, (0, 1))) == ["stop"]


def test_at_the_bottom_a_walk_ends_where_every_content_word_is() -> None:
    place = (None, "Bob adopted two cats.")
    steps = [ChooseChild(question, place, (), back=True) for question in ("Who adopted cats?", "Who adopted birds?")]
    assert solve(choose_children, *steps) == ["stop", "back"]


def test_pages_come_likest_first_within_margin_and_limit() -> None:
    gists = ((None, "Cy plays chess."), (None, "Bob adopted cats."), (None, "Ann: Hi.\nBob: I adopted cats."))
    task = ChoosePages("Which cats did Bob adopt?", gists, 5)
    assert solve(choose_pages, task) == [(1, 2)]
    assert solve(choose_pages, ChoosePages("Which cats did Bob adopt?", gists, 1)) == [(1,)]
    assert solve(choose_pages, ChoosePages("Who?", (), 5)) == [()]
    assert solve(choose_pages, ChoosePages("", gists, 2)) == [(0, 1)]  # no word to tell them apart: by position
