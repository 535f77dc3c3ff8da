"""The in-process chat model: transformers, greedy, float32, batched, same tokens as one by one.

Prompts that share most of their text (one store, many questions) read the shared part once; the rest are
batched with like lengths, padded on the left.

Threads are torch's: set OMP_NUM_THREADS, and OMP_WAIT_POLICY=PASSIVE wherever something else runs on the
machine (with the default policy one busy neighbour makes two threads three to ten times slower).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from memgauge.errors import AssetError, InputError
from memgauge.llm.batching import Group, Prompt, plan
from memgauge.llm.chat import ChatReply, ChatRequest

if TYPE_CHECKING:
    import torch

BAR_DELAY_SECONDS = 2.0


@dataclass(frozen=True)
class LocalChatModel:
    """A Hugging Face folder (config, safetensors, tokenizer with a chat template); loaded at first use.

    `batch_token_budget` bounds memory: the tokens a batch holds, padding and new ones included. At 46 kB
    of keys and values a token (135M model) the default is 0.75 GB.
    `max_context` in tokens is lowered to the model's own limit; a longer request is refused, never cut.
    """

    folder: Path
    batch_token_budget: int = 16_384
    max_context: int = 8_192

    @cached_property
    def tokenizer(self) -> Any:
        """The folder's tokenizer; AssetError when the folder is not there."""
        if not (self.folder / "config.json").is_file():
            raise AssetError(f"there is no model in {self.folder}; run its assets stage or correct the path")
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(self.folder, local_files_only=True)

    @cached_property
    def model(self) -> Any:
        """The folder's model in evaluation mode, float32 with SDPA attention; never from pickle."""
        self.tokenizer  # noqa: B018  says clearly when the folder is absent
        import torch
        from transformers import AutoModelForCausalLM, logging

        logging.disable_progress_bar()
        model = AutoModelForCausalLM.from_pretrained(
            self.folder,
            dtype=torch.float32,
            attn_implementation="sdpa",
            local_files_only=True,
            use_safetensors=True,
        )
        return model.eval()

    @cached_property
    def limit(self) -> int:
        """Tokens that a prompt and its reply may take together."""
        return min(self.max_context, int(self.model.config.max_position_embeddings))

    @cached_property
    def stops(self) -> frozenset[int]:
        """Token ids that end a reply."""
        ends = self.model.generation_config.eos_token_id
        named = ends if isinstance(ends, list) else [ends]
        return frozenset(end for end in [*named, self.tokenizer.eos_token_id] if end is not None)

    def generate(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Greedy replies in request order; raises InputError for a temperature other than 0."""
        prompts = [self.encode(request) for request in requests]
        fitting = [prompt for prompt in dict.fromkeys(prompts) if prompt.room <= self.limit]
        replies: dict[Prompt, ChatReply] = {}
        with tqdm(total=len(fitting), desc=self.folder.name, unit="reply", delay=BAR_DELAY_SECONDS) as bar:
            for group in plan(fitting, self.batch_token_budget):
                for prompt, new in zip(group.prompts, self.new_ids(group), strict=True):
                    replies[prompt] = self._reply(prompt, new)
                bar.update(len(group.prompts))
        return [
            replies.get(prompt) or ChatReply("", "error", len(prompt.ids), 0, "context_truncated") for prompt in prompts
        ]

    def encode(self, request: ChatRequest) -> Prompt:
        """The chat as ids, ready for the assistant's turn; control tokens inside contents stay plain text."""
        if request.temperature != 0:
            raise InputError(f"temperature {request.temperature} is not 0; the local model only decodes greedily")
        marks = [f"\x00{position}\x00" for position in range(len(request.messages))]
        chat = [{"role": m["role"], "content": mark} for m, mark in zip(request.messages, marks, strict=True)]
        frame = self.tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
        pieces: list[tuple[str, bool]] = []
        for mark, message in zip(marks, request.messages, strict=True):
            before, found, frame = frame.partition(mark)
            if not found:
                raise InputError(
                    f"the chat template of {self.folder} leaves out a {message['role']} message; "
                    "choose a model whose template keeps it"
                )
            pieces += [(before, False), (message["content"], True)]
        return Prompt(self._ids([*pieces, (frame, False)]), request.max_new_tokens)

    def _ids(self, pieces: list[tuple[str, bool]]) -> tuple[int, ...]:
        """Ids of template and content pieces; all in one go unless a content holds a control token."""
        special = self.tokenizer.all_special_tokens
        if not any(is_content and token in text for text, is_content in pieces for token in special):
            pieces = [("".join(text for text, _ in pieces), False)]
        return tuple(
            token
            for text, is_content in pieces
            for token in self.tokenizer(text, add_special_tokens=False, split_special_tokens=is_content)["input_ids"]
        )

    def _reply(self, prompt: Prompt, new: list[int]) -> ChatReply:
        ended = bool(new) and new[-1] in self.stops
        text = self.tokenizer.decode(new, skip_special_tokens=True)
        return ChatReply(text, "stop" if ended else "length", len(prompt.ids), len(new))

    def new_ids(self, group: Group) -> list[list[int]]:
        """New ids of each prompt of a group, in order, the stop id included."""
        return self._packed(group) if group.shared else self._padded(group.prompts)

    def _padded(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """One row a prompt, padded on the left; a finished row leaves the batch."""
        import torch
        from transformers import DynamicCache

        pads = [max(len(p.ids) for p in prompts) - len(p.ids) for p in prompts]
        ids = torch.tensor([[0] * pad + list(p.ids) for pad, p in zip(pads, prompts, strict=True)])
        mask = torch.tensor([[0] * pad + [1] * len(p.ids) for pad, p in zip(pads, prompts, strict=True)])
        places = (mask.cumsum(1) - 1).clamp(min=0)
        cache = DynamicCache(config=self.model.config)
        new: list[list[int]] = [[] for _ in prompts]
        live = list(range(len(prompts)))
        while live:
            chosen = self._step(ids, mask, places, cache, 1)
            live, kept = self._advance(live, chosen.tolist(), new, prompts)
            if not live:
                break
            rows = torch.tensor(kept)
            if len(kept) < len(chosen):
                cache.batch_select_indices(rows)
            ids, places, mask = chosen[rows][:, None], places[rows][:, -1:] + 1, mask[rows]
            mask = torch.cat([mask, mask.new_ones(len(live), 1)], dim=1)
        return new

    def _packed(self, group: Group) -> list[list[int]]:
        """All prompts in one row after their shared prefix; a mask keeps them from seeing each other.

        `owner` and `place` say for each token of the row whose it is (-1: the prefix) and where it stands.
        """
        import torch
        from transformers import DynamicCache

        prompts, shared = group.prompts, group.shared
        cache = DynamicCache(config=self.model.config)
        prefix = torch.arange(shared)
        self._step(torch.tensor([prompts[0].ids[:shared]]), None, prefix[None], cache, 1)
        suffixes = [p.ids[shared:] for p in prompts]
        sizes = torch.tensor([len(suffix) for suffix in suffixes])
        ids = torch.tensor([token for suffix in suffixes for token in suffix])
        owner = torch.arange(len(prompts)).repeat_interleave(sizes)
        place = torch.cat([torch.arange(shared, shared + len(suffix)) for suffix in suffixes])
        owners, places = torch.cat([torch.full((shared,), -1), owner]), torch.cat([prefix, place])
        read: torch.Tensor | int = sizes.cumsum(0) - 1
        new: list[list[int]] = [[] for _ in prompts]
        live = list(range(len(prompts)))
        while live:
            own = (owners == -1) | (owners == owner[:, None])
            seen = own & (places <= place[:, None])
            chosen = self._step(ids[None], seen[None, None], place[None], cache, read)
            live, kept = self._advance(live, chosen.tolist(), new, prompts)
            ids, owner, read = chosen[kept], torch.tensor(live, dtype=torch.long), len(live)
            place = torch.tensor([len(prompts[row].ids) + len(new[row]) - 1 for row in live])
            owners, places = torch.cat([owners, owner]), torch.cat([places, place])
        return new

    def _advance(
        self, live: list[int], chosen: list[int], new: list[list[int]], prompts: Sequence[Prompt]
    ) -> tuple[list[int], list[int]]:
        """Append each live prompt's token to `new`; who goes on, and where they stood in `live`."""
        for row, token in zip(live, chosen, strict=True):
            new[row].append(token)
        kept = [
            at
            for at, row in enumerate(live)
            if new[row][-1] not in self.stops and len(new[row]) < prompts[row].max_new_tokens
        ]
        return [live[at] for at in kept], kept

    def _step(
        self,
        ids: "torch.Tensor",
        mask: "torch.Tensor | None",
        places: "torch.Tensor",
        cache: Any,
        read: "torch.Tensor | int",
    ) -> "torch.Tensor":
        """The likeliest next token after each position to `read`; ties go to the lower id."""
        import torch

        with torch.inference_mode():
            output = self.model(
                input_ids=ids,
                attention_mask=mask,
                position_ids=places,
                cache=cache,
                use_cache=True,
                logits_to_keep=read,
            )
        chosen: torch.Tensor = output.logits.argmax(dim=-1).flatten()
        return chosen
