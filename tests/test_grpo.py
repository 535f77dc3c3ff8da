"""LoRA-B: groups that share their prompt are what trl computes without, and what the training does with rewards."""

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memgauge.errors import InputError
from memgauge.llm.batching import Prompt
from memgauge.llm.chat import ChatRequest
from memgauge.llm.local import LocalChatModel
from memgauge.training.adapter import Lora
from memgauge.training.grpo import Grpo, grpo_config, share_gpt
from memgauge.training.grpo_reward import parts, reward_function
from memgauge.training.machine import Machine
from memgauge.training.reward import Reward, Summary, group_advantages, reward
from memgauge.training.summary_rows import SummaryRow

from .tiny_model import build_tiny
from .train_tiny import GRPO, letters, prompts, run_grpo, short

WEIGHTS = "adapter_model.safetensors"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grpo")
    texts = [message["content"] for row in prompts(11) for message in row.task(8).messages()]
    build_tiny(folder / "base", [*texts, *(str(row.target) for row in prompts(11))])
    return folder


@pytest.fixture(scope="module")
def heard() -> list[tuple[int, dict[str, float]]]:
    return []


@pytest.fixture(scope="module")
def once(place: Path, heard: list[tuple[int, dict[str, float]]]) -> Any:
    return run_grpo(place, "once", lambda step, values: heard.append((step, values)))


def drawn(chat: LocalChatModel, samples: int) -> list[list[Prompt]]:
    asked = [chat.encode(ChatRequest(tuple(row.task(8).messages()), 12)).ids for row in prompts(3)]
    asked[1] = asked[1][:-4]  # lengths differ, so some are padded
    return [[Prompt(ids, 12, 1.0, 5, sample) for sample in range(samples)] for ids in asked]


def test_a_group_from_one_reading_is_each_completion_alone(place: Path) -> None:
    from memgauge.llm.batching import Group
    from memgauge.training.grpo_rollout import roll_out

    chat = LocalChatModel(place / "base")
    groups = drawn(chat, 3)
    decode = chat.decoder()
    alone = [decode(Group((prompt,)))[0] for group in groups for prompt in group]
    found = roll_out(chat.model, groups, chat.stops)
    assert found == alone
    assert len({tuple(new) for new in found}) > 3, "samples differ"
    stop = frozenset({found[0][1]})
    short_ones = roll_out(chat.model, groups, stop)
    for new, whole in zip(short_ones, found, strict=True):
        cut = next((at + 1 for at, token in enumerate(whole) if token in stop), len(whole))
        assert new == whole[:cut]


def trainer_of(place: Path, folder: str = "once", settings: Grpo = GRPO) -> Any:
    from memgauge.training.grpo_trainer import summary_trainer

    chat = LocalChatModel(place / "base")
    config = grpo_config(settings, 7, place / "trainer")
    worth = reward_function(prompts(8), short, chat.stops, lambda ids: "x")
    messages = [row.task(8).messages() for row in prompts(8)]
    return summary_trainer(chat, place / folder, messages, worth, config, None), chat


