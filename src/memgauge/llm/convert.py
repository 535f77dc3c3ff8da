"""Turns a GGUF chat model into a plain float32 safetensors folder, once, when assets are prepared.

A model read from GGUF calls itself quantised and cannot be saved, and reading it takes half a minute;
the folder written here loads in half a second.
"""

from pathlib import Path


def convert_gguf(gguf: Path, target: Path) -> None:
    """Write config, float32 weights and tokenizer (with its chat template) to `target`.

    `gguf` is one Llama-like model file; its quantised weights are expanded exactly as they are stored.
    Two conversions with the same libraries give the same bytes.
    """
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    expanded = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    settings = expanded.config.to_dict()
    settings.pop("quantization_config", None)
    settings.pop("_name_or_path", None)  # a path of this machine must not enter the file
    config = AutoConfig.for_model(**settings)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(expanded.state_dict())
    model.save_pretrained(target)
    tokenizer = AutoTokenizer.from_pretrained(**source)
    tokenizer.save_pretrained(target)
    for path in target.iterdir():
        path.chmod(0o644)  # weights come out readable by their owner only
