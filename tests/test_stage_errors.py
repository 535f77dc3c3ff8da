"""A user's mistake in params.yaml: one line that names value, rule and cure, exit code 2, nothing half-written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Path:
    """A folder with params.yaml, models and one small prepared benchmark."""
    folder = tmp_path_factory.mktemp("stages")
    shutil.copy(REPOSITORY / "params.yaml", folder)
    (folder / "models").symlink_to(models.resolve())
    change(folder, "benchmark.synthetic.source.histories", 3)
    for name in ("fetch", "prepare"):
        done = stage(folder, name, "synthetic")
        assert done.returncode == 0, done.stderr
    return folder


def change(folder: Path, key: str, value: object) -> None:
    yaml = YAML()
    tree = yaml.load((folder / "params.yaml").read_text(encoding="utf-8"))
    node = tree
    *parents, last = key.split(".")
    for part in parents:
        node = node[part]
    node[last] = value
    with (folder / "params.yaml").open("w", encoding="utf-8") as stream:
        yaml.dump(tree, stream)


def stage(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memgauge.stages", *arguments]
    environment = {key: value for key, value in os.environ.items() if key != "MEMGAUGE_MODELS"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("key", "value", "arguments", "words"),
    [
        ("benchmark.synthetic.write_budget_tokens", 0, ("write", "synthetic", "verbatim"), "write_budget_tokens is 0"),
        ("benchmark.synthetic.write_budget_tokens", "2000", ("report",), "write_budget_tokens is '2000'"),
        ("benchmark.synthetic.recent_tokens", None, ("report",), "recent_tokens is None"),
        ("benchmark.synthetic.source", None, ("report",), "expected `object`"),
        ("benchmark.synthetic.select", "x", ("report",), "select is 'x'"),
        ("memory.verbatim", "x", ("report",), "memory.verbatim"),
        ("memory.verbatim.passage_tokens", 0, ("write", "synthetic", "verbatim"), "passage_tokens"),
        ("memory.verbatim.passage_size", 9, ("write", "synthetic", "verbatim"), "passage_size"),
        ("role.writer", "extractive", ("report",), "role.writer is 'extractive'"),
        ("role.writer.solver", "oracle", ("write", "synthetic", "summary"), "extractive, language_model"),
        ("role.reader.extractive.floor", "high", ("refer", "synthetic", "extractive"), "floor is 'high'"),
        ("role.reader.extractive.phrase", 0, ("refer", "synthetic", "extractive"), "phrase is 0"),
        ("benchmark.synthetic.source.histories", -1, ("fetch", "synthetic"), "at least 1"),
        ("benchmark.synthetic.source.history", 3, ("fetch", "synthetic"), "history"),
        ("benchmark.synthetic.source.history", 3, ("tune_reader",), "option of the synthetic benchmark 'history'"),
        ("benchmark.synthetic.select.splits", ["tset"], ("prepare", "synthetic"), "splits"),
        ("retrieval.k", 1.5, ("retrieve", "synthetic", "verbatim"), "retrieval.k is 1.5"),
        ("retrieval.mode", "all", ("report",), "retrieval.mode is 'all'"),
        ("retrieval", None, ("report",), "retrieval is None"),
        ("stats.draws", 0, ("diagnose", "synthetic"), "stats.draws is 0"),
        ("stats.draws", True, ("diagnose", "synthetic"), "stats.draws is True"),
        ("seed", -1, ("report",), "seed is -1"),
        ("systems", [], ("report",), "systems is []"),
        ("systems", "verbatim", ("report",), "systems is 'verbatim'"),
        ("systems", ["verbatim", "verbatim"], ("report",), "must occur once"),
        ("benchmarks", ["squad"], ("report",), "unknown benchmark 'squad'; choose from beam, locomo"),
        ("readers", ["gpt"], ("report",), "unknown reader 'gpt'; choose from extractive, smollm2"),
        ("retention.ask", {"smollm2": {"families": 0}}, ("make_stimuli",), "{'families': 0}}; expected `int` >= 1"),
        ("retention.ask", {"smollm2": {"wrappers": ["cloc"]}}, ("make_stimuli",), "invalid enum value 'cloc'"),
        ("retention.ask", {"smolm2": {}}, ("make_stimuli",), "names 'smolm2', which is not among `retention.readers`"),
        (
            "passage_systems",
            ["lightmem"],
            ("report",),
            "passage_systems names 'lightmem', which is not among `systems`",
        ),
        ("passage_sources", ["history", "epc"], ("report",), "it must be history and then passage_systems"),
        ("retention.readers", ["extractive", "gpt"], ("make_stimuli",), "unknown reader 'gpt'"),
        ("retention.readers", ["smollm2", "smollm2"], ("make_stimuli",), "must occur once"),
        ("sedd", 1, ("report",), "no stage reads: sedd"),
    ],
)
def test_wrong_value(
    prepared: Path, tmp_path: Path, key: str, value: object, arguments: tuple[str, ...], words: str
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(prepared, folder, symlinks=True)
    change(folder, key, value)
    before = sorted(path for path in folder.rglob("*") if path.is_file())
    done = stage(folder, *arguments)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert sorted(path for path in folder.rglob("*") if path.is_file()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("write", "synthetic", "memgpt"), "unknown memory system 'memgpt'; choose from budgetmem, epc, extractive, "),
        (("fetch", "squad"), "unknown benchmark 'squad'"),
        (("writ", "synthetic"), "unknown stage 'writ'"),
        (("write", "synthetic"), "takes 2 arguments (benchmark, system)"),
        (("read", "synthetic", "verbatim", "extractive"), "run the stage that makes it"),
    ],
)
def test_unknown_name_or_absent_input(prepared: Path, arguments: tuple[str, ...], words: str) -> None:
    done = stage(prepared, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_absent_model_names_the_command_that_brings_it(prepared: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(prepared, folder, symlinks=True)
    (folder / "models").unlink()
    done = stage(folder, "write", "synthetic", "verbatim")
    assert done.returncode == 2
    assert "dvc repro assets" in done.stderr


def test_training_data_need_no_place_among_the_benchmarks(prepared: Path, tmp_path: Path) -> None:
    """A grid over downloaded benchmarks alone still finds what MemoryCPT learns from."""
    for name in ("params.yaml", "models"):
        (tmp_path / name).symlink_to(prepared / name)
    done = stage(tmp_path, "prepare_training", "synthetic")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["training"]
    assert sorted(path.name for path in (tmp_path / "data" / "training").iterdir()) == ["test", "train", "val"]


def test_oddities_of_the_data_are_one_warning_with_their_counts(tmp_path: Path, real_data: Path, models: Path) -> None:
    shutil.copy(REPOSITORY / "params.yaml", tmp_path)
    (tmp_path / "models").symlink_to(models.resolve())
    (tmp_path / "data/raw/locomo").mkdir(parents=True)
    shutil.copy(real_data / "locomo10.json", tmp_path / "data/raw/locomo")
    done = stage(tmp_path, "prepare", "locomo")
    assert done.returncode == 0, done.stderr
    (warning,) = [line for line in done.stderr.splitlines() if "warning" in line]
    assert "captions_without_picture_address 316" in warning
    assert "evidence_strings_not_a_turn_id 9" in warning
