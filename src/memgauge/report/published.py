"""Numbers that paper A prints (published.json), each recomputed; a reference, never a result of ours."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files

import msgspec

from memgauge.protocol.labels import Label, label_of

MARGIN = 0.02  # paper A, section 3
MAIN = "longmemeval"  # the paper's main benchmark
TABLE_OF = {"longmemeval": "main", "locomo": "locomo"}  # the table whose rows stand beside ours


@dataclass(frozen=True, slots=True)
class PublishedReference:
    """A reader's references in hundredths."""

    benchmark: str
    reader: str
    tfc_contains_match: int
    oe_contains_match: int
    tfc_token_f1: int | None
    oe_token_f1: int | None


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One printed row in hundredths; `oe` is the reference its table states.

    `label` is None where the table prints none; `conflicts` names the printed values that do not follow.
    """

    table: str
    benchmark: str
    reader: str
    budget_tokens: int
    system: str
    oe: int
    csm: int
    rm: int
    write: int
    retrieval: int
    label: Label | None
    conflicts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What recomputing a part of a table gave: "exact" or "conflict"."""

    table: str
    where: str
    verdict: str
    remark: str


@dataclass(frozen=True, slots=True)
class Published:
    """The whole file."""

    source: str
    unit: str
    references: tuple[PublishedReference, ...]
    rows: tuple[PublishedRow, ...]
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class Recomputed:
    """Gaps (hundredths) and label that follow from a row's OE, CSM and RM."""

    write: int
    retrieval: int
    label: Label


@cache
def published() -> Published:
    """The published numbers, checked against their types.

    >>> len(published().rows)
    54
    """
    text = files("memgauge.report").joinpath("published.json").read_bytes()
    return msgspec.json.decode(text, type=Published)


def recompute(row: PublishedRow) -> Recomputed:
    """Gaps and label on whole hundredths, so that near ties fall as on paper."""
    write, retrieval = row.oe - row.csm, row.csm - row.rm
    return Recomputed(write, retrieval, label_of(Fraction(write, 100), Fraction(retrieval, 100), MARGIN))


def conflicts(row: PublishedRow) -> tuple[str, ...]:
    """The printed values of a row that its own OE, CSM and RM contradict."""
    ours = recompute(row)
    names = ("write", "retrieval") if row.label is None else ("write", "retrieval", "label")
    return tuple(name for name in names if getattr(row, name) != getattr(ours, name))


def rows_beside(benchmark: str) -> tuple[PublishedRow, ...]:
    """The rows that stand beside ours: the benchmark's own, else those of the paper's main table on `MAIN`.

    >>> {row.benchmark for row in rows_beside("locomo")}, {row.benchmark for row in rows_beside("synthetic")}
    ({'locomo'}, {'longmemeval'})
    """
    return rows_for(benchmark) or rows_for(MAIN)


def rows_for(benchmark: str) -> tuple[PublishedRow, ...]:
    """The paper's headline table for one benchmark; empty where it has none.

    >>> [row.system for row in rows_for("locomo")][:2], rows_for("synthetic")
    (['verbatim', 'extractive'], ())
    """
    return tuple(row for row in published().rows if row.table == TABLE_OF.get(benchmark))
