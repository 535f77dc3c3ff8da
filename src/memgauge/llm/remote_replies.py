"""Reading an endpoint's answer: the text, why it ended, what it took. Knows no network and trusts no field."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memgauge.llm.chat import ChatReply, FinishReason
from memgauge.llm.remote_failures import Response, read_failure
from memgauge.llm.retries import Failure
from memgauge.records import Status

CountTokens = Callable[[str], int]

READ_SHARE = 0.9  # a prompt of which less was read than this share of our count was cut by the server
CHARACTERS_PER_TOKEN = 4  # of English text, for estimates where no counter is given
ENDINGS: dict[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
}


@dataclass(frozen=True, slots=True)
class _Tokens:
    input: int
    output: int
    cached: int = 0
    reasoning: int = 0
    measured: bool = True


@dataclass(frozen=True, slots=True)
class _Choice:
    """One choice: its answer, its reasoning (never part of the answer), the model's refusal, the reason it ended."""

    text: str
    reasoning: str
    refusal: str
    ending: str


def read_response(
    response: Response, sent: Mapping[str, Any], count_tokens: CountTokens | None, now: datetime
) -> ChatReply | Failure:
    """The reply of one call, or its failure; latency and attempts are the caller's to fill in.

    `count_tokens` counts a text in the model's own tokens or close to it; without it a prompt that the server
    cut cannot be seen.
    """
    if response.status >= 300:
        return read_failure(response, sent, now)
    try:
        body = json.loads(response.text)
    except ValueError:
        page = "a web page" if response.text.lstrip().startswith("<") else "no JSON"
        return Failure("passing", f"the answer is {page}; an endpoint's address usually ends in /v1")
    if not isinstance(body, dict) or body.get("error"):
        return read_failure(response, sent, now)
    choice = _first_choice(body)
    if choice is None:
        return Failure("refused", "the answer holds no choice with a message")
    if choice.get("error"):
        return read_failure(Response(response.status, response.headers, json.dumps(choice)), sent, now)
    return _reply(_read_choice(choice), body.get("usage"), sent, count_tokens)


def failed_reply(failure: Failure, sent: Mapping[str, Any], count_tokens: CountTokens | None) -> ChatReply:
    """The reply that stands for a call that failed for good; nothing is known to be charged, unless it was cut."""
    if failure.kind == "cut":
        limit = sent.get("max_completion_tokens") or sent.get("max_tokens") or 0
        prompt = estimated_input(sent, count_tokens)
        return ChatReply("", "length", prompt, limit, reasoning_tokens=limit, measured=False, detail=failure.detail)
    statuses: dict[str, Status] = {"context": "context_truncated", "filtered": "refused_by_provider"}
    reason: FinishReason = "content_filter" if failure.kind == "filtered" else "error"
    return ChatReply("", reason, 0, 0, statuses.get(failure.kind, "provider_error"), detail=failure.detail)


def estimated_input(sent: Mapping[str, Any], count_tokens: CountTokens | None) -> int:
    """Tokens of a body's message texts, the chat template not counted."""
    return sum(_count(message["content"], count_tokens) for message in sent["messages"])


def _reply(choice: _Choice, usage: object, sent: Mapping[str, Any], count_tokens: CountTokens | None) -> ChatReply:
    expected = estimated_input(sent, count_tokens)
    tokens = _read_usage(usage, bool(choice.text)) or _Tokens(
        expected,
        _count(choice.text, count_tokens) + _count(choice.reasoning, count_tokens),
        reasoning=_count(choice.reasoning, count_tokens),
        measured=False,
    )
    finish_reason: FinishReason = "content_filter" if choice.refusal else ENDINGS.get(choice.ending, "error")
    status, detail = _verdict(choice, finish_reason, sent)
    if tokens.measured and count_tokens is not None and tokens.input < READ_SHARE * expected:
        status, detail = "context_truncated", f"the endpoint read {tokens.input} of about {expected} prompt tokens"
    return ChatReply(
        text=choice.text,
        finish_reason=finish_reason,
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        status=status,
        cached_input_tokens=tokens.cached,
        reasoning_tokens=tokens.reasoning,
        measured=tokens.measured,
        detail=detail,
    )


def _verdict(choice: _Choice, finish_reason: FinishReason, sent: Mapping[str, Any]) -> tuple[Status, str]:
    """Status and detail of a reply by why it ended; a reply that ignores its schema is left to the strict parser."""
    if finish_reason == "content_filter":
        return "refused_by_provider", choice.refusal[:300] or "the reply was stopped by a content filter"
    if finish_reason == "error":
        return "provider_error", f"the reply ended for an unknown reason: {choice.ending or 'none given'}"
    if finish_reason == "stop" and "response_format" in sent and not _is_json(choice.text):
        return "ok", "the endpoint ignored response_format: the reply is no JSON"
    return "ok", ""


def _first_choice(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """The choice with index 0, whatever else came with it."""
    listed = body.get("choices")
    choices = [choice for choice in listed if isinstance(choice, dict)] if isinstance(listed, list) else []
    usable = [choice for choice in choices if isinstance(choice.get("message"), dict) or choice.get("error")]
    return next((choice for choice in usable if choice.get("index", 0) == 0), usable[0] if usable else None)


def _read_choice(choice: Mapping[str, Any]) -> _Choice:
    message = choice["message"]
    text, inline = _without_reasoning(_content_text(message.get("content")))
    apart = message.get("reasoning_content") or message.get("reasoning")
    refusal, ending = message.get("refusal"), choice.get("finish_reason")
    return _Choice(
        text=text,
        reasoning=apart if isinstance(apart, str) else inline,
        refusal=refusal if isinstance(refusal, str) else "",
        ending=ending if isinstance(ending, str) else "",
    )


def _content_text(content: object) -> str:
    """The text of a message, which may come as typed parts, of which only those of type text are the answer."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _without_reasoning(text: str) -> tuple[str, str]:
    """Answer and reasoning of a text in which a server left the reasoning in tags; the first tag may be missing.

    >>> _without_reasoning("<think>Oslo? Bergen?</think>Bergen")
    ('Bergen', 'Oslo? Bergen?')
    """
    before, closed, after = text.partition("</think>")
    opened = before.lstrip().startswith("<think>")
    if not closed and not opened:
        return text, ""
    return after.lstrip(), before.lstrip().removeprefix("<think>")


def _read_usage(usage: object, has_text: bool) -> _Tokens | None:
    """The reported tokens; None where a number is missing, negative, no number, or contradicts another.

    Some servers leave reasoning out of the completion tokens; the total then tells.
    """
    if not isinstance(usage, dict):
        return None
    input_tokens, output = _whole(usage.get("prompt_tokens")), _whole(usage.get("completion_tokens"))
    cached = _detail(usage.get("prompt_tokens_details"), "cached_tokens")
    reasoning = _detail(usage.get("completion_tokens_details"), "reasoning_tokens")
    if not input_tokens or output is None or cached is None or reasoning is None or (has_text and not output):
        return None
    if reasoning and usage.get("total_tokens") == input_tokens + output + reasoning:
        output += reasoning
    if cached > input_tokens or reasoning > output:
        return None
    return _Tokens(input_tokens, output, cached, reasoning)


def _detail(details: object, name: str) -> int | None:
    """A count inside a usage's details: 0 when it is not given, None when it is wrong."""
    if not isinstance(details, dict) or details.get(name) is None:
        return 0
    return _whole(details[name])


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _count(text: str, count_tokens: CountTokens | None) -> int:
    return count_tokens(text) if count_tokens is not None else -(-len(text) // CHARACTERS_PER_TOKEN)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
