"""What paper A reports of its experiments (`findings` of published.json), beside ours; never a result of ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import msgspec

from memgauge.report.markdown import markdown_table
from memgauge.report.numbers import UNDEFINED, hundredths, number, signed
from memgauge.report.published import published, recompute
from memgauge.report.tables import gap_text
from memgauge.stats.intervals import Estimate, Interval

Key = tuple[str, str]  # item and quantity


@dataclass(frozen=True, slots=True)
class Finding:
    """One reported number in hundredths; `value` is None where the paper reports no single number."""

    experiment: str
    benchmark: str
    item: str
    quantity: str
    value: float | None
    remark: str


@dataclass(frozen=True, slots=True)
class _File:
    findings: tuple[Finding, ...]


@cache
def findings(experiment: str) -> tuple[Finding, ...]:
    """The paper's findings on one experiment, in the order of the file.

    >>> [(each.item, each.value) for each in findings("weigh")][:1]
    [('low_specificity', -4.0)]
    """
    text = files("memgauge.report").joinpath("published.json").read_bytes()
    return tuple(each for each in msgspec.json.decode(text, type=_File).findings if each.experiment == experiment)


def direction(reported: float | None, ours: Estimate | None) -> str:
    """Whether our difference points where the paper's does, by our 95 % question interval.

    >>> from memgauge.stats.intervals import Interval
    >>> direction(5, Estimate(0.1, 50, Interval(0.02, 0.2))), direction(5, Estimate(0.1, 50, Interval(-0.1, 0.3)))
    ('same', 'not decided here')
    """
    if reported is None or ours is None or ours.value is None or ours.interval is None:
        return UNDEFINED
    if ours.interval == Interval(0.0, 0.0) and reported != 0:
        return "no difference here"
    if ours.interval.holds(0.0):
        return "same (none shown)" if reported == 0 else "not decided here"
    return "same" if (ours.value > 0) == (reported > 0) and reported != 0 else "opposite"


def findings_table(experiment: str, ours: Mapping[str, Mapping[Key, Estimate]], slips: Sequence[str] = ()) -> str:
    """Each finding beside ours by reader; another benchmark, another writer, other readers: for reference only."""
    header = ["published on", "what", "quantity", "published", "reader", "ours [95 %]", "direction", "remark"]
    rows = []
    for each in findings(experiment):
        key = each.item, each.quantity
        known: list[tuple[str, Estimate | None]] = [(name, found[key]) for name, found in ours.items() if key in found]
        for reader, estimate in known or [("", None)]:
            rows.append(
                [
                    *(each.benchmark, each.item, each.quantity, _printed(each)),
                    *(reader, UNDEFINED if estimate is None else gap_text(estimate)),
                    *(direction(each.value, estimate), each.remark),
                ]
            )
    source = f"Published: {published().source}. Direction says whether ours points where theirs does."
    return "\n\n".join([markdown_table(header, rows), source, *(f"Known slip: {slip}." for slip in slips)])


def published_values(experiment: str, benchmark: str, quantity: str) -> dict[str, float]:
    """Reported scores in [0, 1] by item, for figures of the same benchmark only.

    >>> published_values("weigh", "longmemeval", "over full"), published_values("weigh", "locomo", "over full")
    ({'low_specificity': -0.04}, {})
    """
    return {
        each.item: each.value / 100
        for each in findings(experiment)
        if each.value is not None and (each.benchmark, each.quantity) == (benchmark, quantity)
    }


def opposite(found: Estimate) -> Estimate:
    """The estimate of the opposite difference, without its clustered interval.

    >>> opposite(Estimate(0.1, 9, Interval(-0.1, 0.3)))
    Estimate(value=-0.1, n=9, interval=Interval(low=-0.3, high=0.1), clustered=None)
    """
    value = None if found.value is None else 0.0 - found.value
    if found.interval is None:
        return Estimate(value, found.n)
    return Estimate(value, found.n, Interval(0.0 - found.interval.high, 0.0 - found.interval.low))


def rows_table(table: str) -> str:
    """One printed table of the paper; values that its own numbers contradict are marked with *."""
    header = ["published on", "readers", "budget", "system", "OE", "CSM", "RM", "write gap", "retrieval gap", "label"]
    rows = []
    for row in published().rows:
        if row.table == table:
            marks = {name: "*" if name in row.conflicts else "" for name in ("write", "retrieval", "label")}
            label = row.label or recompute(row).label
            rows.append(
                [
                    *(row.benchmark, row.reader, str(row.budget_tokens), row.system),
                    *(hundredths(row.oe), hundredths(row.csm), hundredths(row.rm)),
                    f"{hundredths(row.write)}{marks['write']}",
                    f"{hundredths(row.retrieval)}{marks['retrieval']}",
                    f"{label}{marks['label']}",
                ]
            )
    return markdown_table(header, rows)


def slips(table: str) -> list[str]:
    """The printed values of one table that its own numbers contradict."""
    return [
        f"{each.table} table, {each.where}: {each.remark}"
        for each in published().verdicts
        if (each.table, each.verdict) == (table, "conflict")
    ]


def _printed(each: Finding) -> str:
    if each.value is None:
        return UNDEFINED
    return number(each.value / 100, 3) if each.quantity == "share" else signed(each.value / 100, 2)
