"""What every chat model promises, whether it runs in this process or behind an endpoint."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from memgauge.records import Status
from memgauge.tasks.base import Message

FinishReason = Literal["stop", "length", "content_filter", "error"]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One chat to be continued by at most `max_new_tokens` tokens of the model; temperature 0 is greedy."""

    messages: tuple[Message, ...]
    max_new_tokens: int
    temperature: float = 0.0


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The continuation, or why there is none.

    Tokens are the model's own. `status` is ok for every reply the model gave, also one cut by its limit
    (finish reason "length"): whether a cut reply counts is the solver's decision.
    """

    text: str
    finish_reason: FinishReason
    input_tokens: int = 0
    output_tokens: int = 0
    status: Status = "ok"


class ChatModel(Protocol):
    """Continues chats in batches."""

    def generate(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """One reply for each request, in order; a failure is a reply's status, never an exception."""
        ...
