"""One answer scored: what is scored, what is missing, and why."""

from dataclasses import replace
from typing import Any

import pytest

from memgauge.metrics.scoring import ScoredItem, score_item, usable_golds
from memgauge.protocol.conditions import CUT_ENTRY
from memgauge.protocol.questions import entry_texts
from memgauge.records import Answer, Context, Entry, Question, Store
from memgauge.text.tokens import count_tokens

QUESTION = Question("q1", "h1", "Where does Ann live?", "single-hop", ("Rome", "???"), evidence=("D1:1",))
ANSWER = Answer("q1", "RM", "In Rome.", "ok", 12)
ENTRIES = ["Ann: I live in Rome", "Bob: nice"]


def score(question: Question = QUESTION, answer: Answer = ANSWER, **changes: Any) -> ScoredItem:
    given: dict[str, Any] = {
        "group": "g1",
        "evidence_texts": ["Ann: I live in Rome now"],
        "context_text": "\n".join(ENTRIES),
        "entry_texts": ENTRIES,
        "official_locomo": True,
    }
    return score_item(question, answer, **{**given, **changes})


def test_an_answer_gets_every_metric() -> None:
    item = score()
    assert item == ScoredItem(
        question_id="q1",
        history_id="h1",
        group="g1",
        type="single-hop",
        condition="RM",
        status="ok",
        abstention=False,
        refused=False,
        contains_match=1.0,
        contains_match_strict=1.0,
        token_f1=2 / 3,
        locomo_f1=2 / 3,
        answer_tokens=count_tokens("In Rome."),
        context_tokens=12,
        unscorable=None,
        turn_recall=1.0,
        span_recall=1.0,
    )


def test_the_official_f1_is_for_locomo_only() -> None:
    other = score(replace(QUESTION, type="single-session-user"), official_locomo=False)
    assert other.locomo_f1 is None
    assert other.token_f1 == 2 / 3


@pytest.mark.parametrize("status", ["empty", "truncated", "parse_error", "provider_error", "context_truncated"])
def test_a_failed_answer_is_missing_and_never_zero(status: Any) -> None:
    item = score(answer=replace(ANSWER, status=status, text="I don't know"))
    assert (item.status, item.refused, item.unscorable) == (status, False, None)
    assert [item.contains_match, item.contains_match_strict, item.token_f1, item.locomo_f1] == [None] * 4
    assert (item.turn_recall, item.span_recall) == (1.0, 1.0)


@pytest.mark.parametrize("condition", ["NM", "TFC", "OE"])
def test_recalls_belong_to_memories_only(condition: Any) -> None:
    item = score(answer=replace(ANSWER, condition=condition))
    assert (item.turn_recall, item.span_recall) == (None, None)
    assert item.contains_match == 1.0


@pytest.mark.parametrize(
    ("text", "refused"),
    [("self-care is important", False), ("None of that came up", False), ("I don't know.", True)],
)
def test_an_abstention_question_has_no_gold_and_its_trap_scores_nothing(text: str, refused: bool) -> None:
    question = Question("q2", "h1", "?", "adversarial", abstention=True, trap="self-care is important")
    item = score(question, replace(ANSWER, question_id="q2", text=text))
    assert (item.abstention, item.refused, item.unscorable) == (True, refused, None)
    assert [item.contains_match, item.contains_match_strict, item.token_f1, item.locomo_f1] == [None] * 4
    assert (item.turn_recall, item.span_recall) == (None, None)


def test_an_abstention_item_keeps_its_type() -> None:
    question = Question("q_abs", "h1", "?", "multi-session", abstention=True)
    item = score(question, replace(ANSWER, text="I don't know."), official_locomo=False)
    assert (item.type, item.abstention, item.refused) == ("multi-session", True, True)


def test_an_abstention_question_with_a_gold_is_still_not_scored() -> None:
    question = Question("q3", "h1", "?", "adversarial", ("No",), abstention=True)
    assert score(question, replace(ANSWER, text="No")).contains_match is None


def test_unusable_golds_are_named() -> None:
    item = score(replace(QUESTION, golds=("???",)))
    assert item.unscorable == "gold '???' holds no letter or digit"
    assert (item.contains_match, item.token_f1, item.locomo_f1) == (None, None, None)
    assert score(replace(QUESTION, golds=())).unscorable == "no gold text"


def test_a_refusal_to_an_answerable_question_is_a_scored_wrong_answer() -> None:
    item = score(answer=replace(ANSWER, text="I don't know"))
    assert (item.refused, item.contains_match, item.token_f1) == (True, 0.0, 0.0)


def test_an_open_domain_gold_ends_at_the_semicolon() -> None:
    gold = "Likely no; she wants to be a counsellor"
    explained = replace(QUESTION, type="open-domain", golds=(gold,))
    assert usable_golds(explained) == ("Likely no",)
    item = score(explained, replace(ANSWER, text="Likely no"))
    assert (item.contains_match, item.token_f1, item.locomo_f1, item.contains_match_strict) == (1, 1, 1, 0)
    assert usable_golds(replace(explained, type="single-hop")) == (gold,)


def test_the_best_gold_counts() -> None:
    item = score(replace(QUESTION, golds=("Oslo", "in Rome")))
    assert (item.contains_match, item.token_f1) == (1.0, 1.0)


@pytest.mark.parametrize("condition", ["NM", "TFC", "OE", "CSM", "RM"])
def test_a_question_without_evidence_is_not_scored_under_oe_only(condition: Any) -> None:
    item = score(replace(QUESTION, evidence=()), replace(ANSWER, condition=condition), evidence_texts=[])
    scores = [item.contains_match, item.contains_match_strict, item.token_f1, item.locomo_f1]
    assert (item.status, item.unscorable) == ("ok", None)
    assert [each is None for each in scores] == [condition == "OE"] * 4


def test_turn_recall_of_a_cut_entry_is_that_of_its_shown_text() -> None:
    text = "Ann: I live in Rome near the old river with two dogs"
    kept = Store("h1", "s", (Entry("e", text, ()),), 20, 100)
    whole = Context("q1", "RM", f"[undated]\n{text}", 20, ("e",))
    cut = Context("q1", "RM", "[undated]\nAnn: I live", 9, ("e",), (CUT_ENTRY,))
    shown = [entry_texts(context, kept) for context in (whole, cut)]
    assert shown == [[text], ["Ann: I live"]]
    recalls = [score(evidence_texts=[text], entry_texts=entries).turn_recall for entries in shown]
    assert recalls == [1.0, 0.0]
