"""What a run's tags say of what answered: weights, adapter and prompt by hash, nothing of what nobody knows."""

from pathlib import Path

import pytest

from memgauge.stages.track import _first_table, _reader_tags


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A model's and an adapter's folder."""
    for name in ("base", "tuned"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "weights.safetensors").write_bytes(name.encode())
    return tmp_path / "base", tmp_path / "tuned"


def test_an_adapter_is_part_of_the_models_hash(folders: tuple[Path, Path]) -> None:
    base, adapter = map(str, folders)
    plain = _reader_tags({"solver": "language_model", "model": base})
    tuned = _reader_tags({"solver": "language_model", "model": base, "adapter": adapter})
    assert plain["model_sha256"] != tuned["model_sha256"]
    assert plain["prompt_sha256"] == tuned["prompt_sha256"]


def test_a_model_behind_an_endpoint_has_no_hash_of_weights() -> None:
    tags = _reader_tags({"solver": "language_model", "model": "gpt", "endpoint": "http://127.0.0.1:1/v1"})
    assert "model_sha256" not in tags
    assert tags["model"] == "gpt"


def test_the_run_ends_with_the_diagnosis_table_alone() -> None:
    page = "# Title\n\nintroduction\n\n## Diagnosis\n\n| a |\n\n## More\n\n| b |\n"
    assert _first_table(page) == "Diagnosis\n\n| a |\n"
