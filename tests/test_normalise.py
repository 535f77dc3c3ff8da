"""The normal form: hand-made spellings and the properties every metric leans on."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.text.normalise import clean_unicode, is_word, normalise, tokens

ODD = st.text(
    st.sampled_from("aA1205.,:/-'’+#$€%_ \t\n\u200b\u00adß½²ŉİé\u0301北京の서울ไทยीक３٣“”—−⁄`?!"), max_size=12
)


@given(st.text(max_size=40) | ODD)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(st.text(max_size=40) | ODD)
def test_cleaning_twice_changes_nothing_and_leaves_no_format_character(text: str) -> None:
    once = clean_unicode(text)
    assert clean_unicode(once) == once
    assert not any(unicodedata.category(character) == "Cf" for character in once)
    assert unicodedata.is_normalized("NFKC", once)


@given(st.text(max_size=40) | ODD)
def test_case_and_outer_space_never_matter(text: str) -> None:
    assert tokens(f" \n{text}\t") == tokens(text)
    assert tokens(clean_unicode(text).casefold()) == tokens(text)


@given(st.text(max_size=40) | ODD)
def test_tokens_hold_no_space_and_rebuild_the_normal_form(text: str) -> None:
    found = tokens(text)
    assert all(token and not any(character.isspace() for character in token) for token in found)
    if found:
        assert normalise(text).split(" ") == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,000", ["1000"]),
        ("1,234,567.50", ["1234567.5"]),
        ("1234,567", ["1234", "567"]),
        ("1,00", ["1", "00"]),
        ("1,000,50", ["1", "000", "50"]),
        ("1, 2 and 3", ["1", "2", "and", "3"]),
        ("3.5", ["3.5"]),
        ("1.0", ["1"]),
        (".5", ["0.5"]),
        ("-5 (-3) 5-3", ["-5", "-3", "5", "3"]),
        ("1.2.3", ["1.2.3"]),
        ("7:30 and 1/2", ["7:30", "and", "1/2"]),
        ("3½", ["3", "1/2"]),
        ("10²", ["10", "2"]),
        ("٣ ３", ["3", "3"]),
    ],
)
def test_numbers_keep_their_value(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Charlotte’s Web", "Charlotte's Web"),
        ("caf\u00e9", "cafe\u0301"),
        ("ＧＰＵ", "gpu"),
        ("zero\u200bwidth\u2060", "zerowidth"),
        ("\u202bright\u202c", "right"),
        ("well—known", "well-known"),
        ("well‑known", "well – known"),
        ("“So” she said", '"so" she said'),
        ("The U.S. team", "a US team"),
        ("STRASSE", "straße"),
    ],
)
def test_spellings_of_the_same_words_are_equal(one: str, other: str) -> None:
    assert tokens(one) == tokens(other)


@pytest.mark.parametrize(
    ("one", "other"), [("C++", "C"), ("C#", "C"), ("A+", "A"), ("35", "3.5"), ("10²", "102"), ("3½", "31/2")]
)
def test_marks_that_carry_meaning_are_kept(one: str, other: str) -> None:
    assert tokens(one) != tokens(other)


def test_text_of_articles_or_marks_only_still_means_itself() -> None:
    assert (normalise("A"), normalise("The"), normalise("???"), normalise("")) == ("a", "the", "???", "")
    assert tokens("???") == []


def test_unspaced_scripts_give_one_token_a_character() -> None:
    assert tokens("我住在北京 in 2023年") == ["我", "住", "在", "北", "京", "in", "2023", "年"]
    assert tokens("서울에") == ["서", "울", "에"]
    assert tokens("портфель Ann") == ["портфель", "ann"]


@given(st.text(max_size=20))
def test_a_word_token_holds_a_letter_or_digit(text: str) -> None:
    for token in tokens(text):
        assert is_word(token) or unicodedata.category(token[0]) in {"Sc", "Mn", "Mc", "Me"}
