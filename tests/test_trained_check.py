"""Rows of the summariser and the checks of what training bought: splits, leaks, hand-made counts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memgauge.datasets.synthetic.generate import Fact
from memgauge.errors import InputError
from memgauge.llm.local import LocalChatModel
from memgauge.records import Benchmark, Entry, History, Question, Result, Session, Store, Turn
from memgauge.seeds import generator
from memgauge.training.cold_start import answerable, lengthened
from memgauge.training.reward import Reward, Summary, reward
from memgauge.training.summary_rows import SummaryRow, check_rows, clear_rows, summary_rows, with_targets
from memgauge.training.trained_check import check_summariser, gained, summarise_check
from memgauge.training.writer_check import check_writer

from .tiny_model import build_tiny
from .train_tiny import prompts


def history(split: Any, text: str = "I live in Oslo.") -> tuple[History, tuple[Question, ...]]:
    turns = (Turn("t1", "Ann", text), Turn("t2", "Bo", "Nice."))
    asked = (
        Question("q1", "h1", "Where?", "single", ("Oslo",), evidence=("t1",)),
        Question("q2", "h1", "Who?", "absent", abstention=True),
    )
    return History("h1", "g1", split, (Session("s1", None, turns),)), asked


def test_rows_are_of_one_split_and_answerable() -> None:
    def retrieve(_: History, questions: Sequence[Question]) -> list[str]:
        return [f"for {question.id}" for question in questions]

    rows = summary_rows([history("train")], retrieve)
    assert [(row.question_id, row.context, row.golds) for row in rows] == [("q1", "for q1", ("Oslo",))]
    for split in ("val", "test"):
        with pytest.raises(InputError, match=f"is of the split {split}"):
            summary_rows([history(split)], retrieve)


def test_nothing_of_the_evaluated_benchmark_is_in_a_row() -> None:
    tested, asked = history("test", "I live in OSLO  now.")
    benchmark = Benchmark("toy", (tested,), asked)
    row = SummaryRow("q", "h", "Where to?", "Ann: I moved.", None, ("Rome",))
    check_rows([row], benchmark)
    with pytest.raises(InputError, match="evidence of toy"):
        check_rows([replace(row, context="[8 May 2023]\nAnn: i live in oslo now.\nBo: Hm.")], benchmark)
    with pytest.raises(InputError, match="asks a question of toy"):
        check_rows([replace(row, question="WHERE?", golds=("x", "oslo"))], benchmark)
    check_rows([replace(row, question="Where?")], benchmark)
    leaky = replace(row, context="Ann: I live in Oslo now.")
    assert clear_rows([leaky, row], benchmark) == [row]


def test_only_rows_with_a_summary_are_taught() -> None:
    class Teacher:
        def solve(self, tasks: Sequence[Any]) -> list[Result[Any]]:
            return [Result("A summary.", "ok"), Result(None, "parse_error"), Result("", "empty")][: len(tasks)]

    taught = with_targets([replace(row, target=None) for row in prompts(3)], Teacher(), 8)
    assert [(row.question_id, row.target) for row in taught] == [("q0", "A summary.")]


def test_prompts_that_no_summary_answers_are_left_out() -> None:
    def right(summaries: Sequence[Summary], rows: Sequence[SummaryRow]) -> list[Reward | None]:
        return [reward(float(row.golds[0] in one.text), 0, 0, 1.0) for one, row in zip(summaries, rows, strict=True)]

    rows = prompts(3)
    wrong, untold = replace(rows[1], target="In Oz."), replace(rows[2], target=None)
    assert answerable([rows[0], wrong, untold], right) == [rows[0]]


def test_a_cold_start_is_lengthened_by_lines_of_the_context() -> None:
    row = replace(prompts(1)[0], context="[8 May 2023]\nAnn: One two.\nIn Oslo.\nBo: Three four.\nBo: Five.")
    assert lengthened(row, 1) == row
    assert lengthened(row, 10).target == "In Oslo.\nAnn: One two.\nBo: Three four."
    assert lengthened(row, 999).target == "In Oslo.\nAnn: One two.\nBo: Three four.\nBo: Five."
    assert lengthened(replace(row, target=None), 9).target is None


def test_writer_check_by_hand() -> None:
    _, asked = history("val")
    facts = [
        Fact("h1", "user", "Ann", "home", "Oslo", "t1", "2023-05-08"),
        Fact("h1", "user", "Ann", "cat", "Mio", "t9", "2023-05-08"),
    ]
    entries = (Entry("e1", "Ann lives in Oslo.", ("t2",)), Entry("e2", "Ann lives in Oslo.", ("t1",)))
    counts = {"operations": 8, "operations_invalid": 2}
    found = check_writer([Store("h1", "toy", entries, 9, 100, counts)], facts, asked, frozenset({"t1", "t2"}))
    assert (found.facts, found.kept, found.kept_anywhere) == (1, 1, 1)
    assert (found.valid_rate, found.fact_recall) == (0.75, 1.0)
    wrong = check_writer([Store("h1", "toy", entries[:1], 9, 100)], facts, asked, frozenset({"t1"}))
    assert (wrong.valid_rate, wrong.fact_recall, wrong.kept_anywhere) == (None, 0.0, 1)
    assert check_writer([Store("h1", "toy", entries, 9, 100)], facts, asked, frozenset()).fact_recall is None


def test_the_check_compares_the_same_prompts(tmp_path: Path) -> None:
    rows = prompts(4)
    build_tiny(tmp_path, [message["content"] for row in rows for message in row.task(8).messages()])
    model = LocalChatModel(tmp_path)
    greedy = check_summariser(model, rows, whole, 8)
    assert [one.row for one in greedy] == rows
    assert summarise_check(greedy).summaries == 4
    assert gained(greedy, greedy, 100, generator(1, "test")).value == 0.0
    sampled = check_summariser(model, rows, whole, 8, samples=3, seed=1)
    assert [one.row.question_id for one in sampled[:4]] == ["q0", "q0", "q0", "q1"]
    assert len({one.summary.text for one in sampled[:3]}) > 1
    better = [replace(one, reward=reward(1.0, 0, 0, 1.0)) for one in greedy]
    assert (gained(better, greedy, 100, generator(1, "test")).value or 0) > 0
    assert summarise_check([]).reward is None


def whole(summaries: Sequence[Summary], rows: Sequence[SummaryRow]) -> list[Reward | None]:
    """Every summary is scored, also a cut one."""
    return [reward(0.5, one.tokens, 1, 0.5, empty=not one.shown) for one in summaries]
