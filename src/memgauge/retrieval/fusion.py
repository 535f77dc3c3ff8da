"""Reciprocal rank fusion of several rankings into one."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import fsum

from memgauge.errors import InputError


@dataclass(frozen=True, slots=True)
class Fused:
    """One document of a fused ranking by its id as text, and its score."""

    id: str
    score: float


def fuse(rankings: Sequence[Sequence[Hashable]], k: int = 60, corpus: Sequence[Hashable] | None = None) -> list[Fused]:
    """Documents by the sum of 1 / (k + rank) over the rankings that hold them (Cormack et al., SIGIR 2009).

    Ranks start at 1; a repeated id counts once, at its first place; an absent document adds nothing. Ids are
    compared as text. Equal sums are ordered by place in `corpus`, or by id where there is none.

    >>> [each.id for each in fuse([["x", "a", "y"], ["b", "c", "y"]])]
    ['y', 'b', 'x', 'a', 'c']
    """
    if k < 0:
        raise InputError(f"the constant of rank fusion must be at least 0, not {k}")
    shares: dict[str, list[float]] = defaultdict(list)
    for ranking in rankings:
        for place, document in enumerate(dict.fromkeys(map(str, ranking)), 1):
            shares[document].append(1 / (k + place))
    places = {str(document): place for place, document in reversed(list(enumerate(corpus or ())))}
    # fsum is exact: the order in which rankings are given must not make or break a tie.
    fused = [Fused(document, fsum(parts)) for document, parts in shares.items()]
    return sorted(fused, key=lambda each: (-each.score, places.get(each.id, len(places)), each.id))
