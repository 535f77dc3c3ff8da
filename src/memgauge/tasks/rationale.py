"""Replies that may think first: an optional `<think>` part, then one JSON object. Shared by the writer's operations.

It knows neither what the object holds nor who wrote it.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memgauge.tasks.base import ParseFailure
from memgauge.tasks.replies import read_object

OPEN, CLOSE = "<think>", "</think>"
LONGEST_REPLY = 2048  # tokens; MemoryCPT, appendix B


def split_rationale(reply: str) -> tuple[str, str] | ParseFailure:
    """The rationale ("" where there is none) and the rest of a reply.

    >>> split_rationale('<think>one matter</think>{"a": 1}'), split_rationale('{"a": 1}')
    (('one matter', '{"a": 1}'), ('', '{"a": 1}'))
    >>> split_rationale("<think>and then")
    ParseFailure(reason='the reply does not end its rationale')
    """
    text = reply.strip()
    if not text.startswith(OPEN):
        return "", text
    rationale, closing, rest = text.removeprefix(OPEN).partition(CLOSE)
    if not closing:
        return ParseFailure("the reply does not end its rationale")
    return rationale.strip(), rest.strip()


def read_operation(reply: str, keys: Sequence[str]) -> dict[str, Any] | ParseFailure:
    """The only JSON object after the rationale, if it has exactly these keys.

    >>> read_operation('<think>none</think>{"target": null}', ["target"])
    {'target': None}
    >>> read_operation('{"to": 1}', ["target"])
    ParseFailure(reason='the object has the keys to; it must have target')
    """
    parts = split_rationale(reply)
    if isinstance(parts, ParseFailure):
        return parts
    found = read_object(parts[1])
    if not isinstance(found, ParseFailure) and sorted(found) != sorted(keys):
        given = ", ".join(sorted(found))[:80]
        return ParseFailure(f"the object has the keys {given}; it must have {', '.join(sorted(keys))}")
    return found


def write_operation(rationale: str, found: Mapping[str, Any]) -> str:
    """The reply that says so, in as few characters as JSON allows; what `read_operation` reads back.

    >>> write_operation("one matter", {"target": None}), write_operation("", {"a": "é"})
    ('<think>one matter</think>{"target":null}', '{"a":"é"}')
    """
    said = " ".join(rationale.replace(CLOSE, " ").split())
    return (f"{OPEN}{said}{CLOSE}" if said else "") + json.dumps(found, ensure_ascii=False, separators=(",", ":"))
