"""Qwen2.5's vocabulary: the ids its own tokenizer gives."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memgauge.errors import AssetError
from memgauge.text import qwen
from memgauge.text.qwen import count_qwen, qwen_ids
from memgauge.text.tokens import VOCABULARY_FILE


def test_known_ids() -> None:
    assert qwen_ids("hello world") == [14990, 1879]


def test_composed_and_decomposed_letters_are_one_text() -> None:
    assert qwen_ids("cafe\u0301") == qwen_ids("caf\u00e9")


def test_every_digit_is_a_token_and_control_tokens_are_plain_text() -> None:
    assert count_qwen(["2023", ""]) == [4, 0]
    assert len(qwen_ids("<|endoftext|>")) > 1


def test_an_absent_vocabulary_says_how_to_get_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MEMGAUGE_MODELS", str(tmp_path))
    qwen._encoding.cache_clear()
    with pytest.raises(AssetError, match=r"dvc repro assets@qwen2\.5"):
        qwen_ids("hello")
    qwen._encoding.cache_clear()


def test_counting_leaves_the_models_folder_as_it_is(models: Path, tmp_path: Path) -> None:
    """Both vocabularies in one process: tiktoken's cache is the folder of one of them."""
    for name in ("cl100k_base", "qwen2.5"):
        (tmp_path / name).mkdir()
        for file in models.joinpath(name).iterdir():
            if not (name == "cl100k_base" and file.name not in (VOCABULARY_FILE, "NOTICE.txt")):
                (tmp_path / name / file.name).symlink_to(file)
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    code = "from memgauge.text.qwen import count_qwen; from memgauge.text.tokens import count_tokens\n"
    code += "assert count_tokens('Hello there') == 2; assert count_qwen(['Hello there']) == [2]"
    environment = {**os.environ, "MEMGAUGE_MODELS": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) == before
