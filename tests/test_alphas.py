"""`memgauge alphas`: recorded runs by alpha, from a real MLflow store; and which questions part B asks."""

from pathlib import Path

import pytest

from memgauge.cli import main
from memgauge.records import Benchmark, History, Question, Session, Turn
from memgauge.stages.qa_cells import part_b_questions
from memgauge.tracking import Cell, log_pipeline, open_store, recorded


def cell(alpha: float, f1: float, benchmark: str = "synthetic", qpc: float | None = 0.25) -> Cell:
    options = {"stage": "qpc", "benchmark": benchmark, "alpha": alpha, "seed": 17}
    numbers = {"f1": f1, "cost_usd": 0.0002, "qpc": qpc, "qpc_qa": 4.0, "summary_tokens": 20.0, "empty_share": 0.0}
    return Cell(f"qpc {benchmark}", options, numbers)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_newest_run_of_each_alpha_is_drawn(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    open_store(root)
    for cells in ([cell(0.2, 0.125)], [cell(0.8, 0.5)], [cell(0.2, 0.375)], [cell(0.4, 0.75, "locomo")]):
        log_pipeline("run", {}, cells, [])
    assert main(["alphas"]) == 0
    printed = capsys.readouterr().out
    assert "0.375" in printed
    assert "0.500" in printed
    assert "0.125" not in printed  # an earlier run of the same alpha
    assert "0.750" not in printed  # another benchmark
    assert (root / "alphas" / "synthetic.png").read_bytes().startswith(b"\x89PNG")
    assert (root / "alphas" / "synthetic.md").read_text(encoding="utf-8").strip() in printed


def test_an_unknown_cost_is_undefined_and_not_0(root: Path) -> None:
    open_store(root)
    log_pipeline("run", {}, [cell(0.6, 0.5, qpc=None)], [])
    (run,) = recorded(root, "qpc", "synthetic")
    assert "qpc" not in run
    assert main(["alphas"]) == 0


@pytest.mark.parametrize("with_store", [False, True])
def test_nothing_recorded_is_one_line(root: Path, capsys: pytest.CaptureFixture[str], with_store: bool) -> None:
    if with_store:
        open_store(root)
    capsys.readouterr()  # what mlflow says when it makes a store
    assert main(["alphas"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("memgauge: no recorded run")
    assert said.count("\n") == 1


def test_part_b_asks_scorable_questions_about_test_histories_only() -> None:
    sessions = (Session("s", None, (Turn("t", "Ann", "Hi."),)),)
    histories = (History("a", "a", "train", sessions), History("b", "b", "test", sessions))
    histories += (History("c", "c", "test", sessions),)
    questions = tuple(
        Question(f"{history.id}{number}", history.id, "Who?", "t", ("Ann",) if number else (), abstention=not number)
        for history in histories
        for number in range(3)
    )
    prepared = Benchmark("b", histories, questions)
    found = part_b_questions(prepared, {"histories": 1})
    assert {name: [question.id for question in some] for name, some in found.items()} == {"b": ["b1", "b2"]}
    assert set(part_b_questions(prepared, {"histories": None})) == {"b", "c"}
