"""One tiny training in processes of its own: `python train_tiny.py KIND FOLDER NAME STEP`; it dies at STEP, 0 never."""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memgauge.training.adapter import Lora
from memgauge.training.distil import Distillation, Distilled, distil
from memgauge.training.grpo import Grpo, Trained, train_summariser
from memgauge.training.machine import OnLog, silent
from memgauge.training.reward import Reward, Summary, reward
from memgauge.training.summary_rows import SummaryRow

LORA = Lora(rank=4, alpha=8, layers=1, targets=("q_proj", "v_proj"))
SFT = Distillation(lora=LORA, epochs=2, learning_rate=5e-2, per_device=4, max_tokens=300, evaluations=4)
GRPO = Grpo(
    warm=Distillation(lora=LORA, learning_rate=1e-2, per_device=4, max_tokens=300, evaluations=1),
    steps=4,
    per_device=8,
    generations=4,
    learning_rate=1e-2,
    scale="group",
    limit_tokens=8,
    prompt_tokens=300,
    save_every=1,
)
PLACES = ("Oslo", "Rome", "Bern", "Kyiv", "Lima", "Baku")


def chats(count: int) -> list[dict[str, Any]]:
    """ShareGPT rows about who lives where."""
    return [
        {
            "conversations": [
                {"from": "system", "value": "Answer."},
                {"from": "human", "value": f"Ann{n} lives in {PLACES[n % 6]}. Where?"},
                {"from": "gpt", "value": PLACES[n % 6]},
            ]
        }
        for n in range(count)
    ]


def prompts(count: int, first: int = 0) -> list[SummaryRow]:
    """Rows about who lives where, each with the teacher's summary."""
    return [
        SummaryRow(
            f"q{n}", f"h{n % 3}", f"Where does Ann{n} live?", f"Ann{n}: I live in {PLACES[n % 6]}.", None,
            (PLACES[n % 6],), f"In {PLACES[n % 6]}."
        )
        for n in range(first, first + count)
    ]  # fmt: skip


def short(summaries: Sequence[Summary], rows: Sequence[SummaryRow]) -> list[Reward | None]:
    """Cheap summaries are good ones; a cut one is unscorable."""
    return [reward(0.5, one.tokens, 1, 0.5, empty=not one.shown) if one.ended else None for one in summaries]


def letters(summaries: Sequence[Summary], rows: Sequence[SummaryRow]) -> list[Reward | None]:
    """The share of one letter: every completion is scored, and what pays is met often."""
    return [reward(one.text.count("n") / max(1, len(one.text)), 0, 0, 1.0) for one in summaries]


def run_sft(folder: Path, name: str, on_log: OnLog = silent, **options: Any) -> Distilled:
    """Distil the tiny base in `folder` into `folder`/`name`."""
    given = {"settings": SFT, "seed": 7, **options}
    given |= {"folder": folder / name, "checkpoints": folder / "kept", "on_log": on_log}
    return distil(folder / "base", chats(24), chats(6), **given)


def run_grpo(folder: Path, name: str, on_log: OnLog = silent, **options: Any) -> Trained:
    """Train the tiny summariser in `folder` into `folder`/`name`."""
    given = {"settings": GRPO, "score": short, "seed": 7, **options}
    given |= {"folder": folder / name, "checkpoints": folder / "kept", "on_log": on_log}
    return train_summariser(folder / "base", prompts(8), prompts(3, 8), **given)


def run_letters(folder: Path, name: str, on_log: OnLog = silent) -> Trained:
    """The summariser with `letters` as its reward."""
    return run_grpo(folder, name, on_log, score=letters)


RUNS = {"sft": run_sft, "grpo": run_grpo, "letters": run_letters}


def main(kind: str, folder: str, name: str, step: str) -> None:
    """Train into `folder`/`name` until the log of `step`, then die as a power cut would have it."""

    def die(at: int, values: dict[str, float]) -> None:
        if at == int(step):
            os.kill(os.getpid(), signal.SIGKILL)

    RUNS[kind](Path(folder), name, die)


if __name__ == "__main__":
    main(*sys.argv[1:])
