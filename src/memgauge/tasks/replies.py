"""The one reader of a JSON object in a reply: found among prose and fences, never completed, never guessed.

It knows nothing of what a task wants in the object.
"""

import json
import re
from typing import Any, NoReturn

from memgauge.tasks.base import ParseFailure

# A brace before anything but a quoted key or its own end is prose ("the set {x: 1}"), not a JSON object.
_OPENING = re.compile(r'\{(?=\s*(?:"|\}|\Z))')
_MARKS = " \t\r\n.,;:!?\"'`*()[]"


def read_object(reply: str) -> dict[str, Any] | ParseFailure:
    """The only JSON object of a reply, whatever stands around it.

    A failure when there is none, when one is cut off or malformed (an object inside it is no answer), when a
    key is given twice, or when several objects differ. Lone surrogates in texts become U+FFFD.

    >>> read_object('Sure:\\n```json\\n{"reason": "like {x: 1}", "verdict": "wrong"}\\n```')
    {'reason': 'like {x: 1}', 'verdict': 'wrong'}
    >>> read_object('thought {"score":')
    ParseFailure(reason='the reply holds a JSON object that is cut off or malformed')
    """
    objects: list[dict[str, Any]] = []
    start = 0
    while opening := _OPENING.search(reply, start):
        try:
            found, start = _DECODER.raw_decode(reply, opening.start())
        except (ValueError, RecursionError):
            return ParseFailure("the reply holds a JSON object that is cut off or malformed")
        objects.append(_mend(found))
    if not objects:
        return ParseFailure("the reply holds no JSON object")
    if any(one != objects[0] for one in objects):
        return ParseFailure(f"the reply holds {len(objects)} JSON objects that differ")
    return objects[0]


def holds_object(reply: str) -> bool:
    """Whether a reply has, or begins to have, a JSON object.

    >>> holds_object('thought {"score":'), holds_object("the set {x: 1}")
    (True, False)
    """
    return _OPENING.search(reply) is not None


def label_of(text: str) -> str:
    """A label as it is compared: case folded, without white space and marks around it, one space inside.

    >>> label_of(' "CORRECT." '), label_of("**Not  correct**")
    ('correct', 'not correct')
    """
    return " ".join(text.casefold().strip(_MARKS).split())


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant)


def _mend(value: Any) -> Any:
    """The value with its lone surrogates replaced, so that it can be written as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_mend(key): _mend(one) for key, one in value.items()}
    return [_mend(one) for one in value] if isinstance(value, list) else value
