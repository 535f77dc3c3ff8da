"""Fast random choices: blocks of raw generator output, one small integer at a time."""

from collections.abc import Sequence
from typing import TypeVar

from memgauge.seeds import generator

Item = TypeVar("Item")
BLOCK = 4096


class Draws:
    """Choices for one purpose. Raw PCG64 output is fixed for all numpy versions, unlike its distributions."""

    def __init__(self, seed: int, *purpose: str) -> None:
        self._bits = generator(seed, *purpose).bit_generator
        self._block: list[int] = []

    def below(self, limit: int) -> int:
        """An integer in [0, limit); the bias of the remainder stays under limit / 2**30."""
        if not self._block:
            raw = self._bits.random_raw(BLOCK)
            self._block = (raw >> 34).tolist()
        return self._block.pop() % limit

    def between(self, low: int, high: int) -> int:
        """An integer in [low, high]."""
        return low + self.below(high - low + 1)

    def pick(self, pool: Sequence[Item]) -> Item:
        """One item."""
        return pool[self.below(len(pool))]

    def several(self, pool: Sequence[Item], count: int) -> list[Item]:
        """`count` distinct positions of the pool, in drawn order."""
        rest = list(pool)
        return [rest.pop(self.below(len(rest))) for _ in range(count)]

    def chance(self, percent: int) -> bool:
        """True in `percent` of 100 cases."""
        return self.below(100) < percent
