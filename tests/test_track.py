"""Stage `track`: every record is logged with the options that decided it, every page and picture is kept."""

import re
from pathlib import Path

import pytest

from memgauge.files import write_json, write_text
from memgauge.params import load
from memgauge.stages import track

REPOSITORY = Path(__file__).resolve().parent.parent
PARAMS = load(REPOSITORY / "params.yaml")
WITHOUT_OPTIONS = ("compare", "agree")  # they have no group in params.yaml
EXPERIMENTS = sorted(set(re.findall(r"metrics/experiments/(\w+)/", (REPOSITORY / "dvc.yaml").read_text())))


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One record of every experiment, each with one number."""
    monkeypatch.chdir(tmp_path)
    for name in EXPERIMENTS:
        write_json(Path("metrics/experiments") / name / "synthetic-extractive.json", {"value": 1.0})
        write_text(Path("metrics/experiments") / name / "synthetic-extractive.md", "page")
    write_json(Path("metrics/judged/synthetic.json"), {"value": 1.0})
    for name in track.SINGLE:
        write_json(Path("metrics") / f"{name}.json", {"value": 1.0})
    return tmp_path


def test_every_record_is_logged_with_the_options_that_decided_it(records: Path) -> None:
    cells = {str(cell.params["stage"]): cell.params for cell in track.experiments(PARAMS)}
    assert {"passage_budgets", "retention", "degrade", "compare_silver"} <= set(cells)
    bare = [name for name, params in cells.items() if set(params) == {"stage", "seed"}]
    assert sorted(bare) == sorted(WITHOUT_OPTIONS)
    assert cells["passage_budgets"]["passages.primary"] == PARAMS["passages"]["primary"]
    assert cells["source_judge"]["role.judge.solver"] == PARAMS["role"]["judge"]["solver"]
    assert cells["retention"]["retention.families"] == PARAMS["retention"]["families"]


def test_pages_and_pictures_of_every_part_are_artifacts(records: Path) -> None:
    for name in ("retention.md", "retention.png", "retention_slots.png", "retention_groups.png", "qpc/synthetic.md"):
        write_text(Path("metrics") / name, "x")
    found = {str(path) for path in track.artifacts(PARAMS)}
    assert {f"metrics/{name}" for name in ("retention.md", "retention.png", "retention_slots.png")} <= found
    assert "metrics/retention.json" not in found
    assert {f"metrics/experiments/{name}/synthetic-extractive.md" for name in EXPERIMENTS} <= found


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A model's and an adapter's folder."""
    for name in ("base", "tuned"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "weights.safetensors").write_bytes(name.encode())
    return tmp_path / "base", tmp_path / "tuned"


def test_an_adapter_is_part_of_the_models_hash(folders: tuple[Path, Path]) -> None:
    base, adapter = map(str, folders)
    plain = track._reader_tags({"solver": "language_model", "model": base})
    tuned = track._reader_tags({"solver": "language_model", "model": base, "adapter": adapter})
    assert plain["model_sha256"] != tuned["model_sha256"]
    assert plain["prompt_sha256"] == tuned["prompt_sha256"]


def test_a_model_behind_an_endpoint_has_no_hash_of_weights() -> None:
    tags = track._reader_tags({"solver": "language_model", "model": "gpt", "endpoint": "http://127.0.0.1:1/v1"})
    assert "model_sha256" not in tags
    assert tags["model"] == "gpt"


def test_the_run_ends_with_the_diagnosis_table_alone() -> None:
    page = "# Title\n\nintroduction\n\n## Diagnosis\n\n| a |\n\n## More\n\n| b |\n"
    assert track._first_table(page) == "Diagnosis\n\n| a |\n"
