"""A profile over params.yaml: merged by key, comments kept, nothing half-written, and the shipped one fits."""

import shutil
from pathlib import Path

import pytest

from memgauge.cli import main
from memgauge.errors import InputError
from memgauge.params import apply, load
from memgauge.solvers.catalogue import make_solver
from memgauge.stages.solving import role_options
from memgauge.stages.table import check_params
from memgauge.tasks.answer_from_passages import AnswerFromPassages

REPOSITORY = Path(__file__).resolve().parent.parent
PARAMS = """\
seed: 17            # keeps its remark
systems: [verbatim]
role:
  writer:
    solver: extractive
    floor: 0.5
retrieval: {k: 5, mode: topk}
"""


@pytest.fixture
def params(tmp_path: Path) -> Path:
    path = tmp_path / "params.yaml"
    path.write_text(PARAMS, encoding="utf-8")
    return path


def profile(folder: Path, text: str) -> Path:
    path = folder / "profile.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_mappings_merge_lists_are_replaced_and_remarks_stay(params: Path, tmp_path: Path) -> None:
    changed = apply(params, profile(tmp_path, "systems: [epc]\nretrieval: {k: 10}\nseed: 17\n"))
    assert changed == ["systems", "retrieval.k"]
    assert load(params)["retrieval"] == {"k": 10, "mode": "topk"}
    assert load(params)["systems"] == ["epc"]
    assert "# keeps its remark" in params.read_text(encoding="utf-8")


def test_another_solver_replaces_the_old_ones_options(params: Path, tmp_path: Path) -> None:
    apply(params, profile(tmp_path, "role: {writer: {solver: language_model, model: m}}\n"))
    assert load(params)["role"]["writer"] == {"solver": "language_model", "model": "m"}


def test_an_empty_mapping_empties(params: Path, tmp_path: Path) -> None:
    assert apply(params, profile(tmp_path, "retrieval: {}\n")) == ["retrieval"]
    assert load(params)["retrieval"] == {}


@pytest.mark.parametrize("text", ["seed: [1", "- 1\n"])
def test_a_broken_profile_changes_nothing(params: Path, tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"profile\.yaml"):
        apply(params, profile(tmp_path, text))
    assert params.read_text(encoding="utf-8") == PARAMS


def test_the_papers_profile_fits_the_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    shutil.copy(REPOSITORY / "params.yaml", tmp_path / "params.yaml")
    monkeypatch.chdir(tmp_path)
    assert main(["profile", str(REPOSITORY / "profiles" / "paper.yaml")]) == 0
    assert "changed role.writer" in capsys.readouterr().out
    tree = load(Path("params.yaml"))
    check_params(tree)
    assert tree["benchmark"]["longmemeval"]["write_budget_tokens"] == 5000
    assert set(tree["readers"]) <= set(tree["role"]["reader"])


@pytest.mark.parametrize("names", [["paper_c"], ["paper", "paper_c"]])
def test_paper_cs_profile_sends_its_seed_to_its_endpoints(
    names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the file to the body of a request, over the default parameters and over the other papers' alike."""
    shutil.copy(REPOSITORY / "params.yaml", tmp_path / "params.yaml")
    for name in names:
        apply(tmp_path / "params.yaml", REPOSITORY / "profiles" / f"{name}.yaml")
    tree = load(tmp_path / "params.yaml")
    check_params(tree)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    sent = {}
    for role in (*tree["retention"]["readers"], "judge"):
        solver = make_solver(role_options(tree, role), lambda: None)
        request = solver.request(AnswerFromPassages("Where?", "here"))
        sent[role] = solver.chat_model.payload(request)
    assert {role: (body["temperature"], body.get("seed")) for role, body in sent.items()} == {
        "qwen": (0.0, 0),
        "mistral": (0.0, 0),
        "judge": (0.0, None),
    }
    assert sent["qwen"]["max_tokens"] == 1024