def test_packed_log_shares_entropies_and_gradients_are_trls(place: Path, once: Any) -> None:
    import torch
    from trl import GRPOTrainer

    trainer, chat = trainer_of(place)
    groups = drawn(chat, 3)
    rows = [prompt.ids for group in groups for prompt in group]
    completions = [[7 + row % 5, 9, 11 + row][: 1 + row % 3] for row in range(len(rows))]
    wide, long = max(map(len, rows)), 3
    ids = torch.tensor(
        [[0] * (wide - len(p)) + [*p, *c] + [0] * (long - len(c)) for p, c in zip(rows, completions, strict=True)]
    )
    mask = torch.tensor(
        [[0] * (wide - len(p)) + [1] * (len(p) + len(c)) + [0] * (long - len(c))
         for p, c in zip(rows, completions, strict=True)]
    )  # fmt: skip
    order = torch.tensor([4, 0, 8, 2, 6, 1, 5, 3, 7])  # trl shuffles the rows of a step
    ids, mask = ids[order], mask[order]
    weights = torch.arange(1.0, 28.0).reshape(9, 3) * mask[:, -3:]
    seen = []
    for method in (GRPOTrainer, type(trainer)):
        trainer.model.zero_grad()
        shares, entropies, _ = method._get_per_token_logps_and_entropies(
            trainer, trainer.model, ids, mask, long, compute_entropy=True
        )
        (shares * weights).sum().backward()
        grads = {name: w.grad.clone() for name, w in trainer.model.named_parameters() if w.grad is not None}
        seen.append((shares.detach() * mask[:, -3:], entropies.detach() * mask[:, -3:], grads))
    (plain, spread, wanted), (packed, own_spread, grads) = seen
    assert torch.allclose(plain, packed, atol=1e-4)
    assert torch.allclose(spread, own_spread, atol=1e-4)
    assert grads.keys() == wanted.keys() != set()
    assert all(torch.allclose(grads[name], wanted[name], atol=1e-3, rtol=1e-3) for name in wanted)


def test_trl_gives_our_advantages_and_leaves_none_out(place: Path, once: Any) -> None:
    """What the trainer really does: one group with two None, one all None, by its own log of a step."""
    given = [0.2, None, 0.8, None, None, None, None, None]

    def odd(summaries: Sequence[Summary], rows: Sequence[SummaryRow]) -> list[Reward | None]:
        return [None if one is None else reward(one, 0, 0, 1.0) for one in given]

    from memgauge.training import grpo

    seen: dict[str, Any] = {}
    made = grpo._trainer

    def kept(*args: Any) -> Any:
        seen["trainer"] = made(*args)
        return seen["trainer"]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grpo, "_trainer", kept)
        found = run_grpo(place, "odd", score=odd, settings=replace(GRPO, steps=1))
    advantages = list(seen["trainer"]._logs["advantages"])
    expected = [*group_advantages(given[:4]), *group_advantages(given[4:])]
    assert advantages == pytest.approx(expected, abs=1e-5)
    assert found.curves[0]["unscorable"] == pytest.approx(6 / 8)
    assert found.curves[0]["reward"] == pytest.approx(0.5)


def test_a_step_without_a_scorable_completion_moves_nothing_but_goes_on(place: Path) -> None:
    def none(summaries: Sequence[Summary], rows: Sequence[SummaryRow]) -> list[Reward | None]:
        return [None] * len(summaries)

    found = run_grpo(place, "none", score=none, settings=replace(GRPO, beta=0.0, steps=2))
    assert [step["unscorable"] for step in found.curves] == [1.0, 1.0]
    assert "reward" not in found.curves[0]
    assert digest(place / "none" / WEIGHTS) == digest(place / "none" / "warm" / WEIGHTS)


def test_every_step_is_heard_with_its_parts(once: Any, heard: list[tuple[int, dict[str, float]]]) -> None:
    assert [step for step, _ in heard] == [1, 2, 3, 4]
    assert [values for _, values in heard] == list(once.curves)
    wanted = {"reward", "f1", "saving", "cost_micro_usd", "completion_tokens", "kl", "unscorable", "empty"}
    assert wanted <= set(once.curves[0])
    assert once.curves[0]["kl"] == pytest.approx(0.0, abs=1e-6), "the reference is the warm start"
    assert (once.rows, once.left_out) == (8, 0)


def test_the_reward_rises_where_one_letter_pays(place: Path) -> None:
    """The tiny base draws from a nearly even distribution, so what pays must be met often: a letter."""
    wide = replace(GRPO.warm, lora=Lora(rank=8, layers=0, targets=("o_proj", "v_proj", "down_proj")))
    settings = replace(GRPO, warm=wide, steps=10, per_device=32, generations=16, beta=0.0, learning_rate=0.1)

    curves = run_grpo(place, "letters", score=letters, settings=settings).curves
    start, end = (sum(step["reward"] for step in some) / 3 for some in (curves[:3], curves[-3:]))
    assert end > 1.5 * start


