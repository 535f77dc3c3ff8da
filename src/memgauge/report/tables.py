"""Markdown tables of diagnosed cells: every table says which metric it shows and over how many questions."""

from collections.abc import Sequence

from memgauge.protocol.comparison import Ranking
from memgauge.protocol.diagnosis import RECALLS, Cell, Diagnosis
from memgauge.protocol.labels import LABELS, Label
from memgauge.protocol.outcomes import METRICS, REFERENCES
from memgauge.records import PRIMARY
from memgauge.report.markdown import markdown_table
from memgauge.report.numbers import (
    UNDEFINED,
    estimate,
    interval,
    number,
    p_value,
    percent,
    signed,
)
from memgauge.stats.intervals import Estimate

TITLES = {
    "contains_match": "contains match",
    "contains_match_strict": "strict contains match",
    "token_f1": "token F1",
    "locomo_f1": "LoCoMo F1",
}


def diagnosis_table(cells: Sequence[Cell], metric: str = PRIMARY) -> str:
    """One row a benchmark, reader and system; cells that did not score the metric are left out."""
    header = [
        *("benchmark", "reader", "system", "OE", "CSM", "RM"),
        *("write gap [95 %]", "clustered", "retrieval gap [95 %]", "clustered", "reading gap"),
        *("larger gap (share of draws)", "n", "missing", "turn recall CSM / RM", "warnings"),
    ]
    rows = [_diagnosis_row(cell, cell.metrics[metric]) for cell in cells if metric in cell.metrics]
    return markdown_table(header, rows)


def references_table(cells: Sequence[Cell]) -> str:
    """NM, TFC and OE of each benchmark and reader by metric, each over all questions scored under it."""
    firsts = {(cell.name.benchmark, cell.name.reader): cell for cell in reversed(cells)}
    rows = [
        [benchmark, reader, TITLES[metric], *(_with_n(found.references[each]) for each in REFERENCES)]
        for (benchmark, reader), cell in sorted(firsts.items())
        for metric in METRICS
        if (found := cell.metrics.get(metric)) is not None
    ]
    return markdown_table(["benchmark", "reader", "metric", *REFERENCES], rows)


def reader_table(cells: Sequence[Cell]) -> str:
    """What each reader reaches by question type under NM, TFC and OE: contains match / token F1."""
    firsts = {(cell.name.benchmark, cell.name.reader): cell for cell in reversed(cells)}
    rows = []
    for (benchmark, reader), cell in sorted(firsts.items()):
        for kind, by_condition in cell.references_by_type.items():
            found = [by_condition[condition] for condition in REFERENCES]
            pairs = [f"{number(each[PRIMARY][0])} / {number(each['token_f1'][0])}" for each in found]
            rows.append([benchmark, reader, kind, str(by_condition["OE"][PRIMARY][1]), *pairs])
    return markdown_table(["benchmark", "reader", "type", "n (OE)", *REFERENCES], rows)


def type_table(cells: Sequence[Cell]) -> str:
    """Contains match by question type."""
    header = ["benchmark", "reader", "system", "type", "n", "OE", "CSM", "RM", "write gap", "retrieval gap"]
    rows = [
        [
            *name_of(cell),
            kind,
            str(gaps.oe.n),
            *(number(each.value) for each in (gaps.oe, gaps.csm, gaps.rm)),
            *(gap_text(each) for each in (gaps.write, gaps.retrieval)),
        ]
        for cell in cells
        for kind, gaps in cell.by_type.items()
    ]
    return markdown_table(header, rows)


