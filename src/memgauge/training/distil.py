"""LoRA-A: a small model learns the teacher's writing tasks (MemoryCPT, QAD), by trl's SFTTrainer and peft.

Rows are ShareGPT chats; the loss is on the reply alone. The adapter with the best validation loss is kept;
`adapter.merge` puts it into the base weights. The same machine and thread count give the same bytes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memgauge.errors import InputError
from memgauge.llm.chat import ChatRequest
from memgauge.llm.local import LocalChatModel, folder_hash
from memgauge.tasks.base import Message
from memgauge.training.adapter import Lora
from memgauge.training.lora import save
from memgauge.training.machine import Machine, OnLog, listen, silent
from memgauge.training.resume import forget, last_whole, run_folder
from memgauge.training.sft import WARM_UP, Row

ROLES = {"system": "system", "human": "user", "gpt": "assistant"}
IGNORED = -100  # a label that has no loss
ShareGpt = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Distillation:
    """How LoRA-A is trained: the embedded setting. Paper: learning_rate 1e-4, max_tokens 8192, all layers.

    A row of more than `max_tokens` (the model's own, prompt and reply) is left out and counted. The validation
    loss is taken about `evaluations` times, and the adapter of the lowest one is kept. A step has `per_device` rows
    in each of `accumulate` passes of each process.
    """

    lora: Lora = field(default_factory=Lora)
    epochs: int = 1
    learning_rate: float = 2e-3
    per_device: int = 4
    accumulate: int = 1
    max_tokens: int = 320
    evaluations: int = 2
    machine: Machine = field(default_factory=Machine)

    def __post_init__(self) -> None:
        for name in ("epochs", "per_device", "accumulate", "max_tokens", "evaluations"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; it must be a whole number of at least 1")
        if not self.learning_rate > 0:
            raise InputError(f"learning_rate is {self.learning_rate}; it must be above 0, such as 0.001")

    def steps(self, rows: int, processes: int = 1) -> int:
        """Steps of the whole training."""
        return self.epochs * -(-rows // (self.per_device * self.accumulate * processes))


@dataclass(frozen=True, slots=True)
class Distilled:
    """What a training was and gave: rows used and rows left out as too long, losses in nats a reply token.

    `losses` has one entry a step; `validation` pairs a step with the loss after it, and `best_step` is the one kept.
    """

    rows: int
    left_out: int
    validation_rows: int
    validation_left_out: int
    losses: tuple[float, ...]
    validation: tuple[tuple[int, float], ...]
    best_step: int


def encode_rows(chat: LocalChatModel, rows: Iterable[ShareGpt], max_tokens: int) -> tuple[list[Row], int]:
    """ShareGPT rows as the model reads and writes them, the end token included; how many were too long.

    A row is `{"conversations": [{"from": "system" | "human" | "gpt", "value": text}, ...]}` that ends with what to
    learn, of gpt. Raises InputError for any other.
    """
    encoded = [_encode(chat, row, number) for number, row in enumerate(rows)]
    kept = [row for row in encoded if row.size <= max_tokens]
    return kept, len(encoded) - len(kept)


def _encode(chat: LocalChatModel, row: ShareGpt, number: int) -> Row:
    messages = [_message(turn, number) for turn in row.get("conversations", ())]
    if len(messages) < 2 or messages[-1]["role"] != "assistant":
        raise InputError(f"row {number} does not end with a reply of gpt after a prompt; write the traces again")
    prompt = chat.encode(ChatRequest(tuple(messages[:-1]), 1)).ids
    return Row(prompt, reply_ids(chat, messages[-1]["content"]))


def reply_ids(chat: LocalChatModel, text: str) -> tuple[int, ...]:
    """A reply as the model would write it, with the token that ends it."""
    return (*chat.tokenizer(text, add_special_tokens=False)["input_ids"], chat.tokenizer.eos_token_id)


def _message(turn: Mapping[str, Any], number: int) -> Message:
    role, text = turn.get("from"), turn.get("value")
    if role not in ROLES or not isinstance(text, str):
        raise InputError(f"row {number} has the turn {turn!r}; `from` must be one of {', '.join(ROLES)}, `value` text")
    return {"role": ROLES[role], "content": text}


def distil(
    base: Path,
    train: Sequence[ShareGpt],
    validation: Sequence[ShareGpt],
    settings: Distillation,
    seed: int,
    folder: Path,
    checkpoints: Path,
    on_log: OnLog = silent,
) -> Distilled:
    """Train LoRA-A on ShareGPT rows and write it to `folder` (peft, safetensors).

    `on_log(step, values)` gets the `loss` of each step and the `eval_loss` of each validation. A run that was
    killed goes on from its last whole checkpoint below `checkpoints`, to the same bytes.
    """
    chat = LocalChatModel(base)
    rows, left_out = encode_rows(chat, train, settings.max_tokens)
    held, held_left_out = encode_rows(chat, validation, settings.max_tokens)
    if not rows or not held:
        raise InputError(
            f"{len(rows)} rows to train on and {len(held)} to validate with fit max_tokens {settings.max_tokens}; "
            "raise it or write shorter traces"
        )
    place = run_folder(checkpoints, folder_hash(base), asdict(settings), seed, rows, held)
    trainer = _trainer(chat, rows, held, settings, seed, place, on_log)
    whole = last_whole(place)
    trainer.train(resume_from_checkpoint=None if whole is None else str(whole))
    if trainer.is_world_process_zero():
        save(trainer.accelerator.unwrap_model(trainer.model), folder, base.name)
        forget(place)
    trainer.accelerator.wait_for_everyone()
    log = trainer.state.log_history
    return Distilled(
        rows=len(rows),
        left_out=left_out,
        validation_rows=len(held),
        validation_left_out=held_left_out,
        losses=tuple(entry["loss"] for entry in log if "loss" in entry),
        validation=tuple((entry["step"], entry["eval_loss"]) for entry in log if "eval_loss" in entry),
        best_step=int(trainer.state.best_global_step or trainer.state.global_step),
    )


def sft_config(settings: Distillation, rows: int, seed: int, place: Path) -> Any:
    """trl's configuration of this training, with every value that decides the result said here."""
    from trl import SFTConfig

    every = max(1, settings.steps(rows) // settings.evaluations)
    return SFTConfig(
        output_dir=str(place),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.per_device,
        per_device_eval_batch_size=settings.per_device,
        gradient_accumulation_steps=settings.accumulate,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=WARM_UP,
        optim="adamw_torch",
        weight_decay=0.0,
        max_grad_norm=1.0,
        max_length=None,  # rows that are too long are left out and counted before, never cut
        train_sampling_strategy="group_by_length",
        eval_strategy="steps",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,  # the best and the last
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        prediction_loss_only=True,
        seed=seed % 2**32,
        data_seed=seed % 2**32,
        **settings.machine.options(),
    )


def _trainer(
    chat: LocalChatModel,
    rows: Sequence[Row],
    held: Sequence[Row],
    settings: Distillation,
    seed: int,
    place: Path,
    on_log: OnLog,
) -> Any:
    from memgauge.training.distil_trainer import ReplyTrainer

    trainer = ReplyTrainer(
        model=settings.lora.attach(chat.model, seed),
        args=sft_config(settings, len(rows), seed, place),
        train_dataset=_dataset(rows),
        eval_dataset=_dataset(held),
        processing_class=chat.tokenizer,
    )
    listen(trainer, on_log)
    return trainer


def _dataset(rows: Sequence[Row]) -> Any:
    """The rows as trl takes tokenised ones: no loss on the prompt."""
    from datasets import Dataset

    return Dataset.from_dict(
        {
            "input_ids": [[*row.prompt, *row.reply] for row in rows],
            "labels": [[*[IGNORED] * len(row.prompt), *row.reply] for row in rows],
        }
    )
