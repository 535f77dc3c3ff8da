"""Supervised fine-tuning in a plain loop: batches of like length, loss on the reply alone, the same bytes each time.

What all prompts start with (the system message) is read once a step, with its gradient, and its keys and values
serve every row; the vocabulary head sees reply positions only. Deterministic for one machine and thread count.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from memgauge.errors import InputError
from memgauge.llm.batching import common
from memgauge.seeds import generator

if TYPE_CHECKING:
    import torch

BAR_DELAY_SECONDS = 2.0
WARM_UP = 0.1  # share of the steps in which the rate rises
LONGEST_PASS = 2_048  # tokens of one forward pass, padding included: a batch beyond it is read in parts
LIKE_BATCHES = 6  # batches' worth of rows that are sorted by length together


@dataclass(frozen=True, slots=True)
class Row:
    """One chat to learn from: the prompt's ids and the reply's, end token included."""

    prompt: tuple[int, ...]
    reply: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.prompt or not self.reply:
            raise InputError("a training row has no prompt or no reply; there would be nothing to learn from it")

    @property
    def size(self) -> int:
        """Tokens of both."""
        return len(self.prompt) + len(self.reply)


@dataclass(frozen=True, slots=True)
class Schedule:
    """`batch` rows a step, `epochs` passes over the rows, a rate that rises, then falls to 0."""

    epochs: int
    batch: int
    learning_rate: float

    def steps(self, rows: int) -> int:
        """Steps of the whole training."""
        return self.epochs * -(-rows // self.batch)

    def rate(self, step: int, steps: int) -> float:
        """The rate of a step, counted from 0.

        >>> [Schedule(1, 1, 1.0).rate(step, 21) for step in (0, 1, 2, 11, 20)]
        [0.5, 1.0, 0.95, 0.5, 0.05]
        """
        rising = max(1, int(WARM_UP * steps))
        if step < rising:
            return self.learning_rate * (step + 1) / rising
        return self.learning_rate * (steps - step) / (steps - rising + 1)


def train(model: Any, rows: Sequence[Row], schedule: Schedule, seed: int, label: str = "train") -> list[float]:
    """Train the parameters that ask for a gradient; the loss of each step, in nats a reply token.

    `model` is a causal language model of transformers, or one with LoRA attached (peft). Raises InputError without
    rows, and when the loss stops being a number.
    """
    import torch

    if not rows:
        raise InputError("there are no training rows; raise max_tokens or the number of pairs")
    causal = model.get_base_model() if hasattr(model, "get_base_model") else model
    learning = [parameter for parameter in causal.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(learning, lr=schedule.learning_rate, weight_decay=0.0)
    shared = min(common(rows[0].prompt, row.prompt) for row in rows)
    shared = min(shared, *(len(row.prompt) - 1 for row in rows))
    steps = schedule.steps(len(rows))
    losses: list[float] = []
    causal.train()
    with tqdm(total=schedule.epochs * len(rows), desc=label, unit="row", delay=BAR_DELAY_SECONDS) as bar:
        for step, batch in enumerate(_batches(rows, schedule, seed)):
            for group in optimiser.param_groups:
                group["lr"] = schedule.rate(step, steps)
            losses.append(_step(causal, batch, shared))
            if not np.isfinite(losses[-1]):
                raise InputError(f"the loss of step {step} is {losses[-1]}; lower learning_rate")
            torch.nn.utils.clip_grad_norm_(learning, 1.0)
            optimiser.step()
            optimiser.zero_grad()
            bar.update(len(batch))
            bar.set_postfix(loss=f"{losses[-1]:.3f}")
    causal.eval()
    return losses


def _batches(rows: Sequence[Row], schedule: Schedule, seed: int) -> Iterator[list[Row]]:
    """Every row once an epoch, in drawn order, neighbours of like length in one batch."""
    for epoch in range(schedule.epochs):
        draws = generator(seed, "sft", "order", str(epoch))
        order = draws.permutation(len(rows)).tolist()
        wide = schedule.batch * LIKE_BATCHES
        batches: list[list[int]] = []
        for start in range(0, len(order), wide):
            like = sorted(order[start : start + wide], key=lambda at: rows[at].size)
            batches += [like[at : at + schedule.batch] for at in range(0, len(like), schedule.batch)]
        for at in draws.permutation(len(batches)).tolist():
            yield [rows[place] for place in batches[at]]


def _step(causal: Any, batch: Sequence[Row], shared: int) -> float:
    """Gradients of the mean loss of all reply tokens, in as many passes as memory asks for; that loss."""
    tokens = sum(len(row.reply) for row in batch)
    total = 0.0
    for part in _parts(batch, shared):
        loss = reply_loss(causal, part, shared) / tokens
        loss.backward()  # type: ignore[no-untyped-call]
        total += float(loss.detach())
    return total


def _parts(batch: Sequence[Row], shared: int) -> Iterator[list[Row]]:
    """Neighbours whose padded passes stay within the limit (one always goes)."""
    part: list[Row] = []
    for row in sorted(batch, key=lambda row: row.size):
        if part and (row.size - shared) * (len(part) + 1) > LONGEST_PASS:
            yield part
            part = []
        part.append(row)
    yield part


def reply_loss(causal: Any, rows: Sequence[Row], shared: int) -> "torch.Tensor":
    """The summed loss of the rows' reply tokens; each row is padded on the right, where no one looks."""
    import torch
    from transformers import DynamicCache

    cache = None
    if shared:
        cache = DynamicCache(config=causal.config)
        causal.model(input_ids=torch.tensor([rows[0].prompt[:shared]]), cache=cache, use_cache=True)
        cache.batch_repeat_interleave(len(rows))
    own = [(*row.prompt[shared:], *row.reply[:-1]) for row in rows]
    width = max(map(len, own))
    ids = torch.tensor([[*each, *[0] * (width - len(each))] for each in own])
    place = torch.arange(shared, shared + width)
    seen = torch.arange(shared + width) <= place[:, None]
    hidden = causal.model(
        input_ids=ids,
        attention_mask=seen[None, None],
        position_ids=place[None].expand(len(rows), -1),
        cache=cache,
        use_cache=cache is not None,
    ).last_hidden_state
    # The position before a reply token is the one that has to foretell it.
    at = [
        (number, len(row.prompt) - shared - 1 + offset)
        for number, row in enumerate(rows)
        for offset in range(len(row.reply))
    ]
    wanted = torch.tensor([token for row in rows for token in row.reply])
    numbers, offsets = (torch.tensor(axis) for axis in zip(*at, strict=True))
    return torch.nn.functional.cross_entropy(causal.lm_head(hidden[numbers, offsets]), wanted, reduction="sum")
