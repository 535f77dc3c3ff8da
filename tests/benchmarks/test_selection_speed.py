"""How fast the exact greedy is, lazily and by full scans, at equal picks. Run with `--benchmark-enable`."""

from collections.abc import Sequence

import numpy as np
import pytest

from memgauge.memory.selection import Unit, Utility, select

SIZES = (100, 1_000, 5_000)


def units(count: int) -> list[Unit]:
    """Units like those of real sessions: 30 to 80 tokens, about 12 words of a skewed vocabulary, few questions."""
    generator = np.random.default_rng(11)
    ranks = (generator.pareto(1.0, size=(count, 12)) * 8).astype(int) % 4_000
    return [
        Unit(int(cost), int(questions), int(details), frozenset(f"w{rank}" for rank in row))
        for cost, questions, details, row in zip(
            generator.integers(30, 80, count),
            generator.integers(1, 3, count),
            generator.integers(0, 7, count),
            ranks,
            strict=True,
        )
    ]


def scan(units: Sequence[Unit], budget: int, utility: Utility, held: set[str]) -> list[int]:
    """The greedy as it is defined: every open unit weighed anew at every step."""
    chosen: list[int] = []
    open_ = list(range(len(units)))
    while open_ := [at for at in open_ if units[at].cost <= budget]:
        best = max(open_, key=lambda at: (utility.of(units[at], held), -at))
        chosen.append(best)
        budget -= units[best].cost
        held |= units[best].words
        open_.remove(best)
    return chosen


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("method", [select, scan], ids=["lazy", "scan"])
def test_selecting_a_budget_of_5000_tokens(benchmark, method, size):
    given = units(size)
    chosen = benchmark.pedantic(
        lambda held: method(given, 5_000, Utility(), held), setup=lambda: ((set(),), {}), rounds=3
    )
    assert chosen == select(given, 5_000, Utility(), set())
