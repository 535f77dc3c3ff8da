"""Names, places, numbers, durations and frequencies found in text."""

import pytest

from memgauge.text.entities import find_names, find_places
from memgauge.text.numbers import find_durations, find_frequencies, find_numbers, word_value


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I read “Old Bridge” with Ann", ["Old Bridge", "Ann"]),
        ("Yesterday was fun", []),
        ("Milan has borrowed it", ["Milan"]),
        ("Running helps me", []),
        ("We saw the Bay of Kotor", ["Bay of Kotor"]),
        ("Then Ann's dog barked", ["Ann"]),
        ("On Monday in March I left", []),
    ],
)
def test_names_are_capitals_that_no_rule_explains(text: str, names: list[str]) -> None:
    assert [name.text for name in find_names(text)] == names


def test_a_known_name_counts_even_where_it_opens_the_text() -> None:
    assert find_names("Oscar, come here") == []
    assert [name.text for name in find_names("Oscar, come here", {"oscar"})] == ["Oscar"]


def test_offsets_point_at_the_name() -> None:
    text = "We met Ann Lee in Rome"
    assert [text[name.start : name.end] for name in find_names(text)] == ["Ann Lee", "Rome"]
    assert [name.text for name in find_places(text)] == ["Rome"]


def test_numbers_have_value_kind_and_noun() -> None:
    found = find_numbers("twenty-one boats, $2.5k, 10 dollars, 3rd place at 5:30, 7%")
    assert [(n.value, n.kind, n.noun) for n in found] == [
        (21.0, "plain", "boats"),
        (2500.0, "money", ""),
        (10.0, "money", ""),
        (7.0, "percent", ""),
    ]


def test_word_value_reads_digits_and_words() -> None:
    assert [word_value(word) for word in ("1,250", "dozen", "forty two", "lots")] == [1250.0, 12, 42, None]


def test_durations_are_measured_in_days() -> None:
    found = find_durations("for two weeks, half an hour, a couple of days and three years")
    assert [round(d.days, 3) for d in found] == [14, 0.021, 2, 1095.75]


def test_frequencies_are_found_as_said() -> None:
    text = "I run every morning, swim three times a week and call her on Sundays"
    assert find_frequencies(text) == ["every morning", "three times a week", "on Sundays"]
