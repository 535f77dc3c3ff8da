"""The GGUF conversion, on a tiny Llama written as GGUF by hand: same logits, same text, same bytes."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from memgauge.llm.convert import convert_gguf

HIDDEN, HEADS, KV_HEADS, LAYERS, INNER = 32, 4, 2, 2, 64
TEMPLATE = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
LAYER_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def rotary_order(weight: np.ndarray, heads: int) -> np.ndarray:
    """GGUF keeps the two halves of every head's rotary pairs interleaved."""
    return weight.reshape(heads, 2, -1, weight.shape[-1]).swapaxes(1, 2).reshape(weight.shape)


def tiny_model(vocabulary: int) -> object:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=HIDDEN,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        max_position_embeddings=64,
        initializer_range=0.5,
        tie_word_embeddings=True,
    )
    return LlamaForCausalLM(config).eval()


def gguf_tensors(model: object) -> dict[str, np.ndarray]:
    state = {name: value.numpy() for name, value in model.state_dict().items()}  # type: ignore[attr-defined]
    tensors = {
        "token_embd.weight": state["model.embed_tokens.weight"],
        "output_norm.weight": state["model.norm.weight"],
    }
    for layer in range(LAYERS):
        for theirs, ours in LAYER_NAMES.items():
            weight = state[f"model.layers.{layer}.{theirs}.weight"]
            heads = {"attn_q": HEADS, "attn_k": KV_HEADS}.get(ours)
            tensors[f"blk.{layer}.{ours}.weight"] = rotary_order(weight, heads) if heads else weight
    return tensors


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, object]:
    import gguf
    from tokenizers.pre_tokenizers import ByteLevel

    tokens = ["<unk>", "<s>", "</s>", *sorted(ByteLevel.alphabet()), "An", "Ann"]
    model = tiny_model(len(tokens))
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, 3, *[1] * (len(tokens) - 3)])
    writer.add_token_merges(["A n", "An n"])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)
    for name, tensor in gguf_tensors(model).items():
        writer.add_tensor(name, np.ascontiguousarray(tensor))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path, model


@pytest.fixture(scope="module")
def converted(source: tuple[Path, object], tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("converted")
    convert_gguf(source[0], target)
    return target


def test_the_converted_model_has_the_logits_of_the_original(source: tuple[Path, object], converted: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(converted, local_files_only=True)
    ids = torch.tensor([[5, 9, 200, 31, 7, 7, 100]])
    with torch.inference_mode():
        expected = source[1](ids).logits  # type: ignore[operator]
        assert torch.allclose(model(ids).logits, expected, atol=1e-5)


def test_the_folder_is_plain_float32_without_a_trace_of_its_source(converted: Path) -> None:
    config = json.loads((converted / "config.json").read_text())
    assert config["dtype"] == "float32"
    assert "quantization_config" not in config
    for path in converted.iterdir():
        assert path.stat().st_mode & 0o777 == 0o644
        assert path.suffix in {".json", ".safetensors", ".jinja"}
        assert b"/tmp" not in path.read_bytes()


def test_the_tokenizer_and_chat_template_come_along(converted: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(converted, local_files_only=True)
    ids = tokenizer("Anné 7", add_special_tokens=False)["input_ids"]
    assert tokenizer.convert_ids_to_tokens(ids)[0] == "Ann"
    assert tokenizer.decode(ids) == "Anné 7"
    assert tokenizer.chat_template == TEMPLATE


def test_two_conversions_give_the_same_bytes(source: tuple[Path, object], converted: Path, tmp_path: Path) -> None:
    convert_gguf(source[0], tmp_path)

    def sums(folder: Path) -> dict[str, str]:
        return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}

    assert sums(tmp_path) == sums(converted)
