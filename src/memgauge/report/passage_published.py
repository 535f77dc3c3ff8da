"""What paper C prints of its passage budgets (`passage_budgets` of published.json); never a result of ours."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import msgspec

from memgauge.report.markdown import markdown_table
from memgauge.report.numbers import UNDEFINED, interval, number
from memgauge.stats.intervals import Interval


@dataclass(frozen=True, slots=True)
class PublishedBudget:
    """One printed number: points, percent of tokens or a count. `verdict`: exact (follows from other printed
    numbers), band (from the data within a point) or reference (needs the paper's own answers or groups).
    """

    what: str
    item: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    verdict: str
    remark: str

    @property
    def interval(self) -> Interval | None:
        """The printed interval or range."""
        return None if self.low is None or self.high is None else Interval(self.low, self.high)


@dataclass(frozen=True, slots=True)
class PublishedBudgets:
    """The whole part of the file."""

    source: str
    unit: str
    rows: tuple[PublishedBudget, ...]


@dataclass(frozen=True, slots=True)
class _File:
    passage_budgets: PublishedBudgets


@cache
def published_budgets() -> PublishedBudgets:
    """The published numbers, checked against their types.

    >>> next(row.value for row in published_budgets().rows if (row.what, row.item) == ("change", "3"))
    -5.45
    """
    text = files("memgauge.report").joinpath("published.json").read_bytes()
    return msgspec.json.decode(text, type=_File).passage_budgets


def published_table(*what: str) -> str:
    """Printed rows of the kinds named, all without one."""
    found = published_budgets()
    rows = [
        [each.what, each.item, *_printed(each), str(each.n), each.verdict, each.remark]
        for each in found.rows
        if not what or each.what in what
    ]
    header = ["published", "item", "value", "interval or range", "n", "verdict", "remark"]
    return "\n\n".join([markdown_table(header, rows), f"Published: {found.source} ({found.unit})."])


def _printed(each: PublishedBudget) -> tuple[str, str]:
    whole = each.value is not None and each.what in ("audit",)
    value = UNDEFINED if each.value is None else number(each.value, 0 if whole else 2)
    return value, interval(each.interval, 2)
