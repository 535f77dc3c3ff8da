"""trl's GRPOTrainer with groups that share their prompt; the losses, advantages and steps are trl's own.

trl leaves a completion whose reward is None out of its group's mean and deviation and gives it advantage 0
(`_generate_and_score_completions`), which is what the method asks for, so nothing is changed there.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peft import PeftModel
from trl import GRPOTrainer

from memgauge.llm.batching import Prompt
from memgauge.llm.chat import ChatRequest
from memgauge.llm.local import LocalChatModel
from memgauge.seeds import named_seed
from memgauge.training.grpo_rollout import completion_logits, roll_out

Rollout = Callable[[list[Any], Any], dict[str, Any]]


def shared_rollout(chat: LocalChatModel, limit: int, seed: int) -> Rollout:
    """A rollout function of trl that samples at temperature 1, each group from one reading of its prompt.

    The draws of a completion depend on `seed`, the step and its place in the step: a resumed run draws the same.
    """

    def rollout(prompts: list[Any], trainer: Any) -> dict[str, Any]:
        step = named_seed(seed, "grpo", "rollout", str(trainer.state.global_step))
        first = trainer.accelerator.process_index * len(prompts)
        asked = [chat.encode(ChatRequest(tuple(messages), limit)) for messages in prompts]
        drawn = [Prompt(one.ids, limit, 1.0, step, first + at) for at, one in enumerate(asked)]
        groups = [list(group) for _, group in groupby(drawn, key=lambda prompt: prompt.ids)]
        causal = _causal(trainer, trainer.model)
        causal.eval()
        new = roll_out(causal, groups, chat.stops)
        causal.train()
        return {"prompt_ids": [list(one.ids) for one in drawn], "completion_ids": new, "logprobs": None}

    return rollout


class SharedTrainer(GRPOTrainer):  # type: ignore[misc]
    """Weighs the completions of a group in one row after their prompt, where one process trains alone.

    With several processes the forward pass must go through the wrapper that adds up their gradients, so trl's own,
    one row a completion, is used.
    """

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        logits_to_keep: int,
        batch_size: int | None = None,
        compute_entropy: bool = False,
        **others: Any,
    ) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
        if self.accelerator.num_processes > 1:
            inherited: tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None] = (
                super()._get_per_token_logps_and_entropies(
                    model, input_ids, attention_mask, logits_to_keep, batch_size, compute_entropy, **others
                )
            )
            return inherited
        prompts, completions = _split(input_ids, attention_mask, logits_to_keep)
        members: dict[tuple[int, ...], list[int]] = {}
        for row, prompt in enumerate(prompts):
            members.setdefault(prompt, []).append(row)
        causal = _causal(self, model)
        places: list[tuple[int, int]] = []
        found, spread = [], []
        for prompt, rows in members.items():
            own = [completions[row] for row in rows]
            log_shares = completion_logits(causal, prompt, own).log_softmax(-1)
            wanted = torch.tensor([token for one in own for token in one])
            found.append(log_shares.gather(-1, wanted[:, None])[:, 0])
            if compute_entropy:
                with torch.no_grad():
                    spread.append(-(log_shares.exp() * log_shares).sum(-1))
            places += [(row, at) for row in rows for at in range(len(completions[row]))]
        size = (len(prompts), logits_to_keep)
        return _laid_out(found, places, size), _laid_out(spread, places, size) if compute_entropy else None, None


def _causal(trainer: Any, model: Any) -> Any:
    """The causal model inside wrappers and adapters (which stay active in its layers)."""
    inner = trainer.accelerator.unwrap_model(model)
    return inner.get_base_model() if hasattr(inner, "get_base_model") else inner


def _split(
    input_ids: torch.Tensor, attention_mask: torch.Tensor, keep: int
) -> tuple[list[tuple[int, ...]], list[list[int]]]:
    """Each row's prompt and completion without padding (left of the prompt, right of the completion)."""
    start = input_ids.shape[1] - keep
    prompts, completions = [], []
    for ids, mask in zip(input_ids.tolist(), attention_mask.tolist(), strict=True):
        prompts.append(tuple(token for token, real in zip(ids[:start], mask[:start], strict=True) if real))
        completions.append(ids[start : start + sum(mask[start:])])
    return prompts, completions


def _laid_out(values: Sequence[torch.Tensor], places: Sequence[tuple[int, int]], size: tuple[int, int]) -> torch.Tensor:
    """Values at their (row, position), 0 elsewhere."""
    joined = torch.cat(list(values))
    rows, positions = torch.tensor(places).T
    return joined.new_zeros(size).index_put((rows, positions), joined)


def summary_trainer(
    chat: LocalChatModel,
    start: Path,
    prompts: Sequence[Any],
    reward: Any,
    config: Any,
    rollout: Rollout | None,
) -> SharedTrainer:
    """The trainer of one run: the base of `chat` with the adapter in `start`, which is also its KL reference.

    `prompts` are chats; the reward function gets each one's place as `row`. Without a `rollout` trl writes the
    completions itself.
    """
    model = PeftModel.from_pretrained(chat.model, str(start), is_trainable=True)
    # The adapter's file names its base for people; a checkpoint looks the base up, and must find it here.
    model.peft_config["default"].base_model_name_or_path = str(chat.folder)
    return SharedTrainer(
        model=model,
        reward_funcs=[reward],
        args=config,
        train_dataset=Dataset.from_dict({"prompt": list(prompts), "row": list(range(len(prompts)))}),
        processing_class=chat.tokenizer,
        rollout_func=rollout,
    )
