"""Groups of completions on a CPU: each prompt is read once, in generation and again where its completions are weighed.

Knows token ids, caches and masks; nothing of rewards. trl reads a prompt once for every completion of its group.
"""

from collections.abc import Sequence
from typing import Any

import torch
from transformers.cache_utils import Cache

from memgauge.llm.batching import Prompt
from memgauge.llm.prefix import RoomyLayer, Rows


def roll_out(causal: Any, groups: Sequence[Sequence[Prompt]], stops: frozenset[int]) -> list[list[int]]:
    """New ids of every prompt, group by group, the stop id included; the prompts of one group have the same ids.

    `causal` is a causal language model of transformers. Each row's draws depend on its own seed, sample and ids.
    """
    firsts = [group[0].ids for group in groups]
    pads = [max(map(len, firsts)) - len(ids) for ids in firsts]
    ids = torch.tensor([[0] * pad + list(own) for pad, own in zip(pads, firsts, strict=True)])
    mask = torch.tensor([[0] * pad + [1] * len(own) for pad, own in zip(pads, firsts, strict=True)])
    places = (mask.cumsum(1) - 1).clamp(min=0)
    rows = Rows([prompt for group in groups for prompt in group], stops, None)
    cache = Cache(layer_class_to_replicate=RoomyLayer)
    kept = torch.arange(len(groups)).repeat_interleave(torch.tensor([len(group) for group in groups]))
    with torch.inference_mode():
        logits = _next(causal, ids, mask, places, cache)[kept]
        while True:
            cache.batch_select_indices(kept)
            mask, places = mask[kept], places[kept]
            if not (live := rows.advance(logits)):
                return rows.new
            kept = torch.tensor(live)
            ids = torch.tensor([[rows.new[row][-1]] for row in rows.live])
            if len(kept) < len(mask):
                cache.batch_select_indices(kept)
            mask = torch.cat([mask[kept], mask.new_ones(len(kept), 1)], dim=1)
            places = places[kept][:, -1:] + 1
            logits = _next(causal, ids, mask, places, cache)
            kept = torch.arange(len(kept))


def _next(causal: Any, ids: torch.Tensor, mask: torch.Tensor, places: torch.Tensor, cache: Any) -> torch.Tensor:
    """Scores of the token after each row: (rows, vocabulary)."""
    hidden = causal.model(
        input_ids=ids, attention_mask=mask, position_ids=places, cache=cache, use_cache=True
    ).last_hidden_state
    scores: torch.Tensor = causal.lm_head(hidden[:, -1])
    return scores


def completion_logits(causal: Any, prompt: Sequence[int], completions: Sequence[Sequence[int]]) -> torch.Tensor:
    """The scores that foretell every token of every completion, in their order: (all tokens, vocabulary).

    Prompt and completions stand in one row; a mask keeps the completions from seeing each other.
    """
    fed = [completion[:-1] for completion in completions]  # a last token foretells nothing
    sizes = torch.tensor([len(one) for one in fed])
    ids = torch.tensor([*prompt, *(token for one in fed for token in one)])
    owner = torch.cat([torch.full((len(prompt),), -1), torch.arange(len(fed)).repeat_interleave(sizes)])
    starts = [torch.arange(len(prompt), len(prompt) + len(one)) for one in fed]
    place = torch.cat([torch.arange(len(prompt)), *starts])
    seen = ((owner == -1) | (owner == owner[:, None])) & (place <= place[:, None])
    hidden = causal.model(
        input_ids=ids[None], attention_mask=seen[None, None], position_ids=place[None], use_cache=False
    ).last_hidden_state[0]
    ends = len(prompt) + sizes.cumsum(0)
    read = [
        position
        for end, one in zip(ends.tolist(), fed, strict=True)
        for position in (len(prompt) - 1, *range(end - len(one), end))
    ]
    scores: torch.Tensor = causal.lm_head(hidden[torch.tensor(read)])
    return scores
