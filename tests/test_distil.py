"""LoRA-A: what is learnt and what is not, the merge, the same bytes again, and a kill in between."""

import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memgauge.errors import InputError
from memgauge.llm.local import LocalChatModel
from memgauge.training.adapter import Lora, merge
from memgauge.training.distil import Distillation, distil, encode_rows, sft_config
from memgauge.training.machine import Machine
from memgauge.training.resume import last_whole, run_folder

from .tiny_model import build_tiny
from .train_tiny import LORA, SFT, chats, run_sft

WEIGHTS = "adapter_model.safetensors"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def texts() -> list[str]:
    return [turn["value"] for chat in chats(24) for turn in chat["conversations"]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("distil")
    build_tiny(folder / "base", texts())
    return folder


@pytest.fixture(scope="module")
def heard() -> list[tuple[int, dict[str, float]]]:
    return []


@pytest.fixture(scope="module")
def once(place: Path, heard: list[tuple[int, dict[str, float]]]) -> Any:
    return run_sft(place, "once", lambda step, values: heard.append((step, values)))


def test_the_loss_falls_and_every_step_is_heard(once: Any, heard: list[tuple[int, dict[str, float]]]) -> None:
    assert len(once.losses) == SFT.steps(24) == 12
    assert sum(once.losses[-3:]) < 0.9 * sum(once.losses[:3])
    assert [step for step, values in heard if "loss" in values] == list(range(1, 13))
    assert [(step, values["eval_loss"]) for step, values in heard if "eval_loss" in values] == list(once.validation)


def test_the_best_state_is_the_one_kept(place: Path, once: Any) -> None:
    """A rate that wrecks the later steps: the adapter is that of the best validation, not the last."""
    wild = replace(SFT, learning_rate=300.0, epochs=2, evaluations=12)
    found = run_sft(place, "wild", settings=wild)
    losses = dict(found.validation)
    assert losses[found.best_step] == min(losses.values())
    assert found.best_step != max(losses)
    again = run_sft(place, "same", settings=wild)
    assert digest(place / "same" / WEIGHTS) == digest(place / "wild" / WEIGHTS)
    assert again == found


def test_the_loss_is_on_the_reply_alone(place: Path) -> None:
    """The oracle: transformers' own loss of the reply given the prompt, before any step."""
    import torch

    chat = LocalChatModel(place / "base")
    rows, _ = encode_rows(chat, chats(4), 300)
    with torch.inference_mode():
        total = 0.0
        for row in rows:
            ids = torch.tensor([[*row.prompt, *row.reply]])
            labels = torch.tensor([[*[-100] * len(row.prompt), *row.reply]])
            total += float(chat.model(input_ids=ids, labels=labels).loss) * len(row.reply)
    settings = replace(SFT, epochs=1, evaluations=1)
    found = distil(place / "base", chats(4), chats(2), settings, 7, place / "first", place / "kept")
    assert found.losses[0] == pytest.approx(total / sum(len(row.reply) for row in rows), rel=1e-4)


def test_the_same_bytes_again_and_others_with_another_seed(place: Path, once: Any) -> None:
    assert run_sft(place, "twice") == once
    run_sft(place, "other", seed=8)
    assert digest(place / "twice" / WEIGHTS) == digest(place / "once" / WEIGHTS) != digest(place / "other" / WEIGHTS)
    assert not list((place / "kept").glob("*/*")), "a finished training leaves no checkpoint"


def test_a_killed_training_goes_on_to_the_same_bytes(place: Path, once: Any) -> None:
    script = Path(__file__).with_name("train_tiny.py")
    killed = subprocess.run(
        [sys.executable, str(script), "sft", str(place), "killed", "8"], capture_output=True, check=False
    )
    assert killed.returncode == -9, killed.stderr.decode()
    left = next((place / "kept").iterdir())
    half = left / "checkpoint-99"
    half.mkdir()
    (half / WEIGHTS).write_bytes(b"half")
    steps: list[int] = []
    found = run_sft(place, "killed", lambda step, values: steps.append(step))
    assert min(steps) > 1, "it went on"
    assert found == once
    assert digest(place / "killed" / WEIGHTS) == digest(place / "once" / WEIGHTS)


def test_the_merged_folder_replies_as_the_adapter_does(place: Path, once: Any) -> None:
    import torch
    from peft import PeftModel

    merge(place / "base", place / "once", place / "merged")
    ids = torch.tensor([encode_rows(LocalChatModel(place / "base"), chats(1), 300)[0][0].prompt])
    beside = PeftModel.from_pretrained(LocalChatModel(place / "base").model, str(place / "once"))
    with torch.inference_mode():
        whole = LocalChatModel(place / "merged").model(input_ids=ids).logits
        adapted = beside(input_ids=ids).logits
        plain = LocalChatModel(place / "base").model(input_ids=ids).logits
    assert float((whole - adapted).abs().max()) < 1e-4
    assert float((whole - plain).abs().max()) > 1e-2
    merge(place / "base", place / "once", place / "again")
    files = sorted(path.name for path in (place / "merged").iterdir())
    assert "model.safetensors" in files
    assert all(digest(place / "again" / name) == digest(place / "merged" / name) for name in files)
    assert str(place) not in (place / "merged" / "config.json").read_text()


def test_long_rows_are_counted_and_left_out(place: Path) -> None:
    chat = LocalChatModel(place / "base")
    long = {"conversations": [{"from": "human", "value": "word " * 400}, {"from": "gpt", "value": "yes"}]}
    rows, left_out = encode_rows(chat, [*chats(3), long], 300)
    assert (len(rows), left_out) == (3, 1)
    assert all(row.reply[-1] == chat.tokenizer.eos_token_id for row in rows)
    with pytest.raises(InputError, match="0 rows to train on and 2 to validate"):
        distil(place / "base", [long], chats(2), SFT, 7, place / "no", place / "kept")


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"conversations": [{"from": "human", "value": "a"}]}, "does not end with a reply"),
        ({"conversations": [{"from": "gpt", "value": "a"}]}, "does not end with a reply"),
        ({}, "does not end with a reply"),
        ({"conversations": [{"from": "user", "value": "a"}]}, "`from` must be one of system, human, gpt"),
        ({"conversations": [{"from": "human", "value": None}]}, "`value` text"),
    ],
)
def test_a_row_that_is_no_chat_is_an_error(place: Path, row: dict[str, Any], fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        encode_rows(LocalChatModel(place / "base"), [row], 300)


def test_a_checkpoint_of_other_settings_is_another_folder(tmp_path: Path) -> None:
    assert run_folder(tmp_path, SFT, 7) == run_folder(tmp_path, SFT, 7) != run_folder(tmp_path, SFT, 8)
    assert run_folder(tmp_path, replace(SFT, epochs=9), 7) != run_folder(tmp_path, SFT, 7)
    assert last_whole(tmp_path / "none") is None


def test_the_paper_settings_build_a_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """bf16 on a GPU can only be configured where there is one; the rest is checked here."""
    paper = Distillation(
        lora=Lora(dropout=0.05, layers=0), learning_rate=1e-4, max_tokens=8192, per_device=2, accumulate=8,
        machine=Machine(bf16=True, gradient_checkpointing=True),
    )  # fmt: skip
    config = sft_config(paper, 1185, 1, tmp_path)
    assert (config.bf16, config.gradient_checkpointing, config.learning_rate) == (True, True, 1e-4)
    assert paper.steps(1185) == 75
    assert config.eval_steps == 37


@pytest.mark.parametrize("option", [{"epochs": 0}, {"per_device": 0}, {"learning_rate": 0.0}, {"max_tokens": -1}])
def test_an_impossible_option_is_refused(option: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(option))):
        Distillation(**option)


def test_only_the_named_projections_of_the_top_layers_learn(place: Path) -> None:
    model = LORA.attach(LocalChatModel(place / "base").model, 3)
    names = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert len(names) == 4
    assert all(".layers.1.self_attn." in name for name in names)
    with pytest.raises(InputError, match="the model has 2"):
        Lora(layers=3).attach(LocalChatModel(place / "base").model, 3)
