"""The body of a chat request, and what changes in it for a model that refuses a parameter."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from memgauge.llm.chat import ChatRequest

CHANGES: dict[str, str | None] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
    "temperature": None,
    "seed": None,
    "response_format": None,
}
"""What a refused parameter becomes: another name for it, or None for leaving it out."""


class Adaptations(Protocol):
    """Where refused parameters are remembered, for each endpoint and model."""

    def remembered(self, model_id: str) -> Mapping[str, str | None]:
        """What is known of a model: parameter to its other name, or to None when it is left out."""
        ...

    def remember(self, model_id: str, change: Mapping[str, str | None]) -> None:
        """Add to what is known of a model."""
        ...


@dataclass(frozen=True, slots=True)
class AdaptationsHere:
    """Remembers for the life of this process."""

    known: dict[str, dict[str, str | None]] = field(default_factory=dict)

    def remembered(self, model_id: str) -> Mapping[str, str | None]:
        """What is known of a model."""
        return self.known.get(model_id, {})

    def remember(self, model_id: str, change: Mapping[str, str | None]) -> None:
        """Add to what is known of a model."""
        self.known[model_id] = {**self.known.get(model_id, {}), **change}


def plain_body(model: str, request: ChatRequest, extra: Mapping[str, Any]) -> dict[str, Any]:
    """The request as any OpenAI-compatible endpoint takes it.

    `max_tokens` is the name that every server knows; the newer one is an adaptation.
    """
    body: dict[str, Any] = {
        "model": model,
        "messages": [dict(message) for message in request.messages],
        "max_tokens": request.max_new_tokens,
        "temperature": request.temperature,
        **extra,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if request.schema is not None:
        form = {"name": "reply", "strict": True, "schema": json.loads(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    return body


def adaptable(body: Mapping[str, Any]) -> list[str]:
    """The parameters of a body that can be renamed or left out."""
    return [name for name in CHANGES if name in body]


def adapted(body: Mapping[str, Any], changes: Mapping[str, str | None]) -> dict[str, Any]:
    """The body with parameters renamed or left out.

    >>> adapted({"model": "o", "max_tokens": 8, "temperature": 0.0}, {"max_tokens": "max_completion_tokens"})
    {'model': 'o', 'max_completion_tokens': 8, 'temperature': 0.0}
    """
    named = ((changes.get(name, name), value) for name, value in body.items())
    return {name: value for name, value in named if name is not None}


def learnt(plain: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, str | None]:
    """How a body that was taken differs from the plain one: each adaptable parameter's name in it, None if left out.

    >>> learnt({"max_tokens": 8, "temperature": 0.0, "seed": 1}, {"max_completion_tokens": 8, "seed": 1})
    {'max_tokens': 'max_completion_tokens', 'temperature': None, 'seed': 'seed'}
    """
    names = {name: (name, CHANGES[name]) for name in adaptable(plain)}
    return {name: next((form for form in forms if form in sent), None) for name, forms in names.items()}
