"""What prepared data promise: exact round trip, selections that can fail loudly, ids that lead somewhere."""

import dataclasses
import itertools
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.datasets.describe import describe
from memgauge.datasets.prepared import read_prepared, write_prepared
from memgauge.errors import InputError
from memgauge.records import History, Question, Session, Turn


def history(name: str, split: str = "test") -> History:
    turns = (Turn(f"{name}-1", "Ann", "hello world"), Turn(f"{name}-2", "Ben", "hi", "a cat"))
    return History(name, name, split, (Session("s", "2023-05-08T13:56", turns),))


def asked(name: str, *types: str) -> tuple[Question, ...]:
    return tuple(
        Question(f"{name}-q{n}", name, "Who?", kind, golds=("Ann",), evidence=(f"{name}-1",))
        for n, kind in enumerate(types)
    )


PAIRS = [
    (history("a"), asked("a", "x", "y", "x")),
    (history("b", "train"), asked("b", "y")),
    (history("c"), asked("c", "x", "z")),
]


def kept(folder: Path, **limits: object) -> list[str]:
    write_prepared(folder, iter(PAIRS), Counter(), limits)
    return [question.id for question in read_prepared(folder).questions]


def test_round_trip_is_exact_and_quirks_of_zero_are_dropped(tmp_path):
    write_prepared(tmp_path / "demo", iter(PAIRS), Counter(odd=2, none=0), {})
    found = read_prepared(tmp_path / "demo")
    assert found.name == "demo"
    assert found.histories == tuple(h for h, _ in PAIRS)
    assert found.questions == tuple(q for _, qs in PAIRS for q in qs)
    assert found.quirks == {"odd": 2}


text = st.text(st.characters(exclude_categories=["Cs"]))


@given(text, text, st.none() | text)
def test_any_text_survives_the_round_trip(tmp_path_factory, words, gold, caption):
    folder = tmp_path_factory.mktemp("prepared")
    one = History("h", "g", "val", (Session("s", None, (Turn("t", words, gold, caption),)),))
    question = Question("q", "h", words, "x", golds=(gold,), trap=caption)
    write_prepared(folder, [(one, (question,))], Counter(), {})
    assert read_prepared(folder).histories == (one,)
    assert read_prepared(folder).questions == (question,)


def test_writing_twice_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        write_prepared(tmp_path / name, iter(PAIRS), Counter(z=1, a=2), {})
    for name in ("histories.jsonl", "questions.jsonl", "quirks.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize(
    ("limits", "questions"),
    [
        ({}, ["a-q0", "a-q1", "a-q2", "b-q0", "c-q0", "c-q1"]),
        ({"histories": 1}, ["a-q0", "a-q1", "a-q2"]),
        ({"histories": ["c"]}, ["c-q0", "c-q1"]),
        ({"types": ["x"]}, ["a-q0", "a-q2", "c-q0"]),
        ({"per_history": 1}, ["a-q0", "b-q0", "c-q0"]),
        ({"per_type": 1}, ["a-q0", "a-q1", "c-q1"]),
        ({"splits": ["train"]}, ["b-q0"]),
        ({"splits": ["test"], "types": ["y", "z"], "per_type": 5}, ["a-q1", "c-q1"]),
        ({"types": None, "histories": None}, ["a-q0", "a-q1", "a-q2", "b-q0", "c-q0", "c-q1"]),
    ],
)
def test_limits_keep_exactly_these_questions(tmp_path, limits, questions):
    assert kept(tmp_path, **limits) == questions


def test_histories_without_kept_questions_are_left_out_and_counted(tmp_path):
    write_prepared(tmp_path, iter(PAIRS), Counter(), {"types": ["x"]})
    found = read_prepared(tmp_path)
    assert [item.id for item in found.histories] == ["a", "c"]
    assert found.quirks == {"histories_without_kept_questions": 1}


def test_reading_stops_when_enough_histories_are_kept(tmp_path):
    endless = ((history(f"h{n}"), asked(f"h{n}", "x")) for n in itertools.count())
    write_prepared(tmp_path, endless, Counter(), {"histories": 2})
    assert [item.id for item in read_prepared(tmp_path).histories] == ["h0", "h1"]


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"type": ["x"]}, "keys are histories, per_type, per_history, types, splits"),
        ({"per_type": "3"}, "select"),
        ({"per_type": 0}, "at least 1"),
        ({"histories": 0}, "at least 1"),
        ({"types": ["w"]}, "'w' does not occur; choose from x, y, z"),
        ({"histories": ["d"]}, "'d' does not occur"),
        ({"splits": ["val"]}, "nothing is left"),
    ],
)
def test_wrong_or_empty_selections_are_one_error_and_leave_no_file(tmp_path, limits, words):
    with pytest.raises(InputError, match=words):
        write_prepared(tmp_path, iter(PAIRS), Counter(), limits)
    assert not list(tmp_path.iterdir())


def test_broken_ids_are_refused(tmp_path):
    first, questions = PAIRS[0]
    lost = (dataclasses.replace(questions[0], evidence=("nowhere",)),)
    astray = (dataclasses.replace(questions[0], history_id="b"),)
    twice = dataclasses.replace(first, sessions=first.sessions * 2)
    for pairs in ([PAIRS[0], PAIRS[0]], [(twice, questions)], [(first, lost)], [(first, astray)]):
        with pytest.raises(InputError):
            write_prepared(tmp_path, pairs, Counter(), {})
        assert not list(tmp_path.iterdir())


def test_description_counts_by_hand(models):
    numbers = describe("demo", iter(PAIRS), Counter(odd=1, none=0))
    assert numbers["histories"] == numbers["groups"] == numbers["sessions"] == 3
    assert (numbers["turns"], numbers["turns_with_caption"], numbers["questions"]) == (6, 3, 6)
    assert numbers["questions_by_type"] == {"x": 3, "y": 2, "z": 1}
    assert numbers["histories_by_split"] == {"test": 2, "train": 1}
    assert numbers["quirks"] == {"odd": 1}
    assert numbers["tokens_content"] == 3 * 3  # "hello world" is two tokens, "hi" one
    assert numbers["history_tokens"]["min"] == numbers["history_tokens"]["max"] == numbers["tokens"] // 3


def test_description_of_nothing_has_no_invented_numbers():
    numbers = describe("none", [], {})
    assert numbers["histories"] == numbers["tokens"] == 0
    assert numbers["history_tokens"] == {"min": None, "max": None}
