"""Which passage budget to choose: the cheapest whose interval excludes a larger loss than is tolerated.

The advice is as uncertain as the scores it rests on, so every budget carries the share of bootstrap draws (over
source groups) in which the same rule would have advised it. In a draw the interval keeps its shape and moves
with the drawn mean: a second bootstrap inside each draw would cost its square and change little.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgauge.errors import InputError, NothingScoredError
from memgauge.experiments.passage_scores import POINTS, Table
from memgauge.experiments.significance import Statistics
from memgauge.llm.prices import PICO, PriceRow
from memgauge.seeds import generator
from memgauge.stats.bootstrap import resample
from memgauge.stats.intervals import Interval, mean, percentile_interval

LEVEL = 0.95
PER = 1_000  # questions that a stated cost is for


@dataclass(frozen=True, slots=True)
class Choice:
    """One budget: USD for 1,000 questions, its share of the reference's cost, its paired change in points.

    Intervals are 95 % over source groups. `tolerated`: the change's interval excludes a loss beyond the one that
    is tolerated (the reference, against which losses are measured, always is). `share` is the share of draws in
    which this budget would be the advice.
    """

    budget: int
    usd: float
    cost_share: float | None
    cost_interval: Interval | None
    change: float | None
    pairs: int
    interval: Interval | None
    tolerated: bool
    share: float


@dataclass(frozen=True, slots=True)
class Advice:
    """The advised budget and all choices, cheapest first; a zero price orders them by budget alone."""

    advised: int
    reference: int
    tolerated_points: float
    price: str
    questions: int
    groups: int
    draws: int
    choices: tuple[Choice, ...]

    @property
    def choice(self) -> Choice:
        """The advised budget's own row."""
        return next(each for each in self.choices if each.budget == self.advised)


def advise(table: Table, reference: int, price: PriceRow, tolerate: float, statistics: Statistics) -> Advice:
    """Advice for one reader's scores at one price.

    `tolerate` is a loss as a fraction of the full score (0.02 = 2 points). Raises InputError for one outside
    [0, 1] or a reference that was not run, NothingScoredError when no other budget has a complete pair.
    """
    _check(table, reference, tolerate)
    order = sorted(table.budgets, key=lambda budget: (_cost(table, budget, price), budget))
    changes = [table.changes(budget, reference) for budget in order]
    groups = [question.group for question in table.questions]
    drawn, units = _drawn_changes(changes, groups, statistics)
    values = [mean([change for change in column if change is not None]) for column in changes]
    intervals = [percentile_interval(drawn[:, at], int(units[at]), LEVEL) for at in range(len(order))]
    limit, place = -tolerate * POINTS, order.index(reference)
    held = [at == place or (found is not None and found.low >= limit) for at, found in enumerate(intervals)]
    shares = _shares(drawn, values, intervals, place, limit)
    costs = _cost_intervals(table, order, place, price, groups, statistics)
    whole = _cost(table, reference, price)
    choices = tuple(
        Choice(
            budget=budget,
            usd=_cost(table, budget, price) / PICO * PER / len(groups),
            cost_share=_cost(table, budget, price) / whole if whole else None,
            cost_interval=costs[at],
            change=values[at],
            pairs=sum(change is not None for change in changes[at]),
            interval=None if at == place else intervals[at],
            tolerated=held[at],
            share=shares[at],
        )
        for at, budget in enumerate(order)
    )
    advised = order[held.index(True)]
    return Advice(advised, reference, -limit, price.model, len(groups), len(set(groups)), statistics.draws, choices)


def _check(table: Table, reference: int, tolerate: float) -> None:
    if not (math.isfinite(tolerate) and 0 <= tolerate <= 1):
        raise InputError(f"tolerate is {tolerate}; it must be a share of the full score, from 0 to 1")
    if reference not in table.points:
        known = ", ".join(map(str, table.budgets))
        raise InputError(f"reference is {reference}, which was not run; choose from {known}")
    others = [budget for budget in table.budgets if budget != reference]
    if not any(change is not None for budget in others for change in table.changes(budget, reference)):
        raise NothingScoredError(f"no budget shares a scored question with the reference of {reference} passages")


def _cost(table: Table, budget: int, price: PriceRow) -> int:
    """Pico-dollars of all questions."""
    return price.cost(sum(table.input_tokens[budget]), 0, sum(table.output_tokens[budget]))


def _drawn_changes(
    changes: Sequence[Sequence[float | None]], groups: Sequence[str], statistics: Statistics
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Drawn mean changes, shape (draws, budgets), all budgets in the same draws; and the groups of each."""
    columns = [[float("nan") if change is None else change for change in column] for column in changes]
    drawn = resample(np.array(columns).T, groups, statistics.draws, generator(statistics.seed, "passages", "advice"))
    return drawn.means(), drawn.units


def _shares(
    drawn: NDArray[np.float64],
    values: Sequence[float | None],
    intervals: Sequence[Interval | None],
    reference: int,
    limit: float,
) -> list[float]:
    """By budget, the share of draws in which it is the first whose moved interval ends above the limit."""
    held = np.zeros(drawn.shape, dtype=bool)
    for at, (value, interval) in enumerate(zip(values, intervals, strict=True)):
        if at == reference:
            held[:, at] = True
        elif value is not None and interval is not None:
            with np.errstate(invalid="ignore"):
                held[:, at] = drawn[:, at] + (interval.low - value) >= limit
    first = np.argmax(held, axis=1)
    counts = np.bincount(first, minlength=drawn.shape[1])
    return [float(count) / len(drawn) for count in counts]


def _cost_intervals(
    table: Table,
    order: Sequence[int],
    place: int,
    price: PriceRow,
    groups: Sequence[str],
    statistics: Statistics,
) -> list[Interval | None]:
    """The interval of each budget's share of the reference's cost, both redrawn together."""
    rows = [_usd(table, budget, price) for budget in order]
    stream = generator(statistics.seed, "passages", "advice", "cost")
    drawn = resample(np.array(rows).T, groups, statistics.draws, stream)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = drawn.sums / drawn.sums[:, [place]]
    shares[~np.isfinite(shares)] = np.nan
    return [
        None if at == place else percentile_interval(shares[:, at], int(drawn.units[at]), LEVEL)
        for at in range(len(order))
    ]


def _usd(table: Table, budget: int, price: PriceRow) -> list[float]:
    """Millionths of a dollar of each question: large enough for the bootstrap's grid."""
    pairs = zip(table.input_tokens[budget], table.output_tokens[budget], strict=True)
    return [price.cost(sent, 0, received) / (PICO / 1_000_000) for sent, received in pairs]
