"""Which evidence units a budget keeps: paper A's utility, and its exact greedy by lazy evaluation.

    u(e) = coverage * cov(e) + specificity * spec(e) - redundancy * red(e)

- cov: the number of questions the unit supports, as the paper counts it;
- spec: its distinct names, dates and numbers, at most `DETAILS` of them, divided by `DETAILS`: in [0, 1];
- red: the share of its distinct words that selected units hold already: in [0, 1].
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

DETAILS = 5  # as many details make a unit fully specific; beyond it is long rather than specific


@dataclass(frozen=True, slots=True)
class Unit:
    """What selection knows of one unit: cost in tokens, questions supported, details, distinct words."""

    cost: int
    questions: int
    details: int
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Utility:
    """The weights of u(e), none negative (paper A: 1.0, 0.5, 0.3)."""

    coverage: float = 1.0
    specificity: float = 0.5
    redundancy: float = 0.3

    def worth(self, unit: Unit) -> float:
        """What does not change while others are selected.

        >>> Utility().worth(Unit(cost=9, questions=2, details=5, words=frozenset()))
        2.5
        """
        return self.coverage * unit.questions + self.specificity * (min(unit.details, DETAILS) / DETAILS)

    def of(self, unit: Unit, held: set[str]) -> float:
        """u(e), given the words of all selected units.

        >>> Utility().of(Unit(9, 1, 0, frozenset({"tea", "milk"})), {"tea"})
        0.85
        """
        shared = len(unit.words & held) / len(unit.words) if unit.words else 0.0
        return self.worth(unit) - self.redundancy * shared


def select(units: Sequence[Unit], budget: int, utility: Utility, held: set[str]) -> list[int]:
    """Positions in the order of selection: the highest current u(e) that fits, until nothing more fits.

    Ties go to the earlier unit. `held` are the words selected before; those selected here are added to it.

    Lazy, yet exact. A queue keeps for every open unit the u computed last. While units are selected `held` only
    grows, so shared words, their share and (weights being non-negative, and rounding monotone) the penalty
    only grow, hence u only falls: a queued value is an upper bound of the current one. A unit whose recomputed
    (u, position) still precedes the head of the queue therefore precedes every other unit's current value too:
    it is what a full scan would pick. A unit that does not fit never fits later, since what is left only
    shrinks: it leaves the queue for good.
    """
    queue = [(-utility.of(unit, held), position) for position, unit in enumerate(units)]
    heapq.heapify(queue)
    left = budget
    chosen: list[int] = []
    while queue:
        _, position = heapq.heappop(queue)
        unit = units[position]
        if unit.cost > left:
            continue
        current = (-utility.of(unit, held), position)
        if queue and current > queue[0]:
            heapq.heappush(queue, current)
            continue
        chosen.append(position)
        left -= unit.cost
        held |= unit.words
    return chosen
