"""LoRA on a frozen causal language model: attach it, and write it as peft safetensors that are always alike."""

from pathlib import Path
from typing import Any

from memgauge.errors import InputError
from memgauge.files import write_bytes, write_json

PROJECTIONS = ("k_proj", "o_proj", "q_proj", "v_proj")


def attach(model: Any, rank: int, layers: int, seed: int) -> Any:
    """The model with trainable low-rank updates on the attention of its top `layers` layers (changed in place).

    Only the top layers, so that the backward pass stops there; scale 2, no dropout. The start is drawn from `seed`.
    """
    import torch
    from peft import LoraConfig, get_peft_model

    depth = int(model.config.num_hidden_layers)
    if not 1 <= layers <= depth:
        raise InputError(f"layers is {layers}; the model has {depth}, so choose from 1 to {depth}")
    settings = LoraConfig(
        r=rank,
        lora_alpha=2 * rank,
        lora_dropout=0.0,
        target_modules=list(PROJECTIONS),
        layers_to_transform=list(range(depth - layers, depth)),
        task_type="CAUSAL_LM",
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return get_peft_model(model, settings)


def save(model: Any, folder: Path, base: str) -> None:
    """Write `adapter_model.safetensors` and `adapter_config.json`, without a path of this machine.

    `base` names the base model for people; the one who loads the adapter brings it.
    """
    from peft import get_peft_model_state_dict
    from safetensors.torch import save as to_bytes

    weights = {name: tensor.contiguous() for name, tensor in sorted(get_peft_model_state_dict(model).items())}
    write_bytes(folder / "adapter_model.safetensors", [to_bytes(weights, metadata={"format": "pt"})])
    settings = {**model.peft_config["default"].to_dict(), "base_model_name_or_path": base, "inference_mode": True}
    write_json(folder / "adapter_config.json", {name: _ordered(value) for name, value in settings.items()})


def _ordered(value: Any) -> Any:
    """Sets in one order: peft keeps module names in sets, whose order changes from process to process."""
    return sorted(value) if isinstance(value, (set, frozenset)) else value
