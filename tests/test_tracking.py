"""A real MLflow store: names, limits, undefined values and how runs end."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mlflow.entities import Run
from mlflow.tracking import MlflowClient

from memgauge.errors import InputError
from memgauge.files import write_json
from memgauge.stages import equip_readers, track
from memgauge.tracking import Cell, live_run, log_pipeline, metric_names, open_store


def runs(root: Path) -> list[Run]:
    client = MlflowClient(f"sqlite:///{root / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("memgauge")
    return [] if experiment is None else list(client.search_runs([experiment.experiment_id]))


def test_cells_are_children_with_params_metrics_and_tags(tmp_path: Path) -> None:
    table = tmp_path / "tables" / "t.md"
    table.parent.mkdir()
    table.write_text("| a |\n")
    open_store(tmp_path)
    many = {f"p{number}": number for number in range(150)}
    cell = Cell("c", {**many, "long": "x" * 6001}, {"recall@5": 0.5, "rm": None}, {"data_sha256": "d"})
    parent_id = log_pipeline("run", {"commit": "abc"}, [cell], [table])
    found = {run.info.run_name: run for run in runs(tmp_path)}
    child, parent = found["c"], found["run"]
    assert parent.info.run_id == parent_id
    assert child.data.tags["mlflow.parentRunId"] == parent_id
    assert child.data.metrics == {"recall_at_5": 0.5}
    assert child.data.tags["undefined"] == "rm"
    assert len(child.data.params) == 151
    assert child.data.params["long"].startswith("sha256:")
    assert {run.info.status for run in found.values()} == {"FINISHED"}
    assert (tmp_path / "mlartifacts" / parent_id / "artifacts" / "tables" / "t.md").is_file()


def history_of(root: Path, run: Run, metric: str) -> list[tuple[int, float]]:
    client = MlflowClient(f"sqlite:///{root / 'mlflow.db'}")
    return [(each.step, each.value) for each in client.get_metric_history(run.info.run_id, metric)]


def test_a_cells_curve_is_logged_step_by_step(tmp_path: Path) -> None:
    open_store(tmp_path)
    steps = [{"reward": 0.25, "kl": None}, {"reward": 0.5, "kl": 0.125}]
    log_pipeline("run", {}, [Cell("c", {}, {"qpc": 0.5}, steps=steps)], [])
    (cell,) = [run for run in runs(tmp_path) if run.info.run_name == "c"]
    assert history_of(tmp_path, cell, "reward") == [(0, 0.25), (1, 0.5)]
    assert history_of(tmp_path, cell, "kl") == [(1, 0.125)]


def test_a_live_run_shows_each_step_while_it_works(tmp_path: Path) -> None:
    open_store(tmp_path)
    with live_run("train", {"alpha": 0.6}, {"stage": "train"}) as log:
        log(3, {"reward": 0.75, "kl": None})
        (running,) = runs(tmp_path)
        assert running.info.status == "RUNNING"
        assert history_of(tmp_path, running, "reward") == [(3, 0.75)]
    (ended,) = runs(tmp_path)
    assert (ended.info.status, ended.data.params["alpha"], ended.data.tags["stage"]) == ("FINISHED", "0.6", "train")


def test_a_live_run_that_fails_ends_as_failed(tmp_path: Path) -> None:
    open_store(tmp_path)
    with pytest.raises(InputError), live_run("train", {}, {}):
        raise InputError("stop")
    assert {run.info.status for run in runs(tmp_path)} == {"FAILED"}


def test_an_error_ends_its_runs_as_failed(tmp_path: Path) -> None:
    open_store(tmp_path)
    with pytest.raises(InputError):
        log_pipeline("run", {}, [Cell("c", {}, {"a@b": 1.0, "a_at_b": 2.0})], [])
    assert {run.info.status for run in runs(tmp_path)} == {"FAILED"}


def test_a_terminated_process_leaves_killed_runs(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "import memgauge.tracking as tracking\n"
        "tracking.open_store(Path(sys.argv[1]))\n"
        "def stall(cell):\n"
        "    print('logging', flush=True)\n"
        "    time.sleep(60)\n"
        "tracking._log_cell = stall\n"
        "tracking.log_pipeline('run', {}, [tracking.Cell('c', {}, {})], [])\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "logging\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    assert {run.info.status for run in runs(tmp_path)} == {"KILLED"}


def test_two_metrics_with_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="share the MLflow name"):
        metric_names({"recall@5": 1.0, "recall_at_5": 2.0})


CANARY = "sk-canary-77aa31"


def test_no_key_reaches_the_store_of_a_paid_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell of a reader behind an endpoint, logged as the stage logs it while its key is in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAR_KEY", CANARY)
    far = {"solver": "language_model", "model": "small", "endpoint": "http://host/v1", "key_variable": "FAR_KEY"}
    equip_readers.main({"readers": ["far"], "retention.readers": [], "role.qa": far, "role.reader": {"far": far}})
    write_json(tmp_path / "metrics/cells/synthetic.json", {"far": {"verbatim": {"gap": {"write": 0.5}}}})
    params = {
        **{"seed": 1, "readers": ["far"], "systems": ["verbatim"], "retrieval": {"k": 5}},
        "role": {"reader": {"far": {**far, "note": "long " * 2000}}, "writer": far},
        "memory": {"verbatim": {}},
        "benchmark": {"synthetic": {}},
    }
    open_store(tmp_path)
    cells = list(track._cells("synthetic", params))
    log_pipeline("run", {}, cells, [tmp_path / "metrics/cells/synthetic.json"])
    with pytest.raises(InputError), live_run("train", cells[0].params, {}):
        raise InputError("stop")
    (cell,) = [run for run in runs(tmp_path) if run.info.run_name == "synthetic-verbatim-far"]
    assert cell.data.params["reader.key_variable"] == "FAR_KEY"
    written = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {"mlflow.db", "long_params.json"} <= set(written)
    assert any(b"FAR_KEY" in content for content in written.values())
    assert [name for name, content in written.items() if CANARY.encode() in content] == []
