"""Where a question lost its evidence: every pattern, with and without recalls, on hand-made items."""

from dataclasses import replace
from itertools import product

import pytest

from memgauge.metrics.scoring import ScoredItem
from memgauge.protocol.attribution import (
    LINKS,
    attribute,
    count_links,
    holds,
    link_by_answers,
    link_by_recall,
)

SCORES = {"+": 1.0, "-": 0.0, "?": None}


def item(question: str, condition: str, mark: str, **changes: object) -> ScoredItem:
    score = SCORES[mark]
    plain = ScoredItem(
        question_id=question,
        history_id="h",
        group="g",
        type="fact",
        condition=condition,
        status="truncated" if score is None else "ok",
        abstention=False,
        refused=False,
        contains_match=score,
        contains_match_strict=score,
        token_f1=score,
        locomo_f1=None,
        answer_tokens=1,
        context_tokens=1,
        unscorable=None,
        turn_recall=None,
        span_recall=None,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def chain(question: str, pattern: str, csm: float | None = None, rm: float | None = None) -> list[ScoredItem]:
    recalls = {"OE": None, "CSM": csm, "RM": rm}
    return [
        item(question, condition, mark, span_recall=recalls[condition])
        for condition, mark in zip(recalls, pattern, strict=True)
    ]


@pytest.mark.parametrize(
    ("pattern", "link"),
    [
        ("+++", "kept"),
        ("+-+", "kept"),
        ("-++", "kept"),
        ("--+", "kept"),
        ("++-", "retrieval"),
        ("-+-", "retrieval"),
        ("+--", "write"),
        ("---", "reading"),
    ],
)
def test_answers_name_the_first_step_that_turned_wrong(pattern: str, link: str) -> None:
    assert link_by_answers(pattern) == link


@pytest.mark.parametrize("pattern", ["".join(marks) for marks in product("+-?", repeat=3) if "?" in marks])
def test_a_missing_answer_leaves_a_question_undecided(pattern: str) -> None:
    assert link_by_answers(pattern) == link_by_recall(pattern, True, True) == "undecided"


@pytest.mark.parametrize(
    ("pattern", "stored", "shown", "link"),
    [
        ("+--", False, False, "write"),
        ("+--", True, False, "retrieval"),
        ("+--", True, True, "reading"),
        ("++-", False, False, "retrieval"),  # the store gave a right answer: it served the question
        ("++-", True, False, "retrieval"),
        ("++-", True, True, "reading"),
        ("---", False, False, "reading"),  # even the evidence alone was not enough
        ("+++", False, False, "kept"),
        ("+--", None, None, "write"),
        ("+--", True, None, "write"),
    ],
)
def test_recalls_say_whether_the_evidence_was_still_there(
    pattern: str, stored: bool | None, shown: bool | None, link: str
) -> None:
    assert link_by_recall(pattern, stored, shown) == link


def test_close_entries_can_show_that_evidence_is_held_but_not_that_it_is_lost() -> None:
    assert holds(item("q", "CSM", "-", span_recall=0.5, turn_recall=1.0)) is False
    assert holds(item("q", "CSM", "-", span_recall=1.0, turn_recall=0.0)) is True
    assert holds(item("q", "CSM", "-", span_recall=None, turn_recall=1.0)) is True
    assert holds(item("q", "CSM", "-", span_recall=None, turn_recall=0.5)) is None
    assert holds(item("q", "CSM", "-")) is None
    assert holds(None) is None


def test_every_scorable_question_is_attributed_once_and_counts_add_up() -> None:
    items = [
        *chain("kept", "+++", 1.0, 1.0),
        *chain("write", "+--", 0.0, 0.0),
        *chain("retrieval", "+--", 1.0, 0.0),
        *chain("reading", "++-", 1.0, 1.0),
        *chain("undecided", "+?-", 1.0, 1.0),
    ]
    refused = [replace(each, question_id="none", abstention=True) for each in chain("none", "+++")]
    found = attribute(items + refused)
    assert [each.question_id for each in found] == [each.link for each in found]
    assert count_links(found) == dict.fromkeys(LINKS, 1)
    plain = count_links(found, by_answers=True)
    assert plain == {"write": 2, "retrieval": 1, "reading": 0, "kept": 1, "undecided": 1}
    assert [each.pattern for each in found] == ["+++", "+--", "+--", "++-", "+?-"]
