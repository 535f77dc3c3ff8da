"""What paper B prints of quality and cost (`qpc` of published.json), each recomputed; never a result of ours."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from memgauge.report.markdown import markdown_table
from memgauge.report.numbers import UNDEFINED, number

Agreement = Literal["exact", "conflict", "open"]  # open: the text at hand does not print what the check needs
HALF = Fraction(1, 2)  # a printed number stands for all within half of its last digit


@dataclass(frozen=True, slots=True)
class PublishedQpc:
    """One printed row: F1, judge and QPC in thousandths, cost in hundredths of 1e-4 USD; None: not in our text."""

    benchmark: str
    model: str
    system: str
    f1: int | None
    judge: int | None
    cost: int | None
    qpc: int


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """One number of the prose, as decimal text in its unit."""

    name: str
    benchmark: str
    value: str
    unit: str
    remark: str

    @property
    def exact(self) -> Fraction:
        """The number."""
        return Fraction(self.value)


@dataclass(frozen=True, slots=True)
class Check:
    """What recomputing a part gave."""

    where: str
    verdict: Agreement
    remark: str


@dataclass(frozen=True, slots=True)
class PublishedCosts:
    """All of it."""

    source: str
    unit: str
    rows: tuple[PublishedQpc, ...]
    values: tuple[PublishedValue, ...]
    verdicts: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class _File:
    qpc: PublishedCosts


@cache
def published_costs() -> PublishedCosts:
    """The published numbers, checked against their types.

    >>> [row.system for row in published_costs().rows][:2]
    ['no_memory', 'lightmem']
    """
    text = files("memgauge.report").joinpath("published.json").read_bytes()
    return msgspec.json.decode(text, type=_File).qpc


def value_of(name: str, benchmark: str = "") -> Fraction:
    """One number of the prose; KeyError for one that the file does not have.

    >>> value_of("C_ref") == Fraction("1.392e-5")
    True
    """
    return {(each.name, each.benchmark): each.exact for each in published_costs().values}[name, benchmark]


def recomputed(row: PublishedQpc) -> Fraction | None:
    """F1 by cost of one row, unrounded; None where the text does not print both.

    >>> recomputed(PublishedQpc("locomo", "", "memorycpt", 479, 755, 346, 138))
    Fraction(479, 3460)
    """
    if row.f1 is None or row.cost is None:
        return None
    return Fraction(row.f1, 1000) / Fraction(row.cost, 100)


def agreement(row: PublishedQpc) -> Agreement:
    """Whether the printed QPC can follow from the printed F1 and cost, each known to half its last digit."""
    if row.f1 is None or row.cost is None:
        return "open"
    low = (row.f1 - HALF) / 1000 / ((row.cost + HALF) / 100)
    high = (row.f1 + HALF) / 1000 / ((row.cost - HALF) / 100)
    return "exact" if low <= (row.qpc + HALF) / 1000 and high >= (row.qpc - HALF) / 1000 else "conflict"


def implied_f1(row: PublishedQpc) -> tuple[Fraction, Fraction] | None:
    """The least and the greatest F1 that a printed QPC and cost allow; None without a cost."""
    if row.cost is None:
        return None
    low = (row.qpc - HALF) / 1000 * (row.cost - HALF) / 100
    return low, (row.qpc + HALF) / 1000 * (row.cost + HALF) / 100


def published_qpc_table() -> str:
    """The printed rows, what follows from them, the printed numbers of the prose, and the known slips."""
    header = ["published on", "model", "system", "F1", "judge", "cost (1e-4 USD)", "QPC", "F1 by cost", "agrees"]
    rows = [
        [
            *(row.benchmark, row.model, row.system, _scaled(row.f1, 1000, 3), _scaled(row.judge, 1000, 3)),
            *(_scaled(row.cost, 100, 2), _scaled(row.qpc, 1000, 3), _exact(recomputed(row)), agreement(row)),
        ]
        for row in published_costs().rows
    ]
    values = [
        [each.benchmark or "any", each.name, each.value, each.unit, each.remark] for each in published_costs().values
    ]
    slips = "\n".join(
        f"- Known slip: {each.where}: {each.remark}."
        for each in published_costs().verdicts
        if each.verdict == "conflict"
    )
    source = f"Published: {published_costs().source}. For reference only: another benchmark, other models."
    prose = markdown_table(["published on", "what", "value", "unit", "remark"], values)
    return "\n\n".join([markdown_table(header, rows), prose, source, slips])


def _scaled(value: int | None, scale: int, digits: int) -> str:
    return UNDEFINED if value is None else number(value / scale, digits)


def _exact(value: Fraction | None) -> str:
    return UNDEFINED if value is None else number(float(value), 4)
