"""Replies that must follow a JSON schema: which tokens may come next, by llguidance.

The local engine asks before every step and lets no other token win; torch is not needed for that. A reply that
reaches its end this way parses and satisfies its schema; one cut by its token limit is a cut reply.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memgauge.errors import InputError, MemgaugeError

if TYPE_CHECKING:
    from llguidance import LLMatcher

Mask = NDArray[np.bool_]
NextTokens = Callable[[Sequence[int]], Mask]
# No white space between keys: a small model would fill its limit with it.
_LAYOUT: Any = {"whitespace_flexible": False}


def constrain(tokenizer: Any, vocabulary_size: int) -> Callable[[str], NextTokens]:
    """A function from a schema's JSON text to the follower of one reply; make a new follower for every reply.

    `tokenizer` is a transformers fast tokenizer with an end token, `vocabulary_size` the width of the model's
    logits. A follower takes the ids of the reply so far (growing from call to call) and gives the mask of the
    ids that may follow, shape (vocabulary_size,); once the object is complete only the end token may. The
    function raises InputError for a text that is no schema, a follower MemgaugeError for ids its masks forbade.
    """
    from llguidance import LLMatcher, LLTokenizer

    if tokenizer.eos_token_id is None:
        raise InputError("the tokenizer names no end token; structured replies need one to end")
    vocabulary = LLTokenizer(
        tokenizer.backend_tokenizer.to_str(), n_vocab=vocabulary_size, eos_token=tokenizer.eos_token_id
    )

    @cache
    def grammar(schema_text: str) -> str:
        if not isinstance(_parsed(schema_text), dict):
            raise InputError(f"schema {schema_text[:80]!r} is not a JSON object; give a JSON schema as text")
        text = LLMatcher.grammar_from_json_schema(schema_text, overrides=_LAYOUT)
        fault = LLMatcher.validate_grammar(text, vocabulary)
        if fault and not fault.startswith("WARNING"):
            raise InputError(f"schema {schema_text[:80]!r} cannot be followed: {fault}; simplify it")
        return text

    return lambda schema_text: _Follower(LLMatcher(vocabulary, grammar(schema_text), log_level=0), vocabulary_size)


class _Follower:
    """Where one reply stands in its schema."""

    def __init__(self, matcher: "LLMatcher", vocabulary_size: int) -> None:
        self._matcher = matcher
        self._size = vocabulary_size
        self._taken = 0

    def __call__(self, new_ids: Sequence[int]) -> Mask:
        fresh = list(new_ids[self._taken :])
        if self._taken > len(new_ids) or (fresh and not self._matcher.consume_tokens(fresh)):
            raise MemgaugeError(f"a reply of {len(new_ids)} ids left its schema: {self._matcher.get_error()}")
        self._taken = len(new_ids)
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        mask = np.unpackbits(bits, count=self._size, bitorder="little").astype(np.bool_)
        if self._matcher.is_error():
            raise MemgaugeError(f"the schema cannot be followed further: {self._matcher.get_error()}")
        return mask


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
