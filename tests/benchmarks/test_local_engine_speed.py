"""How fast the in-process chat model reads and writes (run with --benchmark-enable)."""

from pathlib import Path
from typing import Any

import pytest

from memgauge.llm.batching import Group, Prompt, plan
from memgauge.llm.chat import ChatRequest
from memgauge.llm.local import LocalChatModel
from memgauge.tasks.answer_question import AnswerQuestion

LINE = "Ann: I moved to Oslo with my two cats last spring and started to learn the piano.\n"
NEW_TOKENS = 8


@pytest.fixture(scope="module")
def model(models: Path) -> LocalChatModel:
    if not (models / "smollm2" / "config.json").is_file():
        pytest.skip("models/smollm2 is absent: run its assets stage")
    return LocalChatModel(models / "smollm2")


def prompts_over_one_store(model: LocalChatModel, questions: int, lines: int) -> list[Prompt]:
    tasks = [
        AnswerQuestion(f"Which animals does Ann keep in room {room}?", f"[8 May 2023]\n{LINE * lines}")
        for room in range(questions)
    ]
    return [model.encode(ChatRequest(tuple(task.messages()), NEW_TOKENS)) for task in tasks]


@pytest.mark.models
@pytest.mark.parametrize("way", ["packed", "padded"])
def test_speed_of_eight_questions_over_one_store(benchmark: Any, model: LocalChatModel, way: str) -> None:
    if benchmark.disabled:
        pytest.skip("speed is measured with --benchmark-enable only")
    prompts = prompts_over_one_store(model, questions=8, lines=20)
    (packed,) = plan(prompts, model.batch_token_budget)
    group = packed if way == "packed" else Group(tuple(prompts))
    model.new_ids(Group(packed.prompts[:1]))  # loading is not measured
    new = benchmark.pedantic(model.new_ids, args=(group,), rounds=2)
    benchmark.extra_info["input_tokens"] = sum(len(prompt.ids) for prompt in prompts)
    benchmark.extra_info["output_tokens"] = sum(len(ids) for ids in new)
    assert all(new)
