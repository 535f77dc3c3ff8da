"""Continues one group of prompts: padded side by side, or packed in one row after what they share.

Knows token ids, caches and masks; nothing of chats or files. The cache of the last shared prefix is kept, so
that the next group with the same store reads only what is new.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import AttentionInterface
from transformers.cache_utils import Cache, DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

from memgauge.llm.batching import Group, Prompt, common
from memgauge.seeds import generator

Follower = Callable[[list[int]], Any]  # the mask of the tokens that may follow, as an array or tensor, or None
GROUPED = "memgauge_grouped"
ROOM = 64  # tokens of room that a cache grows by: decoding writes in place instead of copying the cache


def grouped_attention(
    module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: Any, **options: Any
) -> tuple[torch.Tensor, None]:
    """SDPA in which query heads that share a key head stand in one longer query: keys are never repeated.

    Shapes as in transformers: queries (rows, heads, new, size), keys and values (rows, key heads, all, size), one
    mask for all heads. Without a mask, or for one new token, the library's own function does the same.
    """
    shares = module.num_key_value_groups
    rows, heads, new, size = query.shape
    if attention_mask is None or new == 1 or shares == 1 or attention_mask.shape[1] != 1:
        plain: tuple[torch.Tensor, None] = sdpa_attention_forward(module, query, key, value, attention_mask, **options)
        return plain
    output = torch.nn.functional.scaled_dot_product_attention(
        query.reshape(rows, heads // shares, shares * new, size),
        key,
        value,
        attn_mask=attention_mask.repeat(1, 1, shares, 1),
        scale=options["scaling"],
    )
    return output.reshape(rows, heads, new, size).transpose(1, 2).contiguous(), None


AttentionInterface.register(GROUPED, grouped_attention)
ALL_MASK_ATTENTION_FUNCTIONS.register(GROUPED, ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])


class RoomyLayer(DynamicLayer):  # type: ignore[misc]
    """A cache layer that keeps room for tokens to come; `keys` and `values` are the filled part."""

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write the new tokens behind the old ones; (all keys, all values)."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self.keys, self.values = key_states[:, :, :0], value_states[:, :, :0]
            self._room = (self.keys, self.values)
        filled, new = self.keys.shape[2], key_states.shape[2]
        if filled + new > self._room[0].shape[2]:
            self._room = (_roomy(self.keys, new), _roomy(self.values, new))
        for room, states in zip(self._room, (key_states, value_states), strict=True):
            room[:, :, filled : filled + new] = states
        self.keys, self.values = (room[:, :, : filled + new] for room in self._room)
        return self.keys, self.values

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Keep these rows, with their room."""
        filled = self.keys.shape[2]
        self._room = (self._room[0][indices], self._room[1][indices])
        self.keys, self.values = (room[:, :, :filled] for room in self._room)


def _roomy(states: torch.Tensor, new: int) -> torch.Tensor:
    """The states with room for `new` tokens and some more behind them."""
    rows, heads, filled, size = states.shape
    room = states.new_empty(rows, heads, filled + new + ROOM, size)
    room[:, :, :filled] = states
    return room


@dataclass
class Rows:
    """The prompts of a group while they are continued: `new` ids of each, and who is still `live`."""

    prompts: Sequence[Prompt]
    stops: frozenset[int]
    follow: Callable[[str], Follower] | None
    new: list[list[int]] = field(init=False)
    live: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.new = [[] for _ in self.prompts]
        self.live = list(range(len(self.prompts)))
        self._draws = [
            generator(prompt.seed, "sample", str(prompt.ids), str(prompt.sample)) if prompt.temperature else None
            for prompt in self.prompts
        ]
        self._allowed = [
            self.follow(prompt.schema) if self.follow and prompt.schema else None for prompt in self.prompts
        ]

    def advance(self, logits: torch.Tensor) -> list[int]:
        """Append a token to each live prompt from its row of `logits`; the places in `live` that go on."""
        chosen = logits.argmax(dim=-1).tolist()
        for at, row in enumerate(self.live):
            if self._draws[row] is not None or self._allowed[row] is not None:
                chosen[at] = self._choose(row, logits[at])
            self.new[row].append(chosen[at])
        kept = [at for at, row in enumerate(self.live) if self._goes_on(row)]
        self.live = [self.live[at] for at in kept]
        return kept

    def _goes_on(self, row: int) -> bool:
        return self.new[row][-1] not in self.stops and len(self.new[row]) < self.prompts[row].max_new_tokens

    def _choose(self, row: int, logits: torch.Tensor) -> int:
        """The likeliest allowed token, or a draw: one uniform number a step, through the cumulative sum."""
        allowed, draws = self._allowed[row], self._draws[row]
        mask = allowed(self.new[row]) if allowed else None
        if mask is not None:
            logits = logits.masked_fill(~torch.as_tensor(mask), -torch.inf)
        if draws is None:
            return int(logits.argmax())
        shares = (logits.double() / self.prompts[row].temperature).softmax(-1).cumsum(-1)
        return int(torch.searchsorted(shares, draws.random() * float(shares[-1]), right=True))


