"""LoRA-B: the summariser learns to spend tokens where they pay (MemoryCPT, QAR), by trl's GRPOTrainer.

A contextual bandit: the state is a question with what was retrieved for it, the action a summary, the reward its
worth (`reward`). The base is frozen; the adapter starts from a warm start on the teacher's summaries, which is also
the reference of the KL term. The same machine and thread count give the same bytes.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from memgauge.errors import InputError, unknown_name
from memgauge.llm.chat import ChatRequest
from memgauge.llm.local import LocalChatModel, folder_hash
from memgauge.training.distil import ROLES, Distillation, Distilled, distil
from memgauge.training.grpo_reward import curve, reward_function
from memgauge.training.lora import save
from memgauge.training.machine import Machine, OnLog, listen, silent
from memgauge.training.resume import forget, last_whole, run_folder
from memgauge.training.reward import Score
from memgauge.training.summary_rows import SummaryRow

ENGINES = ("shared", "transformers", "vllm")
SCALES = ("group", "batch", "none")


@dataclass(frozen=True, slots=True)
class Grpo:
    """How LoRA-B is trained: the embedded setting. The paper's table of these values is missing: they are ours.

    A step has `per_device` completions in each of `accumulate` passes of each process, `generations` of them a
    prompt. A prompt of more than `prompt_tokens` (the model's own) is left out and counted; a summary that does not
    end within the task's own limit for `limit_tokens` is unscorable. `beta` weighs the KL to the warm start.
    Advantages are differences from the group's mean, divided by the deviation of the `scale`: the group (the paper's),
    the batch or none. Where most answers of a small model are wrong, the group's makes a few tokens weigh as much as a
    right answer, and training ended in empty summaries. `engine` writes the completions: "shared" (this process, each
    prompt read once, CPU), "transformers" or "vllm" (trl's own; a GPU).
    """

    warm: Distillation = field(default_factory=lambda: Distillation(max_tokens=384, evaluations=1))
    steps: int = 8
    per_device: int = 24
    accumulate: int = 1
    generations: int = 8
    learning_rate: float = 1e-3
    beta: float = 0.04
    scale: Literal["group", "batch", "none"] = "batch"
    loss_type: str = "dapo"
    limit_tokens: int = 40
    prompt_tokens: int = 300
    save_every: int = 4
    engine: Literal["shared", "transformers", "vllm"] = "shared"
    machine: Machine = field(default_factory=Machine)

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise unknown_name("engine of the summariser's training", self.engine, list(ENGINES))
        if self.scale not in SCALES:
            raise unknown_name("scale of the advantages", self.scale, list(SCALES))
        for name in ("steps", "per_device", "accumulate", "limit_tokens", "prompt_tokens", "save_every"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; it must be a whole number of at least 1")
        if self.generations < 2:
            raise InputError(f"generations is {self.generations}; a group needs at least 2 to be compared")
        if not self.learning_rate > 0 or self.beta < 0:
            raise InputError(f"learning_rate {self.learning_rate} must be above 0, beta {self.beta} not below 0")


@dataclass(frozen=True, slots=True)
class Trained:
    """What the training was: the warm start, rows used and left out as too long, and each step's numbers.

    `curves` holds one mapping a step with the names of `CURVES`; a mean of nothing is absent.
    """

    warm: Distilled
    rows: int
    left_out: int
    curves: tuple[dict[str, float], ...]


def train_summariser(
    base: Path,
    rows: Sequence[SummaryRow],
    validation: Sequence[SummaryRow],
    settings: Grpo,
    score: Score,
    seed: int,
    folder: Path,
    checkpoints: Path,
    on_log: OnLog = silent,
    about: str = "",
) -> Trained:
    """Train LoRA-B on a frozen base and write it to `folder`, its warm start to `folder`/warm (both peft).

    Rows with a target teach the warm start (those of `validation` choose its best state), all rows are prompts of
    the GRPO steps. `score` is the reward; `about` must name what decides it (alpha, prices, QA role), so that a
    killed run is resumed only under the same reward. `on_log(step, values)` gets the names of `CURVES`.
    """
    chat = LocalChatModel(base)
    fitting = [row for row in rows if _prompt_size(chat, row, settings) <= settings.prompt_tokens]
    if not fitting:
        raise InputError(f"none of {len(rows)} prompts fits prompt_tokens {settings.prompt_tokens}; raise it")
    place = run_folder(checkpoints, folder_hash(base), asdict(settings), seed, about, rows, validation)
    warm = warm_start(base, rows, validation, settings, seed, folder / "warm", checkpoints)
    trainer = _trainer(chat, folder / "warm", fitting, settings, score, seed, place, on_log)
    whole = last_whole(place)
    trainer.train(resume_from_checkpoint=None if whole is None else str(whole))
    if trainer.is_world_process_zero():
        save(trainer.accelerator.unwrap_model(trainer.model), folder, base.name)
        forget(place)
    trainer.accelerator.wait_for_everyone()
    steps = [entry for entry in trainer.state.log_history if "unscorable" in entry]
    return Trained(warm, len(fitting), len(rows) - len(fitting), tuple(curve(entry) for entry in steps))


def warm_start(
    base: Path,
    rows: Sequence[SummaryRow],
    validation: Sequence[SummaryRow],
    settings: Grpo,
    seed: int,
    folder: Path,
    checkpoints: Path,
    on_log: OnLog = silent,
) -> Distilled:
    """Teach a fresh adapter the teacher's summaries (the paper's cold start) and write it to `folder`."""
    taught, held = ([share_gpt(row, settings) for row in some if row.target] for some in (rows, validation))
    return distil(base, taught, held, settings.warm, seed, folder, checkpoints, on_log)


def share_gpt(row: SummaryRow, settings: Grpo) -> dict[str, Any]:
    """A row with a target as a ShareGPT chat."""
    names = {role: name for name, role in ROLES.items()}
    asked = row.task(settings.limit_tokens).messages()
    turns = [{"from": names[message["role"]], "value": message["content"]} for message in asked]
    return {"conversations": [*turns, {"from": "gpt", "value": row.target}]}


def grpo_config(settings: Grpo, seed: int, place: Path) -> Any:
    """trl's configuration of this training, with every value that decides the result said here."""
    from trl import GRPOConfig

    task = SummaryRow("", "", "", "", None, ()).task(settings.limit_tokens)
    return GRPOConfig(
        output_dir=str(place),
        max_steps=settings.steps,
        per_device_train_batch_size=settings.per_device,
        gradient_accumulation_steps=settings.accumulate,
        num_generations=settings.generations,
        max_completion_length=task.max_new_tokens,
        temperature=1.0,
        beta=settings.beta,
        loss_type=settings.loss_type,
        scale_rewards=settings.scale,
        importance_sampling_level="token",
        num_iterations=1,
        mask_truncated_completions=False,  # their reward is None already
        learning_rate=settings.learning_rate,
        lr_scheduler_type="constant",
        optim="adamw_torch",
        weight_decay=0.0,
        max_grad_norm=1.0,
        save_strategy="steps",
        save_steps=settings.save_every,
        save_total_limit=2,
        use_vllm=settings.engine == "vllm",
        **({"vllm_mode": "colocate"} if settings.engine == "vllm" else {}),
        seed=seed % 2**32,
        data_seed=seed % 2**32,
        **settings.machine.options(),
    )


def _prompt_size(chat: LocalChatModel, row: SummaryRow, settings: Grpo) -> int:
    task = row.task(settings.limit_tokens)
    return len(chat.encode(ChatRequest(tuple(task.messages()), 1)).ids)


def _trainer(
    chat: LocalChatModel,
    start: Path,
    rows: Sequence[SummaryRow],
    settings: Grpo,
    score: Score,
    seed: int,
    place: Path,
    on_log: OnLog,
) -> Any:
    from memgauge.training.grpo_trainer import shared_rollout, summary_trainer

    def decode(ids: list[int]) -> str:
        return str(chat.tokenizer.decode(ids, skip_special_tokens=True))

    def hand(step: int, values: dict[str, float]) -> None:
        if "unscorable" in values:  # not the summary at the end
            on_log(step, curve(values))

    config = grpo_config(settings, seed, place)
    trainer = summary_trainer(
        chat,
        start,
        [row.task(settings.limit_tokens).messages() for row in rows],
        reward_function(rows, score, chat.stops, decode),
        config,
        shared_rollout(chat, config.max_completion_length, seed) if settings.engine == "shared" else None,
    )
    listen(trainer, hand)
    return trainer
