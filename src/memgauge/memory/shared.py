"""What several memory systems do alike: rank by similarity, share a budget, cut a long turn, fit an entry."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import isqrt
from typing import Any

from memgauge.memory.base import Encoder, Hit, Query, Ranking
from memgauge.records import Result, Store, Turn
from memgauge.retrieval.dense import rank_dense
from memgauge.text.render import render_turn
from memgauge.text.tokens import count_tokens, split_tokens

_BREAK = re.compile(r"(?<=[.!?…。！？])\s+|\n+")


def dense_hits(store: Store, queries: Sequence[Query], encoder: Encoder) -> list[Ranking]:
    """Every entry of the store by cosine to each query's text, ties by store position (paper A, section 4).

    The store is encoded once for all queries; ids and dates are not encoded.
    """
    if not store.entries or not queries:
        return [Ranking(()) for _ in queries]
    entries = encoder.encode([entry.text for entry in store.entries])
    rankings = rank_dense(entries, encoder.encode([query.text for query in queries]))
    return [Ranking(tuple(Hit(each.position, each.score) for each in ranking)) for ranking in rankings]


def count_result(result: Result[Any], counts: Counter[str], role: str = "writer") -> None:
    """What one task took: tasks, calls and tokens of a role, and the status of a failure (`status_parse_error`).

    >>> counts = Counter()
    >>> count_result(Result(None, "parse_error"), counts)
    >>> counts["writer_tasks"], counts["status_parse_error"]
    (1, 1)
    """
    if result.status != "ok":
        counts[f"status_{result.status}"] += 1
    counts[f"{role}_tasks"] += 1
    counts[f"{role}_calls"] += result.usage.calls
    counts[f"{role}_input_tokens"] += result.usage.input_tokens
    counts[f"{role}_output_tokens"] += result.usage.output_tokens
    if result.usage.cached_input_tokens:  # absent rather than 0: most models report none
        counts[f"{role}_cached_input_tokens"] += result.usage.cached_input_tokens


def session_shares(session_tokens: Sequence[int], budget_tokens: int) -> list[int]:
    """Whole-token shares of a budget in proportion to the square root of each session's tokens.

    Integer arithmetic throughout: the shares sum to at most the budget, a longer session never gets less, and
    a larger budget takes from none. What rounding down leaves over (under one token a session) stays unused.

    >>> session_shares([100, 400, 0], 90)
    [30, 60, 0]
    """
    roots = [isqrt(tokens << 64) for tokens in session_tokens]
    total = sum(roots)
    return [budget_tokens * root // total if total else 0 for root in roots]


def turn_text(turn: Turn) -> str:
    """What a turn says, with its picture's caption and without its speaker."""
    return render_turn(turn).removeprefix(f"{turn.speaker}: ")


def split_text(text: str, limit_tokens: int) -> list[str]:
    """Consecutive pieces of at most `limit_tokens` tokens that together are the text.

    Cut after a sentence or line where possible, inside one only where it is longer than a piece.
    """
    if count_tokens(text) <= limit_tokens:
        return [text] if text else []
    cuts = [0, *(match.end() for match in _BREAK.finditer(text)), len(text)]
    segments = [text[start:end] for start, end in pairwise(cuts) if start < end]
    pieces: list[str] = []
    filled = limit_tokens
    for segment, tokens in zip(segments, map(count_tokens, segments), strict=True):
        if tokens > limit_tokens:
            pieces.extend(split_tokens(segment, limit_tokens))
            filled = limit_tokens
        elif filled + tokens > limit_tokens:
            pieces.append(segment)
            filled = tokens
        else:
            pieces[-1] += segment
            filled += tokens
    return pieces
