"""How fast the in-process chat model reads and writes: one by one, padded, packed (run with --benchmark-enable)."""

from pathlib import Path
from typing import Any

import pytest

from memgauge.llm.batching import Group, Prompt, plan
from memgauge.llm.chat import ChatRequest
from memgauge.llm.local import LocalChatModel
from memgauge.llm.prefix import one_by_one
from memgauge.llm.speed import prompts_over_one_store, prompts_sharing_nothing
from memgauge.tasks.answer_question import AnswerQuestion

NEW_TOKENS = 16
SAMPLE = 3  # prompts that the slow ways are timed on; compare `seconds a prompt` of extra info


@pytest.fixture(scope="module")
def model(models: Path) -> LocalChatModel:
    if not (models / "smollm2" / "config.json").is_file():
        pytest.skip("models/smollm2 is absent: run its assets stage")
    return LocalChatModel(models / "smollm2")


def measure(benchmark: Any, model: LocalChatModel, way: str, prompts: list[Prompt]) -> None:
    """Time one way; loading is not measured."""
    if benchmark.disabled:
        pytest.skip("speed is measured with --benchmark-enable only")
    ways = {
        "one by one": lambda: one_by_one(model.model, prompts),
        "padded": lambda: model.decoder()(Group(tuple(prompts))),
        "engine": lambda: [new for group in plan(prompts, model.batch_tokens) for new in decode(group)],
    }
    decode = model.decoder()
    decode(Group((model.encode(ChatRequest(tuple(AnswerQuestion("Who?", "").messages()), 1)),)))
    new = benchmark.pedantic(ways[way], rounds=1)
    benchmark.extra_info["seconds a prompt"] = benchmark.stats.stats.mean / len(prompts)
    benchmark.extra_info["input tokens"] = sum(len(prompt.ids) for prompt in prompts)
    benchmark.extra_info["output tokens"] = sum(map(len, new))
    assert all(new)


@pytest.mark.models
@pytest.mark.benchmark(group="questions over one store of 2,000 tokens")
@pytest.mark.parametrize(
    ("way", "questions"), [("one by one", SAMPLE), ("padded", SAMPLE), ("engine", 10), ("engine", 30), ("engine", 60)]
)
def test_questions_over_one_store(benchmark: Any, model: LocalChatModel, way: str, questions: int) -> None:
    measure(benchmark, model, way, prompts_over_one_store(model, questions, 2_000, NEW_TOKENS))


@pytest.mark.models
@pytest.mark.benchmark(group="prompts that share nothing")
@pytest.mark.parametrize("way", ["one by one", "engine"])
def test_prompts_that_share_nothing(benchmark: Any, model: LocalChatModel, way: str) -> None:
    measure(benchmark, model, way, prompts_sharing_nothing(model, 8, NEW_TOKENS))
