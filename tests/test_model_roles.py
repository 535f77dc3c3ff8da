"""Roles with language models as a user meets them: real stages and commands in a folder, a scripted server behind."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memgauge.errors import InputError
from memgauge.llm.ledger import Ledger
from memgauge.params import load
from memgauge.solvers.catalogue import about_tokens, make_solver
from memgauge.stages.parts import parts_of
from memgauge.stages.solving import check_roles
from memgauge.stages.walk import estimate_pipeline
from memgauge.text.tokens import count_tokens

from .fault_server import FaultServer, Step, answer, by_request, completion, error, serving

ROOT = Path(__file__).parents[1]
KEY = "sk-canary-5d1e"
READ = ("refer", "synthetic", "far")


def counted(body: dict[str, Any]) -> Step:
    """A good answer that tells questions apart, with the tokens that this prompt has."""
    prompt = sum(count_tokens(message["content"]) + 4 for message in body["messages"])
    text = f"answer {prompt}"
    return answer(completion(text, usage={"prompt_tokens": prompt, "completion_tokens": count_tokens(text)}))


def cut_prompt(body: dict[str, Any]) -> Step:
    """A good answer by a server that read 10 tokens of the prompt and says so."""
    return answer(completion(usage={"prompt_tokens": 10, "completion_tokens": 3}))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The smallest prepared benchmark."""
    folder = tmp_path_factory.mktemp("prepared")
    write_params(folder, "http://127.0.0.1:1/v1")
    for stage in ("fetch", "prepare"):
        assert run(folder, stage, "synthetic").returncode == 0
    return folder / "data"


@pytest.fixture
def folder(tmp_path: Path, prepared: Path) -> Path:
    """A workspace with the models and the prepared benchmark."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "prepared").symlink_to(prepared / "prepared")
    (tmp_path / "models").symlink_to(ROOT / "models")
    return tmp_path


def write_params(folder: Path, endpoint: str, far: dict[str, Any] | None = None, **groups: Any) -> dict[str, Any]:
    """`params.yaml` (as JSON, which is YAML) with one reader behind an endpoint."""
    tree = load(ROOT / "params.yaml")
    tree["benchmark"]["synthetic"]["source"] |= {
        "histories": 4,
        "sessions_per_history": 4,
        "questions_per_history": 4,
    }
    role = {"solver": "language_model", "model": "small", "endpoint": endpoint, "key_variable": "FAR_KEY"}
    tree["role"]["reader"]["far"] = {**role, "max_wait_seconds": 1, "max_attempts": 2, **(far or {})}
    tree |= {"systems": ["verbatim"], "passage_systems": [], "passage_sources": ["history"]}
    tree |= {"readers": ["far"], "variant_readers": ["far"], **groups}
    tree["prices"]["models"]["small"] = {"input": 1.0, "output": 4.0}
    (folder / "params.yaml").write_text(json.dumps(tree))
    return tree


def run(folder: Path, *stage: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """One stage in a process of its own."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("DVC_", "MEMGAUGE_"))}
    settings = {**clean, "MEMGAUGE_MODELS": str(ROOT / "models"), "PYTHONPATH": str(ROOT / "src"), **environment}
    command = [sys.executable, "-m", "memgauge.stages", *stage]
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)


def answers(folder: Path) -> bytes:
    return (folder / "data" / "answers" / "synthetic" / "far" / "references.jsonl").read_bytes()


def spent_tokens(folder: Path) -> int:
    total = Ledger(folder / ".dvc" / "tmp" / "memgauge" / "ledger.sqlite").totals(())[()]
    return total.input_tokens


def test_nothing_is_paid_twice_or_differs_and_the_tape_needs_neither_server_nor_key(folder: Path) -> None:
    with serving(by_request(counted)) as server:
        write_params(folder, server.endpoint)
        assert run(folder, *READ, FAR_KEY=KEY).returncode == 0
        live, calls = answers(folder), len(server.seen.bodies)
        assert run(folder, *READ, FAR_KEY=KEY).returncode == 0
        assert (answers(folder), len(server.seen.bodies)) == (live, calls)
        endpoint = server.endpoint
    saved = memgauge(folder, "tape", "save", "paper")
    assert saved.returncode == 0, saved.stderr
    write_params(folder, endpoint, llm={"mode": "replay", "tape": "paper"})
    (folder / "data" / "answers" / "synthetic" / "far" / "references.jsonl").unlink()
    replayed = run(folder, *READ)
    assert replayed.returncode == 0, replayed.stderr
    assert answers(folder) == live
    assert not [file for file in folder.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()]


