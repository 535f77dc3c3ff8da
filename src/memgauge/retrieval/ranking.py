"""A ranked document, and the one way scores become a ranking."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Ranked:
    """A document by its position in the corpus, and its score (higher is better)."""

    position: int
    score: float


def rank(scores: NDArray[np.float64], candidates: NDArray[np.intp], k: int | None = None) -> list[Ranked]:
    """The first `k` (all when None) of `candidates`, ascending positions, by score; equal scores by position.

    The whole list is sorted before it is cut, so the first k of a longer list are the shorter list.

    >>> [each.position for each in rank(np.array([1.0, 2.0, 2.0]), np.arange(3), k=2)]
    [1, 2]
    """
    order = np.argsort(-scores[candidates], kind="stable")[:k]
    return [Ranked(int(position), float(scores[position])) for position in candidates[order]]
