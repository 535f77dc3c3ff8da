"""What every chat model promises, whether it runs in this process, behind an endpoint or from a tape."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from memgauge.records import Status
from memgauge.tasks.base import Message

FinishReason = Literal["stop", "length", "content_filter", "error"]
Origin = Literal["model", "store", "tape"]


def any_text(text: str) -> bool:
    """The `readable` of a request whose asker takes every text."""
    return True


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One chat to be continued by at most `max_new_tokens` tokens of the model; temperature 0 is greedy.

    `schema` is a JSON schema as JSON text, for replies that must follow it. `sample` tells several samples of
    one prompt apart; `seed` makes each repeatable where the model honours it. `readable` tells whether the asker
    can read a reply's text: it is never sent and in no key, so requests that differ in it alone are equal.
    """

    messages: tuple[Message, ...]
    max_new_tokens: int
    temperature: float = 0.0
    schema: str | None = None
    sample: int = 0
    seed: int | None = None
    readable: Callable[[str], bool] = field(default=any_text, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The continuation, or why there is none.

    Tokens are the model's own: cached input tokens are part of the input tokens, reasoning tokens of the output
    tokens; `measured` is False where the provider reported none and ours are estimates. `status` is ok for every
    reply the model gave, also one cut by its limit (finish reason "length"): whether a cut reply counts is the
    solver's decision. `detail` says what went wrong, never with a key in it.
    """

    text: str
    finish_reason: FinishReason
    input_tokens: int = 0
    output_tokens: int = 0
    status: Status = "ok"
    cached_input_tokens: int = 0
    reasoning_tokens: int = 0
    measured: bool = True
    latency_seconds: float = 0.0
    attempts: int = 1
    origin: Origin = "model"
    detail: str = ""


OnReply = Callable[[int, ChatReply], None]


def ignore(position: int, reply: ChatReply) -> None:
    """The `on_reply` of a caller that waits for the whole batch."""


class ChatModel(Protocol):
    """Continues chats in batches."""

    def payload(self, request: ChatRequest) -> dict[str, Any]:
        """All that is sent for a request, JSON-friendly: model, revision or hash, endpoint, messages, decoding.

        Two requests with one payload are one call; anything that can change the reply is in it, no key ever is.
        """
        ...

    def generate(self, requests: Sequence[ChatRequest], on_reply: OnReply = ignore) -> list[ChatReply]:
        """One reply for each request, in order; a failure is a reply's status, never an exception.

        `on_reply(position, reply)` is called in this thread as soon as each reply is there, so that nothing
        finished is lost. When it raises, no further call starts, calls under way are still reported, and the
        exception goes on to the caller.
        """
        ...
