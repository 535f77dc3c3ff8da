"""Whose calls they are: stages that ask about many histories at once name each on the ledger, and change no result."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from memgauge.memory.base import Tools
from memgauge.protocol.variants import Cut, Variant
from memgauge.records import Benchmark, Context, History, Question, Result, Session, Status, Turn
from memgauge.stages import variants
from memgauge.stages.solving import SUBJECT
from memgauge.stages.student_answers import ask
from memgauge.stages.train_summariser import _by_history
from memgauge.tasks.base import Task
from memgauge.training.reward import QaScore, Summary
from memgauge.training.summary_rows import SummaryRow


@dataclass
class Noting:
    """Answers with the subject that a ledger would note."""

    status: Status = "ok"
    noted: list[tuple[str, int]] = field(default_factory=list)

    def solve(self, tasks: Sequence[Task[Any]]) -> list[Result[Any]]:
        self.noted.append((SUBJECT.get(), len(tasks)))
        output = f"of {SUBJECT.get()}" if self.status == "ok" else None
        return [Result(output, self.status) for _ in tasks]


class ZeroEncoder:
    def encode(self, texts: Sequence[str]) -> Any:
        return np.zeros((len(texts), 2), dtype=np.float32)


GROUPS = {name: [Question(f"{name}{number}", name, "Who?", "single") for number in range(3)] for name in ("h1", "h2")}
QUESTIONS = [question for some in GROUPS.values() for question in some]


def test_part_b_asks_history_by_history_in_order() -> None:
    solver = Noting()
    shown = ask([Context(question.id, "RM", "text", 1) for question in QUESTIONS], GROUPS, solver)
    assert solver.noted == [("h1", 3), ("h2", 3)]
    assert [each.question for each in shown] == QUESTIONS
    assert [each.answer.text for each in shown] == ["of h1"] * 3 + ["of h2"] * 3
    assert SUBJECT.get() == ""


def test_the_reward_asks_history_by_history_in_order() -> None:
    solver = Noting()
    rows = [SummaryRow(each.id, each.history_id, "Who?", "", None, (f"of {each.history_id}",)) for each in QUESTIONS]
    summaries = [Summary(f"summary {number}", 3, True) for number in range(len(rows))]
    score = _by_history(QaScore(solver, len, 1.0))
    found = score(summaries, rows)
    assert solver.noted == [("h1", 3), ("h2", 3)]
    assert [each is not None and each.f1 for each in found] == [1.0] * 6


def test_arms_are_written_history_by_history(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Noting("empty")
    turn = Turn("t1", "Ann", "I moved to Oslo.")
    histories = tuple(History(name, name, "test", (Session("s1", None, (turn,)),)) for name in GROUPS)
    monkeypatch.setattr(variants, "writer_tools", lambda params: Tools(solver, ZeroEncoder()))
    monkeypatch.setattr(variants, "cut_of", lambda params: Cut(3, "topk", 100))
    arms = [Variant(name, "summary", {}, 100) for name in ("one", "two")]
    found = variants.keep_variants(Benchmark("b", histories, tuple(QUESTIONS)), {}, arms, "arms")
    assert [subject for subject, _ in solver.noted] == ["h1", "h2"] * 2
    assert [list(each.stores) for each in found] == [["h1", "h2"]] * 2
    assert list(found[0].contexts) == [question.id for question in QUESTIONS]
