"""The in-process chat model: transformers, float32, batched, the same tokens as one by one.

Prompts that share most of their text (one store, many questions) read the shared part once; the rest are
batched with like lengths, padded on the left.

Threads are torch's: set OMP_NUM_THREADS, and OMP_WAIT_POLICY=PASSIVE wherever something else runs on the
machine (with the default policy one busy neighbour makes two threads three to ten times slower).
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from memgauge.errors import AssetError, InputError
from memgauge.llm.batching import Group, Prompt, plan
from memgauge.llm.chat import ChatReply, ChatRequest, OnReply, ignore

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

Constrain = Callable[[str], Callable[[list[int]], "torch.Tensor | NDArray[np.bool_] | None"]]
BAR_DELAY_SECONDS = 2.0
FULL = "full_attention"  # what masks and caches of `llm.prefix` are made for
ENGINE = "local transformers float32"
FLOAT_BYTES = 4
SHAPING = {".safetensors", ".json", ".jinja"}  # weights, settings, vocabulary and template: what shapes a reply


@dataclass(frozen=True)
class LocalChatModel:
    """A Hugging Face folder (config, safetensors, tokenizer with a chat template); loaded at first use.

    `batch_bytes` bounds memory: the keys and values of all tokens a batch holds, padding and new ones included.
    The default is 16,384 tokens of a 135M model (46 kB each), and fewer of a larger one.
    `max_context` in tokens is lowered to the model's own limit; a longer request is refused, never cut.
    `adapter` is a LoRA folder of peft (safetensors only), merged into the weights in memory.
    `constrain` makes, of a JSON schema, the function that gives the tokens allowed after the new ids so far: a
    boolean mask over the vocabulary, or None where every token is. Without one, `llm.structured` does it.
    """

    folder: Path
    batch_bytes: int = 720 * 2**20
    max_context: int = 8_192
    adapter: Path | None = None
    constrain: Constrain | None = None

    @cached_property
    def tokenizer(self) -> Any:
        """The folder's tokenizer; AssetError when the folder or the adapter is not there."""
        self._check_folders()
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(self.folder, local_files_only=True)

    @cached_property
    def model(self) -> Any:
        """The folder's model in evaluation mode, float32, adapter merged; never from pickle."""
        self.tokenizer  # noqa: B018  says clearly when the folder is absent
        import torch
        from transformers import AutoModelForCausalLM, logging

        from memgauge.llm.prefix import GROUPED

        logging.disable_progress_bar()
        model = AutoModelForCausalLM.from_pretrained(
            self.folder,
            dtype=torch.float32,
            attn_implementation=GROUPED,
            local_files_only=True,
            use_safetensors=True,
        )
        if others := set(getattr(model.config, "layer_types", None) or ()) - {FULL}:
            raise AssetError(
                f"{self.folder} has layers of {', '.join(sorted(others))}; this engine reads {FULL} only, "
                "so choose another model or serve this one behind an endpoint"
            )
        if self.adapter:
            from peft import PeftModel

            model = PeftModel.from_pretrained(model, str(self.adapter)).merge_and_unload()
        return model.eval()

    @cached_property
    def limit(self) -> int:
        """Tokens that a prompt and its reply may take together."""
        return min(self.max_context, int(self.model.config.max_position_embeddings))

    @cached_property
    def batch_tokens(self) -> int:
        """Tokens that a batch may hold: `batch_bytes` over what the model keeps of a token."""
        return max(1, self.batch_bytes // token_bytes(self.model.config))

    @cached_property
    def stops(self) -> frozenset[int]:
        """Token ids that end a reply."""
        ends = self.model.generation_config.eos_token_id
        named = ends if isinstance(ends, list) else [ends]
        return frozenset(end for end in [*named, self.tokenizer.eos_token_id] if end is not None)

    @cached_property
    def follow(self) -> Constrain:
        """What makes the follower of one reply from its schema."""
        if self.constrain is not None:
            return self.constrain
        from memgauge.llm.structured import constrain

        return constrain(self.tokenizer, int(self.model.config.vocab_size))

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        """What decides the reply, without loading the model; a greedy reply depends on no seed."""
        self._check_folders()  # not the tokenizer: a stored reply needs no library of five seconds
        return {
            "engine": ENGINE,
            "model": folder_hash(self.folder),
            "adapter": folder_hash(Path(self.adapter)) if self.adapter else None,
            "max_context": self.max_context,
            "messages": list(request.messages),
            "max_new_tokens": request.max_new_tokens,
            "temperature": request.temperature,
            "seed": (request.seed or 0) if request.temperature else None,
            "sample": request.sample,
            "schema": request.schema,
        }

    def generate(self, requests: Sequence[ChatRequest], on_reply: OnReply = ignore) -> list[ChatReply]:
        """Replies in request order, reported group by group; InputError before any work for a request it cannot do.

        Greedy at temperature 0; above it `seed`, `sample` and the prompt decide the draw, whatever else is in
        the batch (no seed counts as seed 0).
        """
        places: dict[Prompt, list[int]] = defaultdict(list)
        for place, request in enumerate(requests):
            places[self.encode(request)].append(place)
        replies: dict[int, ChatReply] = {}

        def report(found: Sequence[tuple[Prompt, ChatReply]]) -> None:
            with ExitStack() as calls:  # runs every callback, also after one has raised
                for place, reply in reversed([(place, reply) for prompt, reply in found for place in places[prompt]]):
                    replies[place] = reply
                    calls.callback(on_reply, place, reply)

        fitting = [prompt for prompt in places if prompt.room <= self.limit]
        report([(prompt, _refused(prompt)) for prompt in places if prompt.room > self.limit])
        decode = self.decoder()
        with tqdm(total=len(fitting), desc=self.folder.name, unit="reply", delay=BAR_DELAY_SECONDS) as bar:
            for group in plan(fitting, self.batch_tokens):
                start = perf_counter()
                new = decode(group)
                seconds = perf_counter() - start
                report([(p, self._reply(p, ids, seconds)) for p, ids in zip(group.prompts, new, strict=True)])
                bar.update(len(group.prompts))
        return [replies[place] for place in range(len(requests))]

    def decoder(self) -> Callable[[Group], list[list[int]]]:
        """New ids of each prompt of a group, stop id included; it keeps the last shared prefix between groups."""
        from memgauge.llm.prefix import Decoder

        return Decoder(self.model, self.stops, lambda schema: self.follow(schema)).new_ids

    def encode(self, request: ChatRequest) -> Prompt:
        """The chat as ids, ready for the assistant's turn; control tokens inside contents stay plain text."""
        self._check(request)
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
        ids = self._ids([*pieces, (frame, False)])
        if not request.temperature:
            return Prompt(ids, request.max_new_tokens, schema=request.schema)
        seed = request.seed or 0
        return Prompt(ids, request.max_new_tokens, request.temperature, seed, request.sample, request.schema)

    def _check_folders(self) -> None:
        """AssetError when the model's or the adapter's files are not there."""
        _check_files(self.folder, "config.json")
        if self.adapter:
            _check_files(Path(self.adapter), "adapter_config.json", "adapter_model.safetensors")

    def _check(self, request: ChatRequest) -> None:
        if not (math.isfinite(request.temperature) and request.temperature >= 0):
            raise InputError(f"temperature is {request.temperature}; it must be 0 (greedy) or a number above it")
        if request.schema is not None:
            self.follow(request.schema)  # a schema that cannot be followed is an error before any work

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

    def _reply(self, prompt: Prompt, new: list[int], seconds: float) -> ChatReply:
        ended = bool(new) and new[-1] in self.stops
        text = self.tokenizer.decode(new, skip_special_tokens=True)
        return ChatReply(text, "stop" if ended else "length", len(prompt.ids), len(new), latency_seconds=seconds)


def token_bytes(config: Any) -> int:
    """Bytes of keys and values that a model in float32 keeps of a token, over all its layers.

    >>> from types import SimpleNamespace
    >>> sizes = {"num_hidden_layers": 30, "num_key_value_heads": 3, "num_attention_heads": 9, "hidden_size": 576}
    >>> token_bytes(SimpleNamespace(**sizes))
    46080
    """
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return int(2 * config.num_hidden_layers * heads * size * FLOAT_BYTES)


def _check_files(folder: Path, *names: str) -> None:
    for name in names:
        if not (folder / name).is_file():
            raise AssetError(f"there is no {name} in {folder}; run the stage that makes it or correct the path")


def _refused(prompt: Prompt) -> ChatReply:
    return ChatReply("", "error", len(prompt.ids), 0, "context_truncated")


def folder_hash(folder: Path) -> str:
    """SHA-256 over names and contents of the files of a model folder that shape its replies."""
    whole = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.suffix in SHAPING:
            facts = path.stat()
            whole.update(f"{path.name}\0{_file_hash(path, facts.st_size, facts.st_mtime_ns)}\n".encode())
    return whole.hexdigest()


@lru_cache
def _file_hash(path: Path, size: int, mtime_ns: int) -> str:
    """Size and time of change are there to read a file once only in a process, and again when it changed."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
