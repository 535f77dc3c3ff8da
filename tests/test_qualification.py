"""The qualification set and what hand-made judges score on it."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from scipy.stats import binomtest

from memgauge.protocol.qualification import QualificationItem, qualification_items, qualify, wilson
from memgauge.records import Result
from memgauge.solvers.extractive.judge import judge_answers
from memgauge.tasks.base import Task
from memgauge.tasks.judge_answer import JudgeAnswer, Verdict

ITEMS = qualification_items()
TRUTH = {(item.question, item.answer): item.correct for item in ITEMS}
UNUSED: Any = None


class Judge:
    """A judge made of one rule: a verdict, or None for a reply that cannot be read."""

    def __init__(self, rule: Callable[[JudgeAnswer], bool | None]) -> None:
        self.rule = rule

    def solve(self, tasks: Sequence[Task[Any]]) -> list[Result[Any]]:
        verdicts = [self.rule(task) for task in tasks if isinstance(task, JudgeAnswer)]
        return [Result(None, "parse_error") if one is None else Result(Verdict(one), "ok") for one in verdicts]


def truth(task: JudgeAnswer) -> bool:
    return TRUTH[task.question, task.answer]


def test_the_set_is_large_distinct_and_covers_its_kinds_in_both_halves() -> None:
    assert len(ITEMS) >= 120
    assert len(TRUTH) == len(ITEMS)
    kinds = Counter(item.kind for item in ITEMS)
    assert min(kinds.values()) >= 9
    assert {item.kind for item in ITEMS if item.half == "dev"} == set(kinds)
    assert {item.kind for item in ITEMS if item.half == "test"} == set(kinds)
    halves = [{item.question for item in ITEMS if item.half == half} for half in ("dev", "test")]
    assert not halves[0] & halves[1]
    for item in ITEMS:
        assert item.correct == item.kind.startswith("right_")
        assert item.abstention == (not item.golds)
        assert item.abstention == (item.kind in ("right_refusal", "wrong_invented"))


def test_always_yes_accepts_every_wrong_answer_and_rejects_none() -> None:
    found = qualify(Judge(lambda task: True), "strict", "yes")
    assert (found.false_accepts.rate, found.false_rejects.rate) == (1.0, 0.0)
    assert all(kind.rate == float(kind.kind.startswith("wrong")) for kind in found.kinds)
    assert not found.qualified
    assert [reason.split(":")[0] for reason in found.failed] == ["false accepts"]


def test_always_no_is_the_mirror() -> None:
    found = qualify(Judge(lambda task: False), "generous", "no")
    assert (found.false_accepts.rate, found.false_rejects.rate) == (0.0, 1.0)
    assert [reason.split(":")[0] for reason in found.failed] == ["false rejects"]


def test_the_oracle_qualifies_and_is_named() -> None:
    found = qualify(Judge(truth), "strict", "oracle")
    assert found.qualified
    assert found.failed == ()
    assert (found.judge, found.variant, found.items) == ("oracle", "strict", len(ITEMS))
    assert found.prompt_hash != qualify(Judge(truth), "generous", "oracle").prompt_hash
    assert found.false_accepts.judged + found.false_rejects.judged == len(ITEMS)


def test_unreadable_replies_are_missing_never_errors_and_too_many_disqualify() -> None:
    wanted = [item for item in ITEMS if item.kind == "wrong_vague"]
    silent = {(item.question, item.answer) for item in wanted}
    found = qualify(Judge(lambda task: None if (task.question, task.answer) in silent else truth(task)), "strict", "x")
    assert found.statuses == {"ok": len(ITEMS) - len(wanted), "parse_error": len(wanted)}
    vague = next(kind for kind in found.kinds if kind.kind == "wrong_vague")
    assert (vague.judged, vague.missing, vague.rate, vague.interval) == (0, len(wanted), None, None)
    assert found.false_accepts.missing == len(wanted)
    assert found.false_accepts.rate == 0
    assert [reason.split(":")[0] for reason in found.failed] == ["missing verdicts"]


def test_a_judge_that_never_answers_does_not_qualify() -> None:
    found = qualify(Judge(lambda task: None), "strict", "silent")
    assert (found.false_accepts.rate, found.false_rejects.rate, found.qualified) == (None, None, False)
    assert len(found.failed) == 3


def test_an_error_of_known_size_is_measured() -> None:
    errors = set(random.Random(7).sample(sorted(TRUTH), 20))
    found = qualify(Judge(lambda task: truth(task) ^ ((task.question, task.answer) in errors)), "strict", "x")
    assert found.false_accepts.errors + found.false_rejects.errors == 20
    assert sum(kind.errors for kind in found.kinds) == 20


def test_only_the_given_items_are_judged() -> None:
    item = QualificationItem("right_verbatim", "dev", "Where?", ("Oslo",), "Oslo", True, False)
    found = qualify(Judge(lambda task: task == JudgeAnswer("Where?", ("Oslo",), "Oslo")), "strict", "x", [item])
    assert (found.items, found.false_rejects.errors, found.false_accepts.rate) == (1, 0, None)
    assert qualify(Judge(truth), "strict", "x", []).qualified is False


@pytest.mark.parametrize(("errors", "count"), [(0, 5), (1, 7), (3, 118), (60, 118), (118, 118)])
def test_the_interval_is_wilsons(errors: int, count: int) -> None:
    interval = wilson(errors, count)
    expected = binomtest(errors, count).proportion_ci(method="wilson")
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


class Extractive:
    def solve(self, tasks: Sequence[Task[Any]]) -> list[Result[Any]]:
        return [Result(one, "ok") for one in judge_answers(tasks, UNUSED, UNUSED)]  # type: ignore[arg-type]


def test_the_extractive_judge_seldom_accepts_a_wrong_answer_on_the_half_it_was_not_tuned_on() -> None:
    test_half = [item for item in ITEMS if item.half == "test"]
    found = qualify(Extractive(), "strict", "extractive", test_half)
    assert found.false_accepts.rate is not None
    assert found.false_rejects.rate is not None
    assert found.false_accepts.rate <= 0.05
    assert found.false_rejects.rate <= 0.2
    exact = [kind for kind in found.kinds if kind.kind in ("right_verbatim", "right_date", "right_list")]
    assert [kind.errors for kind in exact] == [0, 0, 0]


def test_the_generous_extractive_judge_accepts_more_of_both() -> None:
    strict, generous = (qualify(Extractive(), variant, "extractive") for variant in ("strict", "generous"))
    assert generous.false_accepts.errors > strict.false_accepts.errors
    assert generous.false_rejects.errors <= strict.false_rejects.errors