def labels_table(cells: Sequence[Cell], metric: str = PRIMARY) -> str:
    """How firm a label is: its share of draws, and what other margins would say."""
    scored = [cell for cell in cells if metric in cell.metrics]
    rows = []
    for cell in scored:
        found = cell.metrics[metric]
        plain, clustered = (_shares(each) for each in (found.label_shares, found.label_shares_clustered))
        rows.append([*name_of(cell), found.label, plain, clustered, *found.labels_by_margin.values()])
    margins = [f"at {key}" for key in scored[0].metrics[metric].labels_by_margin] if scored else []
    shares = [f"{' / '.join(LABELS)}, {unit}" for unit in ("by question", "clustered")]
    return markdown_table(["benchmark", "reader", "system", "label", *shares, *margins], rows)


def recall_table(cells: Sequence[Cell]) -> str:
    """Evidence still held, without a reader: gold turns; names, dates and numbers of the gold answer."""
    columns = [(recall, condition) for recall in RECALLS for condition in ("CSM", "RM")]
    header = [f"{recall.replace('_', ' ')} {condition}" for recall, condition in columns]
    rows = [
        [*name_of(cell), *(_with_n(cell.recall[recall][condition]) for recall, condition in columns)] for cell in cells
    ]
    return markdown_table(["benchmark", "reader", "system", *header], rows)


def ranking_table(rankings: Sequence[Ranking], draws: int) -> str:
    """Groups of systems, best first, then the paired difference of every two systems."""
    groups = [
        [each.benchmark, each.reader, each.condition, " > ".join(" = ".join(group) for group in each.groups)]
        for each in rankings
    ]
    header = [
        "benchmark",
        "reader",
        "condition",
        "pair",
        "n",
        "difference [95 %]",
        "clustered",
        "one-sided p",
    ]
    rows = [
        [
            *(each.benchmark, each.reader, each.condition, f"{pair.first} - {pair.second}"),
            *(str(pair.difference.n), gap_text(pair.difference), interval(pair.difference.clustered)),
            *(p_value(pair.p, draws), p_value(pair.p_clustered, draws)),
        ]
        for each in rankings
        for pair in each.comparisons
    ]
    best_first = markdown_table([*header[:3], "systems, best first; = is not shown to differ"], groups)
    return f"{best_first}\n\n{markdown_table([*header, 'clustered p'], rows)}"


def _diagnosis_row(cell: Cell, found: Diagnosis) -> list[str]:
    gaps = found.gaps
    share = None if found.label_shares is None else found.label_shares[found.label]
    scorable = cell.questions - cell.abstention - sum(cell.unscorable.values())
    recalls = (number(cell.recall["turn_recall"][condition].value, 2) for condition in ("CSM", "RM"))
    return [
        *name_of(cell),
        *(number(each.value) for each in (gaps.oe, gaps.csm, gaps.rm)),
        *(gap_text(gaps.write), interval(gaps.write.clustered)),
        *(gap_text(gaps.retrieval), interval(gaps.retrieval.clustered)),
        number(found.reading.value),
        f"{found.label} ({percent(share)})",
        *(str(gaps.oe.n), str(scorable - gaps.oe.n)),
        " / ".join(recalls),
        count_text(cell.warnings),
    ]


def _shares(shares: dict[Label, float] | None) -> str:
    return UNDEFINED if shares is None else " / ".join(percent(shares[label]) for label in LABELS)


def name_of(cell: Cell) -> tuple[str, str, str]:
    """The first three columns of every table."""
    return cell.name.benchmark, cell.name.reader, cell.name.system


def gap_text(value: Estimate) -> str:
    """A difference with its sign and its question interval."""
    return f"{signed(value.value)} {interval(value.interval)}" if value.value is not None else UNDEFINED


def _with_n(value: Estimate) -> str:
    return f"{estimate(value)} (n = {value.n})" if value.value is not None else UNDEFINED


def count_text(counts: dict[str, int]) -> str:
    """Counts by name on one line.

    >>> count_text({"empty store": 2, "k covers the store": 1}), count_text({})
    ('empty store: 2; k covers the store: 1', 'none')
    """
    return "; ".join(f"{name}: {count}" for name, count in counts.items()) or "none"