class Decoder:
    """Continues groups with one causal language model whose attention is `GROUPED`."""

    def __init__(self, model: Any, stops: frozenset[int], follow: Callable[[str], Follower] | None = None) -> None:
        self._model = model
        self._stops = stops
        self._follow = follow
        self._shared: tuple[int, ...]
        self._forget()

    def new_ids(self, group: Group) -> list[list[int]]:
        """New ids of each prompt of a group, in order, the stop id included."""
        rows = Rows(group.prompts, self._stops, self._follow)
        with torch.inference_mode():
            if group.shared:
                self._packed(rows, group.shared)
            else:
                self._forget()  # packed groups come first: what they share would lie beside a full batch
                self._padded(rows)
        return rows.new

    def _forget(self) -> None:
        """An empty cache in place of the last shared prefix's."""
        self._shared, self._cache = (), Cache(layer_class_to_replicate=RoomyLayer)

    def _padded(self, rows: Rows) -> None:
        """One row a prompt, padded on the left; a finished row leaves the batch."""
        pads = [max(len(p.ids) for p in rows.prompts) - len(p.ids) for p in rows.prompts]
        ids = torch.tensor([[0] * pad + list(p.ids) for pad, p in zip(pads, rows.prompts, strict=True)])
        mask = torch.tensor([[0] * pad + [1] * len(p.ids) for pad, p in zip(pads, rows.prompts, strict=True)])
        places = (mask.cumsum(1) - 1).clamp(min=0)
        cache = Cache(layer_class_to_replicate=RoomyLayer)
        while True:
            kept = rows.advance(self._logits(ids, mask, places, cache, 1))
            if not kept:
                return
            if len(kept) < len(ids):
                cache.batch_select_indices(torch.tensor(kept))
            ids = torch.tensor([[rows.new[row][-1]] for row in rows.live])
            places = places[kept][:, -1:] + 1
            mask = torch.cat([mask[kept], mask.new_ones(len(kept), 1)], dim=1)

    def _packed(self, rows: Rows, shared: int) -> None:
        """All prompts in one row after their shared prefix; a mask keeps them from seeing each other.

        `owner` and `place` say for each token of the row whose it is (-1: the prefix) and where it stands.
        """
        prompts = rows.prompts
        self._read_shared(prompts[0].ids[:shared])
        suffixes = [p.ids[shared:] for p in prompts]
        sizes = torch.tensor([len(suffix) for suffix in suffixes])
        ids = torch.tensor([token for suffix in suffixes for token in suffix])
        owner = torch.arange(len(prompts)).repeat_interleave(sizes)
        place = torch.cat([torch.arange(shared, shared + len(suffix)) for suffix in suffixes])
        owners, places = torch.full((shared,), -1), torch.arange(shared)
        read: torch.Tensor | int = sizes.cumsum(0) - 1
        while rows.live:
            owners, places = torch.cat([owners, owner]), torch.cat([places, place])
            seen = ((owners == -1) | (owners == owner[:, None])) & (places <= place[:, None])
            rows.advance(self._logits(ids[None], seen[None, None], place[None], self._cache, read))
            ids = torch.tensor([rows.new[row][-1] for row in rows.live])
            owner, read = torch.tensor(rows.live), len(rows.live)
            place = torch.tensor([len(prompts[row].ids) + len(rows.new[row]) - 1 for row in rows.live])

    def _read_shared(self, ids: tuple[int, ...]) -> None:
        """Bring the cache to exactly these tokens: what it holds of them stays, the rest is read."""
        kept = common(self._shared, ids)
        self._cache.crop(kept - self._cache.get_seq_length())
        if kept < len(ids):
            new = torch.tensor([ids[kept:]])
            places = torch.arange(kept, len(ids))
            mask = (torch.arange(len(ids)) <= places[:, None])[None, None] if kept else None
            self._logits(new, mask, places[None], self._cache, 1)
        self._shared = ids

    def _logits(
        self, ids: torch.Tensor, mask: torch.Tensor | None, places: torch.Tensor, cache: Any, read: torch.Tensor | int
    ) -> torch.Tensor:
        """Scores of the next token after each position to `read`: (positions, vocabulary)."""
        logits: torch.Tensor = self._model(
            input_ids=ids, attention_mask=mask, position_ids=places, cache=cache, use_cache=True, logits_to_keep=read
        ).logits
        return logits.flatten(0, 1)


def one_by_one(model: Any, prompts: Sequence[Prompt]) -> list[list[int]]:
    """What transformers' own greedy `generate` continues each prompt with, alone: the yardstick of this module."""
    new = []
    for prompt in prompts:
        ids = torch.tensor([prompt.ids])
        whole = model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=prompt.max_new_tokens, do_sample=False
        )
        new.append(whole[0, len(prompt.ids) :].tolist())
    return new


def threads() -> int:
    """How many threads torch computes with."""
    return torch.get_num_threads()
