"""What both trainers share: what they run on, and who hears how it goes."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

OnLog = Callable[[int, dict[str, float]], None]


def silent(step: int, values: dict[str, float]) -> None:
    """The `on_log` of a caller that reads the result alone."""


@dataclass(frozen=True, slots=True)
class Machine:
    """How a trainer uses what it runs on; the defaults are this process and its CPU, in float32.

    With GPUs: `cpu` false, `bf16` and `gradient_checkpointing` true, and as many processes as `accelerate launch`
    or torchrun starts; every one of them calls the same training function.
    """

    cpu: bool = True
    bf16: bool = False
    gradient_checkpointing: bool = False

    def options(self) -> dict[str, Any]:
        """Arguments for the configuration of either trainer."""
        return {
            "use_cpu": self.cpu,
            "bf16": self.bf16,
            "gradient_checkpointing": self.gradient_checkpointing,
            "dataloader_pin_memory": not self.cpu,
            "dataloader_num_workers": 0,
            "disable_tqdm": True,
            "report_to": "none",
            "logging_steps": 1,
        }


def listen(trainer: Any, on_log: OnLog) -> None:
    """Let `on_log` hear what a trainer of transformers logs, in place of the lines it prints."""
    from transformers.trainer_callback import PrinterCallback

    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(log_callback(on_log))


def log_callback(on_log: OnLog) -> Any:
    """A callback of transformers that hands every logged number on, step by step, in the main process."""
    from transformers import TrainerCallback

    class Hand(TrainerCallback):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **others: Any) -> None:
            if state.is_world_process_zero and logs:
                on_log(state.global_step, {name: float(v) for name, v in logs.items() if isinstance(v, Real)})

    return Hand()
