"""The solver that asks a chat model: render, generate, parse, and give every failure its status."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import TypeVar

from memgauge.errors import InputError
from memgauge.llm.chat import ChatModel, ChatReply, ChatRequest
from memgauge.records import Result, Status, Usage
from memgauge.tasks.base import ParseFailure, Task

Output = TypeVar("Output")


@dataclass(frozen=True, slots=True)
class LanguageModelSolver:
    """Solves any task with one chat model, all tasks in one call so that the model can batch them.

    `temperature` 0 is greedy; `seed` makes samples repeatable where the model honours it. Raises InputError
    for a temperature that is negative or not finite.
    """

    chat_model: ChatModel
    temperature: float = 0.0
    seed: int | None = None

    def __post_init__(self) -> None:
        if not (isfinite(self.temperature) and self.temperature >= 0):
            raise InputError(f"temperature is {self.temperature}; it must be a finite number of at least 0")

    def solve(self, tasks: Sequence[Task[Output]]) -> list[Result[Output]]:
        """Results in task order; a reply that is cut, empty or unreadable has no output."""
        replies = self.chat_model.generate([self.request(task) for task in tasks])
        return [read_reply(task, reply) for task, reply in zip(tasks, replies, strict=True)]

    def request(self, task: Task[Output]) -> ChatRequest:
        """What the chat model is asked for a task, its schema with it if it has one."""
        return ChatRequest(
            messages=tuple(task.messages()),
            max_new_tokens=task.max_new_tokens,
            temperature=self.temperature,
            schema=schema_text(task),
            seed=self.seed,
            readable=partial(can_read, task),
        )


def schema_text(task: Task[Output]) -> str | None:
    """A task's JSON schema as compact JSON text, None for a task without one.

    Keys keep the order in which the task declares them: constrained decoding writes an object's keys in it.
    """
    schema = getattr(task, "schema", None)
    return None if schema is None else json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def can_read(task: Task[Output], text: str) -> bool:
    """Whether a task can read a reply: one that it cannot is not served again (`llm.stored`)."""
    return not isinstance(task.parse(text), ParseFailure)


def read_reply(task: Task[Output], reply: ChatReply) -> Result[Output]:
    """One reply's result (design section 7); a reply that was never generated costs no call."""
    usage = reply_usage(reply)
    status = reply_status(reply)
    if status != "ok":
        return Result(None, status, usage, reply.text)
    parsed = task.parse(reply.text)
    if isinstance(parsed, ParseFailure):
        return Result(None, "parse_error", usage, reply.text)
    return Result(parsed, "ok", usage, reply.text)


def reply_usage(reply: ChatReply) -> Usage:
    """What a reply took; the same from the model, the store or a tape, so that outputs do not differ.

    A request refused for its length was never sent. One that the server cut has output and was.

    >>> reply_usage(ChatReply("Oslo", "stop", 50, 3, cached_input_tokens=40, measured=False))
    Usage(input_tokens=50, output_tokens=3, calls=1, cached_input_tokens=40, reasoning_tokens=0, estimated=True)
    """
    if reply.status == "context_truncated" and not reply.output_tokens:
        return Usage()
    return Usage(
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        calls=1,
        cached_input_tokens=reply.cached_input_tokens,
        reasoning_tokens=reply.reasoning_tokens,
        estimated=not reply.measured,
    )


def reply_status(reply: ChatReply) -> Status:
    """The status of a reply before it is parsed.

    >>> reply_status(ChatReply("The answer is", "length"))
    'truncated'
    """
    if reply.status != "ok":
        return reply.status
    if reply.finish_reason == "content_filter":
        return "refused_by_provider"
    if reply.finish_reason == "error":
        return "provider_error"
    if reply.finish_reason == "length":
        return "truncated"
    return "ok" if reply.text.strip() else "empty"
