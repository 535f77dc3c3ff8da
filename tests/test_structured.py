"""Constrained decoding with a real tokenizer: whatever a model prefers, a finished reply satisfies its schema."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memgauge.errors import InputError, MemgaugeError
from memgauge.llm.chat import ChatReply, ChatRequest, OnReply, ignore
from memgauge.llm.structured import NextTokens, constrain
from memgauge.solvers.language_model import LanguageModelSolver, schema_text
from memgauge.tasks.base import ParseFailure
from memgauge.tasks.judge_answer import JudgeAnswer, Verdict
from memgauge.tasks.score_rubric_item import ScoreRubricItem

pytestmark = pytest.mark.models
JUDGE = JudgeAnswer("Where?", ("Oslo",), "Bergen")
ITEM = ScoreRubricItem("names Oslo", "Bergen")
Tokenizer = Any


@pytest.fixture(scope="module")
def tokenizer(models: Path) -> Tokenizer:
    if not (models / "smollm2" / "tokenizer.json").is_file():
        pytest.skip("models/smollm2 is not there")
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(models / "smollm2", local_files_only=True)


@pytest.fixture(scope="module")
def follow(tokenizer: Tokenizer) -> Callable[[str], NextTokens]:
    return constrain(tokenizer, len(tokenizer))


def random_llama(size: int, seed: int) -> Any:
    """A Llama of random weights: it prefers anything but JSON."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=size, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2
    )
    return LlamaForCausalLM(config).eval()


def decode_greedily(model: Any, prompt: list[int], follower: NextTokens, end: int, limit: int) -> list[int]:
    import torch

    new: list[int] = []
    while len(new) < limit and (not new or new[-1] != end):
        with torch.inference_mode():
            logits = model(torch.tensor([prompt + new])).logits[0, -1].numpy()
        new.append(int(np.where(follower(new), logits, -np.inf).argmax()))
    return new


class Constrained:
    """A chat model of random weights that honours the request's schema as the local engine does."""

    def __init__(self, tokenizer: Tokenizer, follow: Callable[[str], NextTokens], seed: int, limit: int) -> None:
        self.tokenizer, self.follow, self.limit = tokenizer, follow, limit
        self.model = random_llama(len(tokenizer), seed)

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        return {}

    def generate(self, requests: Any, on_reply: OnReply = ignore) -> list[ChatReply]:
        return [self._reply(request) for request in requests]

    def _reply(self, request: ChatRequest) -> ChatReply:
        prompt = self.tokenizer(request.messages[-1]["content"])["input_ids"][-40:]
        end = self.tokenizer.eos_token_id
        new = decode_greedily(self.model, prompt, self.follow(request.schema or ""), end, self.limit)
        text = self.tokenizer.decode(new, skip_special_tokens=True)
        return ChatReply(text, "stop" if new[-1] == end else "length", len(prompt), len(new))


@pytest.mark.parametrize("seed", range(4))
def test_a_finished_reply_satisfies_its_schema_whatever_the_weights(
    tokenizer: Tokenizer, follow: Callable[[str], NextTokens], seed: int
) -> None:
    solver = LanguageModelSolver(Constrained(tokenizer, follow, seed, limit=300))
    (verdict,) = solver.solve([JUDGE])
    assert verdict.status == "ok"
    assert isinstance(verdict.output, Verdict)
    found = json.loads(verdict.reply)
    assert list(found) == ["reason", "verdict"]
    assert len(found["reason"]) <= 240
    assert found["verdict"] in ("correct", "wrong")
    (mark,) = solver.solve([ITEM])
    assert mark.output in (0.0, 0.5, 1.0)
    assert json.loads(mark.reply)["score"] == mark.output


@pytest.mark.parametrize("limit", [1, 2, 7, 12])
def test_a_reply_cut_by_its_limit_is_truncated_and_never_half_an_object(
    tokenizer: Tokenizer, follow: Callable[[str], NextTokens], limit: int
) -> None:
    (result,) = LanguageModelSolver(Constrained(tokenizer, follow, 0, limit)).solve([JUDGE])
    assert (result.status, result.output) == ("truncated", None)
    assert isinstance(JUDGE.parse(result.reply), ParseFailure)  # nor would its text be read as a whole one


def test_masks_allow_every_token_of_a_valid_reply_and_then_only_the_end(
    tokenizer: Tokenizer, follow: Callable[[str], NextTokens]
) -> None:
    reply = '{"reason":"Bergen \\"is\\" not Oslo: é","verdict":"wrong"}'
    ids = tokenizer(reply)["input_ids"]
    follower = follow(schema_text(JUDGE) or "")
    for position, token in enumerate(ids):
        mask = follower(ids[:position])
        assert mask.shape == (len(tokenizer),)
        assert mask[token], tokenizer.decode([token])
        assert not mask[tokenizer.eos_token_id]
    assert np.flatnonzero(follower(ids)).tolist() == [tokenizer.eos_token_id]


def test_followers_of_one_schema_do_not_share_their_place(
    tokenizer: Tokenizer, follow: Callable[[str], NextTokens]
) -> None:
    schema = schema_text(JUDGE) or ""
    start = tokenizer('{"reason":"')["input_ids"]
    first, second = follow(schema), follow(schema)
    opening = first([])
    inside = first(start)
    assert not np.array_equal(opening, inside)
    assert np.array_equal(second([]), opening)
    assert np.array_equal(first(start), inside)  # asked twice, the same


def test_a_wider_head_than_the_tokenizer_never_gets_its_padding_ids(tokenizer: Tokenizer) -> None:
    mask = constrain(tokenizer, len(tokenizer) + 64)(schema_text(JUDGE) or "")([])
    assert mask.shape == (len(tokenizer) + 64,)
    assert not mask[len(tokenizer) :].any()


def test_ids_that_the_schema_forbids_and_texts_that_are_no_schema_are_refused(
    tokenizer: Tokenizer, follow: Callable[[str], NextTokens]
) -> None:
    with pytest.raises(MemgaugeError, match="left its schema"):
        follow(schema_text(JUDGE) or "")(tokenizer("Hello")["input_ids"])
    for text in ('{"type"', "[]", '{"type": "nonsense"}'):
        with pytest.raises(InputError, match="schema"):
            follow(text)
