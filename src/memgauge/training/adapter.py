"""A LoRA adapter as both trainings attach it, and a base model with one merged into its weights."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgauge.errors import InputError
from memgauge.llm.local import LocalChatModel


@dataclass(frozen=True, slots=True)
class Lora:
    """A low-rank update of the projections `targets` in the top `layers` layers (0: all of them).

    The paper adapts with rank 16, scale 32 (`alpha`), dropout 0.05; without dropout and below the top the embedded
    training takes half the time and a fifth of the memory.
    """

    rank: int = 16
    alpha: int = 32
    dropout: float = 0.0
    layers: int = 12
    targets: tuple[str, ...] = ("k_proj", "o_proj", "q_proj", "v_proj")

    def attach(self, model: Any, seed: int) -> Any:
        """The model with the update to train, drawn from `seed` (changed in place); InputError for too many layers."""
        import torch
        from peft import LoraConfig, get_peft_model

        depth = int(model.config.num_hidden_layers)
        if not 0 <= self.layers <= depth:
            raise InputError(f"layers is {self.layers}; the model has {depth}, so choose from 0 (all) to {depth}")
        settings = LoraConfig(
            r=self.rank,
            lora_alpha=self.alpha,
            lora_dropout=self.dropout,
            target_modules=list(self.targets),
            layers_to_transform=list(range(depth - (self.layers or depth), depth)),
            task_type="CAUSAL_LM",
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return get_peft_model(model, settings)


def merge(base: Path, adapter: Path, folder: Path) -> None:
    """Write the base model with the adapter in its weights to `folder`: float32 safetensors, tokenizer, notices.

    `LocalChatModel(folder)` then replies as `LocalChatModel(base, adapter=adapter)` does. The same inputs and
    libraries give the same bytes.
    """
    whole = LocalChatModel(base, adapter=adapter)
    model = whole.model
    model.config._name_or_path = ""  # a path of this machine must not enter the file
    model.save_pretrained(folder)
    whole.tokenizer.save_pretrained(folder)
    for notice in sorted([*base.glob("NOTICE*"), *base.glob("LICENSE*")]):
        shutil.copyfile(notice, folder / notice.name)
    for path in folder.iterdir():
        path.chmod(0o644)  # weights come out readable by their owner only
