"""The reward of a summary: its constants, its parts, what is unscorable, and the group's advantages."""

from collections.abc import Sequence
from typing import Any

import pytest

from memgauge.errors import InputError
from memgauge.records import Result
from memgauge.training.reward import QaScore, RewardPrices, Summary, group_advantages, reward
from memgauge.training.summary_rows import SummaryRow


def row(question: str = "Where?", golds: tuple[str, ...] = ("Oslo",)) -> SummaryRow:
    return SummaryRow("q1", "h1", question, "Ann: I live in Oslo.", None, golds)


class Reader:
    """Answers with the context's last word; "fail" and "hush" in a context give a status instead."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def solve(self, tasks: Sequence[Any]) -> list[Result[Any]]:
        self.asked += tasks
        return [self._answer(task.context) for task in tasks]

    def _answer(self, context: str) -> Result[str]:
        if "fail" in context:
            return Result(None, "provider_error")
        if "hush" in context:
            return Result(None, "empty")
        return Result(context.split()[-1] if context else "I don't know", "ok")


def test_the_reference_cost_is_the_papers() -> None:
    assert RewardPrices().reference == pytest.approx(1.392e-5, rel=1e-12)
    assert RewardPrices().cost(60, 8) == RewardPrices().reference
    assert RewardPrices(qa_output=0.0, summariser_output=0.0).cost(30, 99) == pytest.approx(30 * 0.1e-6)


@pytest.mark.parametrize(
    ("f1", "tokens", "answer", "alpha", "expected"),
    [
        (1.0, 0, 0, 0.8, 1.0),
        (0.0, 0, 0, 0.8, 0.2),
        (1.0, 60, 8, 0.8, 0.8),  # exactly the reference: no saving
        (1.0, 600, 8, 0.8, 0.8),  # beyond it nothing more is lost
        (0.5, 30, 4, 0.8, 0.5),
        (0.5, 30, 4, 1.0, 0.5),
        (0.25, 30, 4, 0.0, 0.5),
        (0.4, 15, 2, 0.2, 0.2 * 0.4 + 0.8 * 0.75),
    ],
)
def test_reward_by_hand(f1: float, tokens: int, answer: int, alpha: float, expected: float) -> None:
    found = reward(f1, tokens, answer, alpha)
    assert found.reward == pytest.approx(expected)
    assert found.cost == pytest.approx((tokens * 0.2 + answer * 0.24) / 1e6)
    assert found.reward == pytest.approx(alpha * found.f1 + (1 - alpha) * found.saving)


def test_what_cannot_be_scored_is_none_and_an_empty_summary_is_flagged() -> None:
    score = QaScore(Reader(), lambda text: len(text.split()), 0.8)
    cut = Summary("Ann lives in Oslo", 4, ended=False)
    summaries = [Summary("in Oslo", 2), cut, Summary("fail", 1), Summary("hush", 1)]
    summaries += [Summary(" \n", 1), Summary("...", 1)]
    found = score(summaries, [row()] * 6)
    assert [one is None for one in found] == [False, True, True, True, False, False]
    assert [one.empty for one in found if one] == [False, True, True]
    first, empty = found[0], found[4]
    assert first
    assert empty
    assert first.reward == pytest.approx(0.8 + 0.2 * (1 - (2 * 0.2 + 0.24) / 13.92))
    assert empty.f1 == 0.0
    assert empty.cost == pytest.approx((0.2 + 3 * 0.24) / 1e6)
    assert score([Summary("in Oslo", 2)], [row(golds=("???",))]) == [None], "no gold that can be scored"


def test_equal_summaries_of_one_question_are_answered_once_and_no_gold_is_shown() -> None:
    reader = Reader()
    score = QaScore(reader, len, 0.8)
    score([Summary("in Oslo", 2), Summary(" in Oslo\n", 3), Summary("in Oslo", 2)], [row(), row(), row("When?")])
    assert len(reader.asked) == 2
    assert all("golds" not in task.__slots__ for task in reader.asked)
    assert score([], []) == []


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([0.0, 1.0], [-0.5 / (0.5**0.5 + 1e-4), 0.5 / (0.5**0.5 + 1e-4)]),
        ([0.2, 0.4, None, 0.6], [-0.2 / (0.2 + 1e-4), 0.0, 0.0, 0.2 / (0.2 + 1e-4)]),
        ([0.5, 0.5, 0.5], [0.0, 0.0, 0.0]),
        ([None, 0.9], [0.0, 0.0]),
        ([None, None], [0.0, 0.0]),
    ],
)
def test_advantages_by_hand(rewards: list[float | None], expected: list[float]) -> None:
    assert group_advantages(rewards) == pytest.approx(expected)


def test_alpha_and_prices_are_checked() -> None:
    with pytest.raises(InputError, match=r"alpha is 1\.2"):
        QaScore(Reader(), len, 1.2)
    with pytest.raises(InputError, match="no positive reference cost"):
        RewardPrices(reference_summary_tokens=0, reference_answer_tokens=0)
