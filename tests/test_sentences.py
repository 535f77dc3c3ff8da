"""Where sentences end and what is stripped from them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.text.sentences import split_sentences, strip_fillers


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Lee met Mrs. Ray.", ["Dr. Lee met Mrs. Ray."]),
        ("It costs 3.50 now. Fine", ["It costs 3.50 now.", "Fine"]),
        ("We met at 5 p.m. in Rome.", ["We met at 5 p.m. in Rome."]),
        ("- first point\n2. second point", ["first point", "second point"]),
        ("J. R. Smith wrote it.", ["J. R. Smith wrote it."]),
        ("!!! ...", []),
    ],
)
def test_sentences_end_at_stops_but_not_inside_abbreviations_or_numbers(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@given(st.text(alphabet="ab .!?\nA1", max_size=60))
def test_no_word_is_lost_or_moved(text: str) -> None:
    letters = [character for sentence in split_sentences(text) for character in sentence if character in "abA"]
    assert letters == [character for character in text if character in "abA"]


@pytest.mark.parametrize(
    ("sentence", "core"),
    [
        ("Hey Mel! I moved.", "I moved."),
        ("Wow, by the way, I moved, you know.", "I moved."),
        ("Thanks!", "Thanks!"),
        ("Sold it.", "Sold it."),
    ],
)
def test_fillers_go_and_content_stays(sentence: str, core: str) -> None:
    assert strip_fillers(sentence) == core


def test_a_closing_name_goes_only_when_it_is_a_listener() -> None:
    assert strip_fillers("I have a new coach, Petra.", ["Mel"]) == "I have a new coach, Petra."
    assert strip_fillers("I have a new coach, Petra.", ["Petra"]) == "I have a new coach."
