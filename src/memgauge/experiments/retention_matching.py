"""Prompts of exactly equal length: counted as the reader counts, filled with labelled text that says nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from memgauge.errors import InputError
from memgauge.llm.chat import ChatRequest
from memgauge.tasks.base import Message
from memgauge.tasks.track_state import TrackState
from memgauge.text.tokens import count_tokens

LABEL = "[filler]"
FILL = " x"  # one token in every vocabulary in use; what it adds is counted, not assumed
TRIES = 8  # corrections until the filler fits
CACHED = 1 << 14  # counts kept: fitting filler asks for the same prompts again


@dataclass(frozen=True, slots=True)
class Counter:
    """How a reader's tokens are counted: `name` for the tables, one text, and one whole compiled prompt."""

    name: str
    text: Callable[[str], int]
    prompt: Callable[[Sequence[Message]], int]


def reader_counter(options: Mapping[str, Any]) -> Counter:
    """The counter of a reader's role: its own tokenizer and chat template where it runs here, else cl100k_base."""
    if options.get("solver") != "language_model" or options.get("endpoint"):
        return Counter("cl100k_base", lru_cache(CACHED)(count_tokens), contents)
    from memgauge.llm.local import LocalChatModel

    model = LocalChatModel(Path(str(options["model"])))

    @lru_cache(CACHED)
    def text(line: str) -> int:
        return len(model.tokenizer(line, add_special_tokens=False)["input_ids"])

    @lru_cache(CACHED)
    def chat(system: str, user: str) -> int:
        messages: tuple[Message, ...] = ({"role": "system", "content": system}, {"role": "user", "content": user})
        return len(model.encode(ChatRequest(messages, 1)).ids)

    def prompt(messages: Sequence[Message]) -> int:
        system, user = messages  # as every template of the task has them
        return chat(system["content"], user["content"])

    return Counter(f"tokenizer of {options['model']}", text, prompt)


def contents(messages: Sequence[Message]) -> int:
    """cl100k_base tokens of what the messages say, without a chat template.

    >>> contents([{"role": "system", "content": "hello world"}, {"role": "user", "content": "hello"}])
    3
    """
    return sum(count_tokens(message["content"]) for message in messages)


def pad(task: TrackState, tokens: int, counter: Counter) -> TrackState | None:
    """The task with filler that makes its prompt `tokens` long; None when it is longer, or too near for a label."""
    length = counter.prompt(task.messages())
    if length == tokens:
        return task
    fills = 1
    for _ in range(TRIES):
        if length > tokens or fills < 1:
            return None
        padded = replace(task, padding=LABEL + FILL * fills)
        found = counter.prompt(padded.messages())
        if found == tokens:
            return padded
        fills += tokens - found
    return None


def match(tasks: Sequence[TrackState], counter: Counter) -> list[TrackState]:
    """The tasks at the shortest length that all can be padded to, at least the longest one's (paper C).

    Raises InputError when the reader's tokens allow none.
    """
    lengths = [counter.prompt(task.messages()) for task in tasks]
    labels = [_label_tokens(task, length, counter) for task, length in zip(tasks, lengths, strict=True)]
    for tokens in range(max(lengths), max(lengths) + max(labels) + 2):
        if any(0 < tokens - length < label for length, label in zip(lengths, labels, strict=True)):
            continue
        padded = [task for each in tasks if (task := pad(each, tokens, counter)) is not None]
        if len(padded) == len(tasks):
            return padded
    raise InputError(f"{len(tasks)} prompts cannot be padded to one length with {counter.name}; choose another reader")


def _label_tokens(task: TrackState, length: int, counter: Counter) -> int:
    return counter.prompt(replace(task, padding=LABEL + FILL).messages()) - length
