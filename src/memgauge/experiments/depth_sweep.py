"""The sweep of retrieval depth: how many episodes and facts the summariser is shown, and what that buys."""

from collections.abc import Sequence
from dataclasses import dataclass

DEPTHS = ((2, 5), (4, 10), (8, 20), (20, 50), (32, 80))  # episodes, facts; paper B, figure 3


@dataclass(frozen=True, slots=True)
class DepthPoint:
    """One depth: F1, a judge's score where there is one, USD a question where it is known."""

    episodes: int
    facts: int
    f1: float | None
    judge: float | None
    cost_usd: float | None

    @property
    def name(self) -> str:
        """As the paper writes it.

        >>> DepthPoint(8, 20, 0.46, None, None).name
        '8/20'
        """
        return f"{self.episodes}/{self.facts}"


def knee(points: Sequence[DepthPoint], share: float = 0.95) -> DepthPoint | None:
    """The shallowest depth with at least `share` of the best F1; None where nothing was scored.

    >>> knee([DepthPoint(2, 5, 0.2, None, None), DepthPoint(4, 10, 0.4, None, None)]).name
    '4/10'
    """
    scored = [(each.f1, each) for each in points if each.f1 is not None]
    least = share * max((f1 for f1, _ in scored), default=0.0)
    deep_enough = [each for f1, each in scored if f1 >= least]
    return min(deep_enough, key=lambda each: (each.episodes, each.facts), default=None)
