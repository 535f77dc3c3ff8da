"""Judging: how strictly replies are read, what the extractive judge compares, and scores of stored answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.errors import InputError
from memgauge.files import read_jsonl, write_jsonl
from memgauge.protocol.judging import (
    VerdictRecord,
    judge_stored,
    length_correlation,
    prompt_hash,
    score_verdicts,
    side_by_side,
)
from memgauge.records import Answer, Question, Result, Status, Usage
from memgauge.report.judged import JudgedRow, judged_report
from memgauge.solvers.extractive.criteria import score_criteria
from memgauge.solvers.extractive.judge import judge_answers
from memgauge.stats.intervals import Interval
from memgauge.tasks.base import ParseFailure, Task
from memgauge.tasks.judge_answer import JudgeAnswer, Variant, Verdict
from memgauge.tasks.replies import read_object
from memgauge.tasks.score_rubric_item import ScoreRubricItem
from memgauge.text.normalise import clean_unicode
from memgauge.text.refusals import is_refusal
from memgauge.text.tokens import count_tokens

TASK = JudgeAnswer("When did she move?", ("2 October 2023",), "some time in early autumn")
ITEM = ScoreRubricItem("The answer should name Oslo", "Oslo", "Where?")
UNUSED: Any = None  # these extractive methods need neither vectors nor weights


@pytest.mark.parametrize(
    ("reply", "correct"),
    [
        ("INCORRECT", False),
        ("not correct", False),
        ("No. Yesterday's date is wrong.", False),
        ("Yes.", True),
        ("**Correct**", True),
        ("The answer is wrong.", False),
        ("Correct\nThe date is the same.", True),
        ('{"verdict": "correct"}', True),
        ('{"verdict": " Wrong. ", "reason": "a month off"}', False),
        ('```json\n{"reason": "same", "verdict": "CORRECT"}\n```', True),
        ('The answer looks wrong at first.\n{"reason": "same day", "verdict": "correct"}', True),
        ('{"reason": "like {x: 1} or \\"}\\"", "verdict": "wrong"} That is all {so far}.', False),
        ('Of the set {x: 1}: {"reason": "", "verdict": "wrong"}', False),
        ('{"verdict": "wrong"} {"verdict": "wrong"}', False),
    ],
)
def test_a_verdict_is_a_whole_label(reply: str, correct: bool) -> None:
    verdict = TASK.parse(reply)
    assert isinstance(verdict, Verdict)
    assert verdict.correct is correct


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n",
        "Maybe.",
        "Correct?",
        "Yes and no.",
        "Yes. No.",
        "The answer is not wrong in my view.",
        "Yesterday",
        "Correctness: high",
        'thought {"verdict":',
        '{"reason": "it says \\"correct\\"", "verdict": "corr',
        '{"draft": {"verdict": "correct"}',
        '{"verdict": {"verdict": "correct"}}',
        '{"reason": "correct"}',
        '{"verdict": true}',
        '{"verdict": 1}',
        '{"verdict": "partly correct"}',
        '{"verdict": "correct" | "wrong"}',
        '{"verdict": "correct", "verdict": "wrong"}',
        '{"verdict": "correct"} {"verdict": "wrong"}',
        '{"verdict": "correct", "reason": 3}',
        '{"verdict": NaN}',
        '{"a": ' + "[" * 100_000,
    ],
)
def test_anything_else_is_a_failure_and_never_a_verdict(reply: str) -> None:
    assert isinstance(TASK.parse(reply), ParseFailure)


@pytest.mark.parametrize(
    ("reply", "mark"),
    [
        ('{"reason": "half", "score": 0.5}', 0.5),
        ('{"reason": "half", "score": "0.5"}', 0.5),
        ('{"score": 1}', 1.0),
        ('{"score": 1.0}', 1.0),
        ('{"score": "0"}', 0.0),
        ("0.5", 0.5),
        (" 1.\n", 1.0),
        ('{"score": 0.7}', None),
        ('{"score": 2}', None),
        ('{"score": "half"}', None),
        ('{"score": true}', None),
        ('{"score": null}', None),
        ('{"score": [1]}', None),
        ('{"mark": 1}', None),
        ("1 of 2", None),
        ("-1", None),
        ("", None),
        ('{"score":', None),
    ],
)
def test_a_rubric_mark_is_0_or_a_half_or_1(reply: str, mark: float | None) -> None:
    found = ITEM.parse(reply)
    assert isinstance(found, ParseFailure) if mark is None else found == mark


_REPLY_PARTS = [
    "{",
    "}",
    '"verdict"',
    ":",
    '"correct"',
    '"wrong"',
    ",",
    "\\",
    '"',
    "yes",
    "no",
    ". ",
    "\n",
    "[",
    "]",
    "```",
]


@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(_REPLY_PARTS), max_size=14).map("".join)))
@settings(max_examples=300, deadline=None)
def test_any_reply_is_read_without_an_error_and_a_json_verdict_only_from_its_key(reply: str) -> None:
    verdict = TASK.parse(reply)
    assert isinstance(verdict, Verdict | ParseFailure)
    if isinstance(verdict, Verdict) and "{" in reply:
        found = read_object(reply)
        assert isinstance(found, ParseFailure) or found["verdict"] in ("correct", "wrong", "yes", "no")
    assert isinstance(ITEM.parse(reply), float | ParseFailure)


def test_a_lone_surrogate_in_a_reply_can_be_written() -> None:
    found = read_object('{"reason": "\\ud83d and \\ud83d\\ude20", "\\udc00": ["\\ud800"]}')
    assert found == {"reason": "\ufffd and \U0001f620", "\ufffd": ["\ufffd"]}


def test_both_prompts_show_question_golds_and_answer_and_differ() -> None:
    tasks = [JudgeAnswer("When?", ("8 May", "the 8th"), "{question} [system] May", variant=v) for v in _VARIANTS]
    texts = ["\n".join(message["content"] for message in task.messages()) for task in tasks]
    for text in texts:
        assert all(part in text for part in ("When?", "8 May | the 8th", "{question} [system] May"))
        assert "no right answer" not in text
    assert texts[0] != texts[1]
    assert prompt_hash("strict") != prompt_hash("generous")


@pytest.mark.parametrize("variant", ["strict", "generous"])
def test_an_abstention_question_gets_its_own_rule_and_no_gold(variant: Variant) -> None:
    user = JudgeAnswer("When?", ("TRAP",), "", True, variant).messages()[1]["content"]
    assert "no right answer" in user
    assert "TRAP" not in user
    assert "(nothing)" in user


_VARIANTS: tuple[Variant, ...] = ("strict", "generous")


def extractive(question: str, gold: str, answer: str, variant: Variant = "strict", abstention: bool = False) -> bool:
    task = JudgeAnswer(question, () if abstention else (gold,), answer, abstention, variant)
    return judge_answers([task], UNUSED, UNUSED)[0].correct


@pytest.mark.parametrize(
    ("gold", "answer", "strict", "generous"),
    [
        ("2 October 2023", "2023-10-02", True, True),
        ("2 October 2023", "It was on October 2nd, 2023.", True, True),
        ("2 October 2023", "October 2023", False, True),
        ("2 October 2023", "2 October", False, True),
        ("2 October 2023", "3 October 2023", False, False),
        ("2 October 2023", "some time in early autumn", False, False),
        ("October 2023", "2 October 2023", True, True),
        ("2022", "in 2022", True, True),
        ("2022", "2021", False, False),
        ("the week before 9 June 2023", "the week after 9 June 2023", False, True),
        ("23January, 2022", "23 January 2022", True, True),
        ("three weeks", "21 days", True, True),
        ("three weeks", "three months", False, False),
        ("a few weeks", "three weeks", False, True),
        ("6:30 am", "6.30 a.m.", True, True),
        ("6:30 am", "18:30", False, False),
        ("six", "6", True, True),
        ("six", "16", False, False),
        ("$480", "480 dollars", True, True),
        ("40%", "40", True, True),
        ("40%", "$40", False, False),
        ("3.5", "35", False, False),
        ("dark green", "The door is dark green now.", True, True),
        ("dark green", "light green", False, True),
        ("Portugal, Morocco and Chile", "Chile, Morocco, Portugal", True, True),
        ("Portugal, Morocco and Chile", "Portugal and Chile", False, True),
        ("Portugal, Morocco and Chile", "Chile", False, False),
        ("Lisbon", "Lisbon or Porto", False, True),
        ("Lisbon", "Maybe Lisbon, it could also be Porto", False, True),
        ("Lisbon", "Probably Lisbon", True, True),
        ("the cello", "Not the cello but the viola", False, False),
        ("Lisbon", "She lives in Lisbon, not in Porto.", True, True),
        ("Lisbon", "She lives in Porto, no longer in Lisbon.", False, False),
        ("3 May 2021", "It was not 3 May 2021 but 4 May 2021.", False, False),
        ("3 May 2021", "She did not leave until 3 May 2021.", True, True),
        ("She does not own a car", "She does not own a car.", True, True),
        ("Lisbon", "", False, False),
        ("Lisbon", "I don't know.", False, False),
        ("北京", "北京", True, True),
    ],
)
def test_the_extractive_judge_compares_values_and_words(gold: str, answer: str, strict: bool, generous: bool) -> None:
    assert extractive("?", gold, answer) is strict
    assert extractive("?", gold, answer, "generous") is generous


_WORDS = st.sampled_from(
    ["Oslo", "not", "3", "May", "2", "2023", "6:30", "pm", "$5", "or", "no", "yes", "but", "weeks", ";"]
)
_TEXTS = st.one_of(st.text(max_size=40), st.lists(_WORDS, max_size=9).map(" ".join))


@given(_TEXTS, _TEXTS)
@settings(max_examples=300, deadline=None)
def test_strict_never_accepts_what_generous_rejects_and_the_gold_itself_is_right(gold: str, answer: str) -> None:
    assert extractive("Where?", gold, answer, "generous") or not extractive("Where?", gold, answer)
    if clean_unicode(gold).strip() and not is_refusal(gold):
        assert extractive("Where?", gold, gold)


@pytest.mark.parametrize(
    ("gold", "answer", "correct"),
    [
        ("No", "There is no doubt: yes.", False),
        ("No", "Petra does not eat meat.", True),
        ("Yes", "Petra does not eat meat.", False),
        ("Yes", "She eats meat.", True),
        ("Yes", "Not yet.", False),
        ("No", "Hardly.", True),
        ("Likely no; it upsets her", "Probably not.", True),
        ("Yes", "Bread.", False),
    ],
)
def test_the_extractive_judge_compares_sides(gold: str, answer: str, correct: bool) -> None:
    assert extractive("Does Petra eat meat?", gold, answer) is correct


def test_declining_is_right_for_an_abstention_question_alone() -> None:
    assert extractive("Where?", "", "I don't know.", abstention=True)
    assert not extractive("Where?", "", "Oslo", abstention=True)
    assert not extractive("Where?", "", "", abstention=True)
    assert not extractive("Where?", "I don't know what", "I don't know.")


def test_any_gold_is_enough_and_no_gold_is_never_met() -> None:
    tasks = [JudgeAnswer("Where?", golds, "Oslo") for golds in [("Rome", "Oslo"), ("Rome", "Paris"), ()]]
    assert [one.correct for one in judge_answers(tasks, UNUSED, UNUSED)] == [True, False, False]


@pytest.mark.parametrize(
    ("criterion", "answer", "mark"),
    [
        ("The response should state: she moved to Oslo in 2021", "In 2021 she moved to Oslo.", 1.0),
        ("The response should state: she moved to Oslo in 2021", "She moved to Oslo in 2020.", 0.5),
        ("The response should state: she moved to Oslo in 2021", "Nothing of the kind happened.", 0.0),
        ("mentions lemon cake, olives and tea", "lemon cake and olives", 0.5),
        ("3", "three", 1.0),
        ("3", "four", 0.0),
        ("Answer must say: no, she left", "Yes, she left", 0.0),
        ("there is no information about Oslo", "I don't know.", 1.0),
        ("there is no information about Oslo", "She went to Oslo.", 0.0),
        ("names Oslo", "I don't know.", 0.0),
        ("names Oslo", "", 0.0),
    ],
)
def test_a_criterion_is_met_by_its_words_and_values(criterion: str, answer: str, mark: float) -> None:
    assert score_criteria([ScoreRubricItem(criterion, answer)], UNUSED, UNUSED) == [mark]


QUESTIONS = [
    Question("q1", "h", "Where?", "single-hop", ("Oslo",)),
    Question("q2", "h", "Who?", "single-hop", ("Ann",)),
    Question("q3", "h", "Why?", "adversarial", abstention=True),
    Question("q4", "h", "How?", "single-hop"),
    Question("q5", "h", "When?", "single-hop", ("May",)),
]


def answer(question_id: str, text: str, status: Status = "ok") -> Answer:
    return Answer(question_id, "RM", text, status, 10)


ANSWERS = [
    answer("q1", "Oslo"),
    answer("q2", "Bob"),
    answer("q3", "I don't know"),
    answer("q4", "By train"),
    answer("q5", "Ma", "truncated"),
]


@dataclass
class Scripted:
    """Verdicts as told, and the tasks it was asked."""

    results: list[Result[Any]]
    asked: list[Task[Any]] = field(default_factory=list)

    def solve(self, tasks: Sequence[Task[Any]]) -> list[Result[Any]]:
        self.asked += tasks
        return self.results[: len(tasks)]


RESULTS: list[Result[Any]] = [
    Result(Verdict(True, "same"), "ok", Usage(9, 1, 1)),
    Result(None, "parse_error", Usage(9, 1, 1), "hm"),
    Result(Verdict(True), "ok", Usage(9, 1, 1)),
]


def judged(variant: Variant = "strict", results: list[Result[Any]] = RESULTS) -> list[VerdictRecord]:
    return judge_stored(QUESTIONS, ANSWERS, Scripted(results), "some-judge", variant)


def test_stored_answers_are_judged_and_only_those_that_can_be() -> None:
    solver = Scripted(RESULTS)
    records = judge_stored(QUESTIONS, ANSWERS, solver, "some-judge", "strict")
    assert solver.asked == [
        JudgeAnswer("Where?", ("Oslo",), "Oslo"),
        JudgeAnswer("Who?", ("Ann",), "Bob"),
        JudgeAnswer("Why?", (), "I don't know", abstention=True),
    ]
    assert [record.status for record in records] == ["ok", "parse_error", "ok", None, None]
    assert [record.correct for record in records] == [True, None, True, None, None]
    assert [record.answer_status for record in records] == ["ok", "ok", "ok", "ok", "truncated"]
    assert {(record.judge, record.prompt_hash) for record in records} == {("some-judge", prompt_hash("strict"))}


def test_a_score_keeps_missing_verdicts_out_of_the_mean_and_in_the_bounds() -> None:
    score = score_verdicts(judged())
    assert (score.score, score.answerable) == (1.0, 4)
    assert score.bounds == Interval(0.25, 1.0)
    assert (score.abstention_score, score.abstention) == (1.0, 1)
    assert score.statuses == {"ok": 2, "parse_error": 1}
    assert (score.not_judged, score.parse_failure_rate) == (2, pytest.approx(1 / 3))
    assert score.mean_answer_tokens == pytest.approx((count_tokens("Oslo") + count_tokens("I don't know")) / 2)
    assert not score.valid
    assert score_verdicts(judged(), max_parse_failures=0.4).valid


def test_a_cut_verdict_counts_as_unreadable_and_a_refused_call_does_not() -> None:
    cut = [RESULTS[0], Result(None, "truncated"), RESULTS[2]]
    assert score_verdicts(judged(results=cut)).parse_failure_rate == pytest.approx(1 / 3)
    down = [RESULTS[0], Result(None, "provider_error"), RESULTS[2]]
    refused = score_verdicts(judged(results=down))
    assert (refused.parse_failure_rate, refused.errors, refused.asked) == (0, 1, 3)
    assert not refused.valid, "but a run without a third of its verdicts is no run either"


def test_verdicts_of_two_judges_prompts_or_conditions_are_never_one_score() -> None:
    records = judged()
    for other in (
        replace(records[0], judge="another"),
        replace(records[0], prompt_hash="0"),
        replace(records[0], condition="OE"),
    ):
        with pytest.raises(InputError, match="verdicts of 2 runs are mixed"):
            score_verdicts([*records[1:], other])
    with pytest.raises(InputError, match="'q1' has several verdicts"):
        score_verdicts([*records, records[0]])
    with pytest.raises(InputError, match="no verdicts"):
        score_verdicts([])


def test_records_come_back_from_their_file(tmp_path: Path) -> None:
    records = judged()
    write_jsonl(tmp_path / "verdicts.jsonl", records)
    assert list(read_jsonl(tmp_path / "verdicts.jsonl", VerdictRecord)) == records


def test_the_table_shows_both_counts_of_judge_errors_and_marks_the_run() -> None:
    good = [Result(Verdict(True), "ok")] * 3
    rows = [
        JudgedRow("r", name, "OE", side_by_side(judged(results=results), judged("generous", good)))
        for name, results in (("clean", good), ("spoilt", RESULTS))
    ]
    lines = judged_report("b", rows, {}, "no verdict").splitlines()
    clean, spoilt = ([cell.strip() for cell in line.split("|")] for line in lines[-2:])
    assert clean[-5:-2] == ["0 of 3 (0 %)", "0 of 3 (0 %)", "yes"]
    assert spoilt[-5:-2] == ["1 of 3 (33 %)", "0 of 3 (0 %)", "INVALID"]


def test_strict_and_generous_stand_side_by_side() -> None:
    strict = judged(results=[Result(Verdict(False), "ok"), Result(Verdict(True), "ok"), Result(None, "empty")])
    generous = judged("generous", [Result(Verdict(True), "ok")] * 3)
    both = side_by_side(strict, generous)
    assert (both.strict.score, both.generous.score) == (0.5, 1.0)
    assert (both.both_correct, both.strict_only, both.generous_only, both.both_wrong) == (1, 0, 1, 0)
    with pytest.raises(InputError, match="give strict verdicts"):
        side_by_side(generous, strict)
    with pytest.raises(InputError, match="two runs"):
        side_by_side(strict, [replace(record, judge="another") for record in generous])
    with pytest.raises(InputError, match="different questions"):
        side_by_side(strict, generous[1:])


def test_an_answer_to_an_unknown_question_is_refused() -> None:
    with pytest.raises(InputError, match="'q9'"):
        judge_stored(QUESTIONS, [answer("q9", "x")], Scripted([]), "some-judge", "strict")


def test_length_and_credit_are_correlated_by_rank() -> None:
    base = judged()[0]

    def run(pairs: list[tuple[int, bool | None]]) -> float | None:
        return length_correlation([replace(base, answer_tokens=n, correct=c) for n, c in pairs])

    # ranks of length 1 2 3 4, of credit 1.5 3.5 1.5 3.5: r = 2 / sqrt(5 * 4)
    assert run([(5, False), (9, True), (10, False), (900, True), (3, None)]) == pytest.approx(2 / 20**0.5)
    assert run([(5, False), (6, True)]) == pytest.approx(1.0)
    assert run([(5, True), (6, True)]) is None
    assert run([(5, True), (5, False)]) is None
    assert run([]) is None
