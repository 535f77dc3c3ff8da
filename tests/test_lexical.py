"""Answer metrics: hard inputs with the value to assert, and properties that hold for any text."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.errors import InputError
from memgauge.metrics.lexical import (
    best,
    contains_match,
    contains_match_strict,
    multiset_f1,
    squad_f1,
    token_f1,
    unusable,
)
from memgauge.metrics.locomo import explained_part, locomo_f1, stem_f1
from memgauge.text.normalise import ARTICLES, all_tokens, tokens
from memgauge.text.polarity import answer_polarity, gold_polarity
from memgauge.text.refusals import is_refusal

TEXT = st.text(max_size=30) | st.text(st.sampled_from("aAtheno 135.,-+$’'\u200b北京?!"), max_size=12)


# Empty answers


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("", "", 1.0),
        ("", "Paris", 0.0),
        ("Paris", "", 0.0),
        ("1", "1", 1.0),
        (None, "", 1.0),
        (None, "Paris", 0.0),
    ],
)
def test_f1_of_empty_and_short_answers(answer: str | None, gold: str, expected: float) -> None:
    assert token_f1(answer, gold) == expected
    assert contains_match(answer, gold) is bool(expected)


def test_a_gold_without_letters_is_unscorable_with_a_reason_and_skipped_beside_a_usable_one() -> None:
    assert token_f1("Paris", "???") is None
    assert contains_match("Paris", "???") is None
    assert unusable("???") == "gold '???' holds no letter or digit"
    assert best(token_f1, "Paris", ["???", "Paris", "Rome"]) == 1.0
    assert best(contains_match, "Paris", ["???"]) is None


# F1 variants


def test_a_repeated_answer_is_punished() -> None:
    assert token_f1("Paris Paris Paris Paris Paris", "Paris") == pytest.approx(1 / 3, abs=1e-15)


def test_three_variants_give_three_numbers() -> None:
    answer, gold = "running and painting", "running, painting"
    assert token_f1(answer, gold) == pytest.approx(0.8)
    assert locomo_f1(answer, gold, "single-hop") == 1.0
    assert locomo_f1(answer, gold, "multi-hop") == pytest.approx(2 / 3)


def test_decimal_points_count_by_default_and_not_in_plain_squad() -> None:
    assert (token_f1("35", "3.5"), token_f1("1.0", "1")) == (0.0, 1.0)
    assert (squad_f1("35", "3.5"), squad_f1("1.0", "1")) == (1.0, 0.0)


def test_currency_signs_do_not_count_for_f1_but_do_for_contains() -> None:
    assert token_f1("5", "$5") == 1.0
    assert contains_match("5", "$5") is False
    assert contains_match("€5", "$5") is False


# Contains match


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("no", "know"),
        ("Max", "maximum"),
        ("UK", "Ukraine"),
        ("two", "network"),
        ("5", "15"),
        ("yes", "yesterday"),
        ("3", "3.5"),
        ("5", "3.5"),
        ("1", "1,000"),
        ("000", "1,000"),
        ("100", "1000"),
        ("5", "-5"),
        ("$5", "$50"),
        ("$5", "$5.50"),
        ("C++", "C"),
        ("12", "12:30"),
        ("1", "1/2"),
        ("1.2", "1.2.3"),
        ("won", "I won't"),
        ("3.5", "3.5km"),
        ("北京", "北大京"),
    ],
)
def test_contains_needs_word_edges(gold: str, answer: str) -> None:
    assert contains_match(answer, gold) is False


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("Max", "Max."),
        ("UK", "(UK)"),
        ("two", "two-day"),
        ("C++", "I write C++, mostly."),
        ("C++", "C++"),
        ("$5", "It was $5."),
        ("5", "$5"),
        ("1,000", "about 1000 people"),
        ("1000", "1,000.00"),
        ("3.5", "3.50!"),
        ("Caroline", "Caroline's dog"),
        ("the office", "The  Office"),
        ("A", "I got an A."),
        ("Vitamin A", "It was vitamin A again"),
        ("The", "the"),
        ("北京", "我住在北京"),
        ("서울", "서울에 살아요"),
        ("U.S.", "in the US"),
        ("Charlotte’s Web", "reading Charlotte's Web now"),
        ("50%", "50 % of them"),
    ],
)
def test_contains_finds_the_gold_at_word_edges(gold: str, answer: str) -> None:
    assert contains_match(answer, gold) is True


def test_the_strict_variant_is_the_raw_substring() -> None:
    assert contains_match_strict("I know", "no") is True
    assert contains_match_strict("paris", "Paris") is False
    assert contains_match_strict("The U.S. team", "US") is False
    assert contains_match_strict("", "") is True


# Characters


def test_invisible_and_typographic_characters_do_not_matter(real_data: Path) -> None:
    conversations = {each["sample_id"]: each for each in json.loads((real_data / "locomo10.json").read_text())}
    gold = conversations["conv-49"]["qa"][19]["answer"]
    assert "\u200b" in gold
    plain = gold.replace("\u200b", "")
    assert token_f1(plain, gold) == token_f1(gold, plain) == 1.0
    assert contains_match(plain, gold) is True
    assert squad_f1(plain, gold) == pytest.approx(6 / 7, abs=1e-9)
    assert token_f1("Charlotte’s Web", "Charlotte's Web") == 1.0


def test_text_without_spaces_gives_one_token_a_character() -> None:
    assert token_f1("我住在北京", "北京") == pytest.approx(4 / 7)
    assert token_f1("I live in Paris", "Paris") == pytest.approx(0.4)
    assert token_f1("Paris 北京", "京 Paris") == pytest.approx(0.8)


# Yes and no


@pytest.mark.parametrize(
    ("gold", "side"),
    [
        ("No", "no"),
        ("Yes", "yes"),
        ("Likely no; she wants to be a counsellor", "no"),
        ("LIkely no; though she likes reading", "no"),
        ("Most likely yes, because he said so", "yes"),
        ("Presumably not", "no"),
        ("Yes; he want's to grow", "yes"),
        ("likely no more than 30; since she's in school", None),
        ("Yesteammates on hisvideo game team.", None),
        ("Not tough; keep their area clean", None),
        ("Somewhat, but not extremely religious", None),
        ("No. 5", None),
        ("No-fly zone", None),
        ("Norway", None),
    ],
)
def test_the_side_of_a_yes_no_gold(gold: str, side: str | None) -> None:
    assert gold_polarity(gold) == side


@pytest.mark.parametrize(
    ("answer", "side"),
    [
        ("There is no doubt: yes.", "yes"),
        ("Yes. She went there on Monday.", "yes"),
        ("Yes, at first. But in the end, no.", "no"),
        ("No, she said yes to the job.", "no"),
        ("**No**", "no"),
        ("No he isn't.", "no"),
        ("Probably not.", "no"),
        ("The answer is no because she is busy", "no"),
        ("I know", None),
        ("yesterday", None),
        ("No information available.", None),
        ("I don't know", None),
        ("No, the context does not mention it.", None),
        ("There is no reason.", None),
        ("She lives at no. 5", None),
        ("No. 5 is her house", None),
        ("Room no. 5", None),
        ("Room No.5: yes", "yes"),
        ("No. Five of them left.", "no"),
        ("not yes", None),
        ("", None),
    ],
)
def test_the_side_an_answer_ends_on(answer: str, side: str | None) -> None:
    assert answer_polarity(answer) == side


def test_yes_no_golds_compare_sides_instead_of_substrings() -> None:
    assert contains_match("There is no doubt: yes.", "No") is False
    assert contains_match("There is no doubt: yes.", "Yes") is True
    assert contains_match("No", "Likely no; she wants to be a counsellor") is True
    assert contains_match("Yes, likely", "Likely no") is False
    assert contains_match("She lives at no. 5", "No") is False
    assert contains_match("not yes", "Yes") is False


def test_only_the_part_before_the_semicolon_is_an_open_domain_gold() -> None:
    gold = "Likely no; she wants to be a counsellor"
    assert explained_part(gold) == "Likely no"
    assert locomo_f1("likely no", gold, "open-domain") == 1.0
    assert locomo_f1("likely no", gold, "single-hop") < 0.5


# LoCoMo's own F1


def test_locomo_f1_compares_stems_and_drops_and() -> None:
    assert stem_f1("She paints and runs", "she painted, running") == 1.0
    assert stem_f1("", "") == 0.0


def test_locomo_multi_hop_averages_the_best_part_of_each_gold_part() -> None:
    # "rome" meets "rome" (1), "new york" meets "york" (2/3), "oslo" meets nothing (0)
    assert locomo_f1("Rome, York", "Rome, New York, Oslo", "multi-hop") == pytest.approx((1 + 2 / 3 + 0) / 3)


def test_locomo_adversarial_looks_for_refusal_phrases_only() -> None:
    assert locomo_f1("No information available", "", "adversarial") == 1.0
    assert locomo_f1("It is Not mentioned.", "", "adversarial") == 1.0
    assert locomo_f1("the trap", "the trap", "adversarial") == 0.0


def test_an_unknown_category_is_named() -> None:
    with pytest.raises(InputError, match="unknown LoCoMo category 'elaboration'; choose from adversarial"):
        locomo_f1("a", "b", "elaboration")


# Abstention


@pytest.mark.parametrize(
    "answer",
    [
        "I don't know",
        "I don’t know.",
        "No information available.",
        "Not mentioned in the conversation",
        "The context doesn't mention a hamster.",
        "Based on the context, it cannot be determined.",
        "You did not mention this. You mentioned your cat but not a hamster.",
        "There is not enough information to answer.",
        "Unknown",
        "**I don't know**",
        "There is no evidence of that.",
        "It is not possible to determine this.",
        "It is impossible to tell.",
        "That was not discussed.",
        "We don't know",
        "It doesn't say.",
        "I don't have any record of that",
        "I'm sorry. I don't know.",
        "Sorry, but I don't know.",
        "No information",
        "No information about her cat.",
    ],
)
def test_refusals_are_told(answer: str) -> None:
    assert is_refusal(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Paris. The exact year is not mentioned.",
        "She has a dog. However, I don't know its name.",
        "I do not know the exact year, but it was Paris.",
        "Paris. I don't know the year.",
        "No information was lost in Paris",
        "He does not know Ann.",
        'She said "I don\'t know"',
        "The Unknown Soldier",
        "None of that came up",
        "a red car",
        "No",
    ],
)
def test_answers_are_not_refusals(answer: str) -> None:
    assert not is_refusal(answer)


@given(TEXT, TEXT)
def test_scores_stay_in_range_and_f1_is_symmetric(one: str, other: str) -> None:
    score = token_f1(one, other)
    assert score is None or 0 <= score <= 1
    # An article counts only beside a gold that ends in one, so the sides may swap where there is none.
    if score is not None and unusable(one) is None and not ARTICLES & {*all_tokens(one), *all_tokens(other)}:
        assert score == token_f1(other, one)


@given(TEXT)
def test_a_usable_gold_matches_itself(text: str) -> None:
    if unusable(text) is None:
        assert token_f1(text, text) == 1.0
        if gold_polarity(text) is None:
            assert contains_match(text, text) is True
        assert contains_match_strict(text, text) is True


# Properties


@given(TEXT, st.sampled_from(["It is ", "So, ", "(", '"', "x "]), st.sampled_from([".", "!", ")", " then", ""]))
def test_a_gold_is_found_between_edges(gold: str, before: str, after: str) -> None:
    plain = gold.replace("-", "").replace("'", "").replace(".", "").replace(",", "").replace("+", "")
    if unusable(plain) is None and tokens(plain) and plain.isalnum() and not gold_polarity(plain):
        assert contains_match(f"{before}{plain}{after}", plain) is True


@given(st.lists(st.sampled_from("abc"), max_size=6), st.lists(st.sampled_from("abc"), max_size=6))
def test_multiset_f1_is_the_harmonic_mean_of_precision_and_recall(words: list[str], golds: list[str]) -> None:
    score = multiset_f1(words, golds)
    if not words or not golds:
        assert score == float(words == golds)
        return
    shared = sum(min(count, Counter(golds)[word]) for word, count in Counter(words).items())
    precision, recall = shared / len(words), shared / len(golds)
    expected = 2 * precision * recall / (precision + recall) if shared else 0.0
    assert score == pytest.approx(expected)


def test_every_locomo_gold_is_usable_and_matches_itself(real_data: Path) -> None:
    golds = [
        str(question["answer"])
        for conversation in json.loads((real_data / "locomo10.json").read_text())
        for question in conversation["qa"]
        if question["category"] != 5
    ]
    assert len(golds) == 1540
    assert [gold for gold in golds if unusable(gold)] == []
    assert [gold for gold in golds if token_f1(gold, gold) != 1 or not contains_match(gold, gold)] == []
    # 33 open with yes or no, 8 more with "likely yes", "presumably not" and the like.
    assert sum(gold_polarity(gold) is not None for gold in golds) == 41