def test_the_same_bytes_again_and_others_with_another_seed(place: Path, once: Any) -> None:
    assert run_grpo(place, "twice") == once
    run_grpo(place, "other", seed=8)
    assert digest(place / "twice" / WEIGHTS) == digest(place / "once" / WEIGHTS) != digest(place / "other" / WEIGHTS)
    assert digest(place / "once" / WEIGHTS) != digest(place / "once" / "warm" / WEIGHTS)
    assert not list((place / "kept").glob("*/*")), "a finished training leaves no checkpoint"


def test_a_killed_training_goes_on_to_the_same_bytes(place: Path, once: Any) -> None:
    script = Path(__file__).with_name("train_tiny.py")
    killed = subprocess.run(
        [sys.executable, str(script), "grpo", str(place), "killed", "3"], capture_output=True, check=False
    )
    assert killed.returncode == -9, killed.stderr.decode()
    steps: list[int] = []
    found = run_grpo(place, "killed", lambda step, values: steps.append(step))
    assert steps == [3, 4], "it went on from the second step"
    assert found == once
    assert digest(place / "killed" / WEIGHTS) == digest(place / "once" / WEIGHTS)


def test_two_processes_train_one_adapter(place: Path) -> None:
    """torchrun on this machine's CPU: every process goes through both trainings, one of them writes."""
    script = Path(__file__).with_name("train_tiny.py")
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone"]
    done = subprocess.run([*launch, str(script), "letters", str(place), "both", "0"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    assert digest(place / "both" / WEIGHTS) != digest(place / "both" / "warm" / WEIGHTS)


def test_prompts_that_are_too_long_are_counted(place: Path) -> None:
    with pytest.raises(InputError, match="none of 8 prompts fits"):
        run_grpo(place, "no", settings=replace(GRPO, prompt_tokens=5))


def test_a_warm_row_is_the_task_and_the_teachers_summary() -> None:
    chat = share_gpt(prompts(1)[0], GRPO)["conversations"]
    assert [turn["from"] for turn in chat] == ["system", "human", "gpt"]
    assert chat[-1]["value"] == "In Oslo."
    assert "Ann0: I live in Oslo." in chat[1]["value"]


def test_parts_are_means_over_the_scored_and_shares_over_all() -> None:
    some = [reward(0.5, 30, 4, 0.8), None, reward(1.0, 0, 0, 0.8, empty=True), None]
    found = parts(some)
    assert found == pytest.approx(
        {"unscorable": 0.5, "empty": 0.25, "f1": 0.75, "saving": 0.75, "cost_micro_usd": 3.48}
    )
    assert parts([None]) == {"unscorable": 1.0, "empty": 0.0}


def test_large_settings_build_their_configuration(tmp_path: Path) -> None:
    big = Grpo(
        steps=100, per_device=8, accumulate=4, generations=8, engine="transformers",
        machine=Machine(bf16=True, gradient_checkpointing=True),
    )  # fmt: skip
    config = grpo_config(big, 1, tmp_path)
    assert (config.generation_batch_size, config.steps_per_generation) == (32, 4)
    assert (config.bf16, config.gradient_checkpointing, config.use_vllm) == (True, True, False)
    assert grpo_config(replace(big, engine="vllm"), 1, tmp_path).vllm_mode == "colocate"
    with pytest.raises(ValueError, match="divisible"):
        grpo_config(replace(big, per_device=6, accumulate=1), 1, tmp_path)


@pytest.mark.parametrize(
    "option",
    [{"steps": 0}, {"generations": 1}, {"beta": -0.1}, {"learning_rate": 0.0}, {"engine": "no"}, {"scale": "no"}],
)
def test_an_impossible_option_is_refused(option: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(option))):
        Grpo(**option)
