"""Ranking metrics over distinct ids with binary relevance; an empty gold has no score (None)."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import log2


def recall_at(k: int, gold: Collection[str], ranked: Sequence[str]) -> float | None:
    """Share of distinct gold ids among the first k distinct ranked ids.

    >>> recall_at(2, ["A", "B"], ["A", "A"])
    0.5
    """
    wanted = set(gold)
    return len(wanted.intersection(_first(k, ranked))) / len(wanted) if wanted else None


def ndcg_at(k: int, gold: Collection[str], ranked: Sequence[str]) -> float | None:
    """Discounted gain (1 / log2(rank + 1), ranks from 1) over that of the best possible ranking.

    >>> round(ndcg_at(5, ["A"], ["X", "A"]), 4)
    0.6309
    """
    wanted = set(gold)
    if not wanted:
        return None
    gain = sum(_discount(rank) for rank, key in enumerate(_first(k, ranked), 1) if key in wanted)
    return gain / sum(_discount(rank) for rank in range(1, min(k, len(wanted)) + 1)) if k > 0 else 0.0


def reciprocal_rank(gold: Collection[str], ranked: Sequence[str]) -> float | None:
    """1 / rank of the first gold id among the distinct ranked ids; 0 when none is ranked.

    >>> reciprocal_rank(["A"], ["X", "X", "A"])
    0.5
    """
    wanted = set(gold)
    if not wanted:
        return None
    ranks = (rank for rank, key in enumerate(dict.fromkeys(ranked), 1) if key in wanted)
    return next((1 / rank for rank in ranks), 0.0)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over the scorable queries (None without one), with how many were scored and left out."""

    value: float | None
    scored: int
    left_out: int


def mean_scored(scores: Iterable[float | None]) -> Mean:
    """The mean of the scores that are not None; averaged over many queries, reciprocal ranks give MRR.

    >>> mean_scored([1.0, None, 0.5])
    Mean(value=0.75, scored=2, left_out=1)
    """
    every = list(scores)
    kept = [score for score in every if score is not None]
    return Mean(sum(kept) / len(kept) if kept else None, len(kept), len(every) - len(kept))


def _first(k: int, ranked: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ranked))[: max(k, 0)]


def _discount(rank: int) -> float:
    return 1 / log2(rank + 1)