def memgauge(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """One command of the command line in a process of its own."""
    code = "import sys; from memgauge.cli import main; sys.exit(main(sys.argv[1:]))"
    settings = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MEMGAUGE_MODELS": str(ROOT / "models")}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)


def test_a_prompt_that_the_server_cut_is_no_answer(folder: Path) -> None:
    with serving(by_request(cut_prompt)) as server:
        write_params(folder, server.endpoint)
        assert run(folder, *READ, FAR_KEY=KEY).returncode == 0
    statuses = {json.loads(line)["status"] for line in answers(folder).splitlines()}
    assert statuses == {"context_truncated"}


def test_an_endpoint_that_fails_every_call_stops_the_stage_and_leaves_no_answers(folder: Path) -> None:
    with serving(answer(error("down for ECHO"), 500)) as server:
        write_params(folder, server.endpoint)
        found = run(folder, *READ, FAR_KEY=KEY)
    assert found.returncode == 2
    assert found.stderr.count("memgauge: ") == 1
    assert "8 calls in a row failed" in found.stderr
    assert "Traceback" not in found.stderr
    assert KEY not in found.stderr
    assert not (folder / "data" / "answers").exists()


def test_the_estimate_is_the_ledger_within_a_twentieth_and_zero_after_an_adapted_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = answer(error("Unsupported parameter: 'max_tokens'", param="max_tokens"), 400)
    script = by_request(lambda body: refusal if "max_tokens" in body else counted(body))
    with serving(script) as server:
        tree = write_params(folder, server.endpoint)
        monkeypatch.chdir(folder)
        monkeypatch.setenv("DVC_ROOT", str(folder))
        monkeypatch.setattr("memgauge.stages.walk.ASKING", {"refer": ""})
        before = estimated(tree)
        assert run(folder, *READ, FAR_KEY=KEY).returncode == 0
    assert before.input_tokens == pytest.approx(spent_tokens(folder), rel=0.05)
    assert estimated(tree).calls == 0


def estimated(tree: dict[str, Any]) -> Any:
    return next(each for each in estimate_pipeline(tree) if each.cell == "refer@synthetic-far")


def test_the_estimate_counts_the_judge(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = write_params(folder, "http://127.0.0.1:1/v1")
    tree["role"]["judge"] = tree["role"]["reader"]["far"]
    monkeypatch.chdir(folder)
    cells = {each.cell: each.calls for each in estimate_pipeline(tree)}
    questions = sum(1 for _ in (folder / "data/prepared/synthetic/questions.jsonl").open())
    # Two variants of NM, TFC, OE and each system's CSM and RM; where two show the same, one call serves both.
    conditions = 3 + 2 * len(tree["systems"])
    assert 2 * 2 * questions < cells["judge@synthetic-far"] <= 2 * conditions * questions
    assert cells["qualify"] > 0


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("concurrency", "4"),
        ("concurrency", 2.5),
        ("concurrency", True),
        ("timeout_seconds", "60"),
        ("max_attempts", None),
        ("extra", ["top_p"]),
        ("temperature", "0.5"),
        ("temperature", True),
        ("seed", "x"),
        ("model", 5),
        ("price_as", 7),
        ("price_as", "a model without a row"),
        ("key_variable", 5),
        ("endpoint", "http://127.0.0.1:abc/v1"),
        ("endpoint", "http://[::1/v1"),
        ("ask", 5),
    ],
)
def test_a_wrong_option_is_one_error_that_names_role_and_option(tmp_path: Path, option: str, value: object) -> None:
    tree = write_params(tmp_path, "http://127.0.0.1:1/v1", {option: value})
    with pytest.raises(InputError) as found:
        check_roles(tree)
    assert "role.reader.far" in str(found.value)
    assert option in str(found.value)


def test_an_endpoint_of_null_is_no_endpoint(tmp_path: Path) -> None:
    role = {"solver": "language_model", "model": str(tmp_path), "endpoint": None}
    (tmp_path / "config.json").write_text("{}")
    prices: list[str | None] = []
    make_solver(role, lambda: None, lambda model, name, price: prices.append(price) or model)
    assert prices == [None]
    assert list(parts_of(role)["files"]) == [str(tmp_path / "config.json")]


def test_other_scripts_are_not_counted_above_what_any_vocabulary_needs() -> None:
    english = "Ann moved to Oslo with her sister because of the university. " * 50
    assert about_tokens(english) == count_tokens(english)
    assert about_tokens("Анна переехала") == 4


@pytest.mark.parametrize("amount", ["abc", "-1", "nan", "inf"])
def test_an_amount_that_is_none_is_refused_before_any_stage(folder: Path, amount: str) -> None:
    write_params(folder, "http://127.0.0.1:1/v1")
    found = memgauge(folder, "repro", "--max-usd", amount)
    assert (found.returncode, found.stderr.count("\n")) == (2, 1)


def test_a_limit_stops_with_its_own_exit_code_and_a_broken_ledger_before_any_call(folder: Path) -> None:
    with serving(by_request(counted)) as server:
        write_params(folder, server.endpoint)
        assert run(folder, *READ, FAR_KEY=KEY, MEMGAUGE_MAX_USD="0.0001").returncode == 4
        assert 1 <= len(server.seen.bodies) <= 5
        assert_no_call_without_a_ledger(folder, server)


def assert_no_call_without_a_ledger(folder: Path, server: FaultServer) -> None:
    before = len(server.seen.bodies)
    ledger = folder / ".dvc" / "tmp" / "memgauge" / "ledger.sqlite"
    for file in ledger.parent.glob("ledger.sqlite*"):
        file.unlink()
    ledger.write_bytes(b"no database" * 500)
    assert run(folder, *READ, FAR_KEY=KEY).returncode == 2
    assert len(server.seen.bodies) == before


@pytest.mark.parametrize("command", [("tape", "save", "../x"), ("tape", "save", "x"), ("judge", "qualify")])
def test_a_command_in_a_folder_with_other_parameters_ends_in_one_line(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "params.yaml").write_text("{}")
    found = memgauge(tmp_path, *command)
    assert (found.returncode, found.stderr.count("\n")) == (2, 1), found.stderr
