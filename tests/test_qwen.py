"""Qwen2.5's vocabulary: the ids its own tokenizer gives."""

import pytest

from memgauge.errors import AssetError
from memgauge.text import qwen
from memgauge.text.qwen import count_qwen, qwen_ids


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
