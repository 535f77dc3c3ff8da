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
from memgauge.stages.walk import estimate_pipeline, not_counted
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


def test_commands_tell_what_a_run_took_and_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAR_KEY", KEY)
    with serving(by_request(counted)) as server:
        write_params(folder, server.endpoint)
        for _ in range(2):
            assert run(folder, *READ).returncode == 0
        calls = len(server.seen.bodies)
    total = Ledger(folder / ".dvc" / "tmp" / "memgauge" / "ledger.sqlite").totals(("subject",))
    histories = {json.loads(line)["id"] for line in (folder / "data/prepared/synthetic/histories.jsonl").open()}
    assert {subject for (subject,) in total} == histories
    told = memgauge(folder, "ledger")
    head, row = told.stdout.splitlines()
    assert head.split() == ["run", "role", "stage", "paid", "stored", "input", "output", "spent", "saved"]
    found = json.loads(memgauge(folder, "ledger", "--json").stdout)
    assert [(each["cell"], each["paid"]) for each in found] == [("refer@synthetic-far", calls)]
    assert row.split()[:5] == [
        "workspace",
        "reader.far",
        "refer@synthetic-far",
        str(calls),
        str(found[0]["from_store"]),
    ]
    assert row.endswith(f"{found[0]['saved'] / 1e12:.4f} USD")
    assert found[0]["saved"] >= found[0]["cost"] > 0
    assert memgauge(folder, "tape", "save", "paper").returncode == 0
    verified = memgauge(folder, "tape", "verify", "paper")
    assert verified.stdout.startswith(f"{calls} calls (small {calls}), 0 of them failures")
    estimates = {each["cell"]: each for each in json.loads(memgauge(folder, "estimate", "--json").stdout)}
    assert estimates["refer@synthetic-far"]["calls"] == 0
    assert estimates["read@synthetic-verbatim-far"]["calls"] > 0


def test_the_ledger_tells_whose_answers_were_judged(folder: Path) -> None:
    with serving(by_request(counted)) as server:
        tree = write_params(folder, server.endpoint)
        tree["role"]["judge"] = tree["role"]["reader"]["far"]
        (folder / "params.yaml").write_text(json.dumps(tree))
        for stage in (READ, ("judge", "synthetic", "far"), ("qualify",)):
            found = run(folder, *stage, FAR_KEY=KEY)
            assert found.returncode == 0, found.stderr
            (folder / "data/answers/synthetic/far/verbatim.jsonl").touch()  # a system without answers
    lines = Ledger(folder / ".dvc" / "tmp" / "memgauge" / "ledger.sqlite").totals(("cell", "subject"))
    histories = {json.loads(line)["id"] for line in (folder / "data/prepared/synthetic/histories.jsonl").open()}
    assert {subject for cell, subject in lines if cell == "judge@synthetic-far"} == histories
    assert {subject for cell, subject in lines if cell == "qualify"} == {"qualification set"}
    verdicts = (folder / "data/verdicts/synthetic/far/references.jsonl").read_text().splitlines()
    answered = [json.loads(line)["question_id"] for line in answers(folder).splitlines()]
    assert [json.loads(line)["question_id"] for line in verdicts] == answered * 2, "in the answers' order, twice"


def test_the_judge_is_qualified_by_command(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    found = memgauge(tmp_path, "judge", "qualify", "--json")
    assert found.returncode == 0, found.stderr
    shown = json.loads(found.stdout)
    assert list(shown) == ["strict", "generous"]
    for variant, each in shown.items():
        assert (each["variant"], each["judge"]) == (variant, "extractive")
        assert each["items"] == each["false_accepts"]["judged"] + each["false_rejects"]["judged"] > 100


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


def test_the_estimate_of_the_default_ends_before_its_models_are_trained(tmp_path: Path, prepared: Path) -> None:
    """The default as it is shipped, on the smallest benchmark: what cannot be counted is named."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "prepared").symlink_to(prepared / "prepared")
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    (tmp_path / "models").mkdir()
    for name in ("minilm", "smollm2"):  # what is fetched, not what is trained
        (tmp_path / "models" / name).symlink_to(ROOT / "models" / name)
    found = memgauge(tmp_path, "estimate")
    assert found.returncode == 0, found.stderr
    named, reader = found.stderr.splitlines()
    stages = ["track_states", "distil", "write_student", "summarise_retrieved"]
    assert named.partition("language models: ")[2].split(", ") == stages
    assert reader == "memgauge: reader.tuned is not counted: models/tuned is yet to be made"
    assert found.stdout == "no role asks a language model that is there\n"


RUN_ARMS = {"run_degrade", "run_sweep", "run_ablate", "run_weigh"}
LATER = {  # the stages that are not walked, by the role that they ask
    "reader": {*RUN_ARMS, "read_silver", "read_passages", "track_states"},
    "writer": {*RUN_ARMS, "ask_qa", "rank_entries"},
    "judge": {"score_passages", "ask_qa", "ask_qa_student", "ask_qa_depths"},
    "qa": {"train_summariser", "ask_qa", "ask_qa_student", "ask_qa_depths"},
    "teacher": {"collect_traces", "train_summariser"},
    "summariser": {"summarise_retrieved"},
    "finder": set(),
}


@pytest.mark.parametrize("role", LATER)
def test_every_stage_that_asks_a_role_is_walked_or_named(tmp_path: Path, role: str) -> None:
    tree = write_params(tmp_path, "http://127.0.0.1:1/v1", variant_readers=["far"])
    model = tree["role"]["reader"]["far"]
    roles = {name: {"solver": "extractive"} for name in tree["role"] if name != "reader"}
    tree["role"] = {**roles, "reader": {"far": {"solver": "extractive"}}}
    tree["retention"]["readers"] = ["far"]
    assert set(not_counted(tree)) == {"distil", "write_student"}
    tree["role"] |= {"reader": {"far": model}} if role == "reader" else {role: model}
    assert set(not_counted(tree)) == {"distil", "write_student"} | LATER[role]


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


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            answer(error("Incorrect API key provided: ECHO", "invalid_api_key"), 401),
            "does not accept the key in FAR_KEY",
        ),
        (answer(error("The model `small` does not exist", "model_not_found"), 404), "has no model 'small'"),
        (None, "cannot be reached"),
    ],
    ids=["wrong key", "wrong model", "dead port"],
)
def test_repro_tells_what_cannot_work_before_any_stage(
    folder: Path, monkeypatch: pytest.MonkeyPatch, step: Step | None, words: str
) -> None:
    monkeypatch.setenv("FAR_KEY", KEY)
    with serving(step or answer()) as server:
        write_params(folder, server.endpoint if step else "http://127.0.0.1:1/v1")
        found = memgauge(folder, "repro")
    assert (found.returncode, found.stderr.count("\n")) == (2, 1), found.stderr
    assert words in found.stderr
    assert KEY not in found.stderr
    assert len(server.seen.bodies) == (1 if step else 0)


def test_repro_asks_each_endpoint_for_one_token_and_none_for_a_replay(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAR_KEY", KEY)
    with serving(answer()) as server:
        write_params(folder, server.endpoint, llm={"mode": "replay", "tape": "absent"})
        assert "dvc" in memgauge(folder, "repro").stderr.lower()  # dvc came to its turn: there is no pipeline here
        assert server.seen.bodies == []
        write_params(folder, server.endpoint)
        assert "dvc" in memgauge(folder, "repro").stderr.lower()
    assert [body["max_tokens"] for body in server.seen.bodies] == [1]


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
