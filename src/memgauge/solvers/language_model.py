"""The solver that asks a chat model: render, generate, parse, and give every failure its status."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from memgauge.llm.chat import ChatModel, ChatReply, ChatRequest
from memgauge.records import Result, Status, Usage
from memgauge.tasks.base import ParseFailure, Task

Output = TypeVar("Output")


@dataclass(frozen=True, slots=True)
class LanguageModelSolver:
    """Solves any task with one chat model, all tasks in one call so that the model can batch them."""

    chat_model: ChatModel

    def solve(self, tasks: Sequence[Task[Output]]) -> list[Result[Output]]:
        """Results in task order; a reply that is cut, empty or unreadable has no output."""
        requests = [ChatRequest(tuple(task.messages()), task.max_new_tokens) for task in tasks]
        replies = self.chat_model.generate(requests)
        return [read_reply(task, reply) for task, reply in zip(tasks, replies, strict=True)]


def read_reply(task: Task[Output], reply: ChatReply) -> Result[Output]:
    """One reply's result (design section 7); a reply that was never generated costs no call."""
    called = reply.status != "context_truncated"
    usage = Usage(reply.input_tokens, reply.output_tokens, 1) if called else Usage()
    status = reply_status(reply)
    if status != "ok":
        return Result(None, status, usage, reply.text)
    parsed = task.parse(reply.text)
    if isinstance(parsed, ParseFailure):
        return Result(None, "parse_error", usage, reply.text)
    return Result(parsed, "ok", usage, reply.text)


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
