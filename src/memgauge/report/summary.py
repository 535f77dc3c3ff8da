"""A whole diagnosis as Markdown for people and as nested numbers for `dvc metrics diff`."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from memgauge.errors import NothingScoredError
from memgauge.protocol.comparison import Ranking, metric_agreement
from memgauge.protocol.diagnosis import Cell, CellName, Diagnosis
from memgauge.protocol.effort import Effort
from memgauge.report.details import (
    missing_table,
    outcomes_table,
    published_references_table,
    published_table,
    refusal_types_table,
    refusals_table,
    unscored_list,
)
from memgauge.report.efforts import reading_table, writing_table
from memgauge.report.numbers import estimate_numbers, percent
from memgauge.report.tables import (
    TITLES,
    diagnosis_table,
    labels_table,
    ranking_table,
    reader_table,
    recall_table,
    references_table,
    type_table,
)

Numbers = dict[str, "float | int | Numbers | None"]
Unscored = Mapping[CellName, NothingScoredError]
NONE: Unscored = MappingProxyType({})
NO_CUT: Mapping[str, Any] = MappingProxyType({})

PREAMBLE = """\
# Where memory loses evidence

A gap is an operational indicator under one reader, one metric and one budget; it is not a cause. Write gap
= OE - CSM, retrieval gap = CSM - RM, reading gap = 1 - OE, all over the questions scored under OE, CSM and
RM alike. Intervals are 95 % percentile intervals of {draws:,} bootstrap draws over questions; "clustered"
redraws whole groups of histories. The larger gap is named when it leads by strictly more than {margin}.
n/a is undefined, never 0."""

REFUSALS = """\
Precision: share of refusals whose question is unanswerable; recall: share of unanswerable questions refused. An
unanswerable question has no evidence, so NM and OE show nothing for it and refusing there takes no reading.
Refusals are never part of a mean above."""
WRITING = """\
Sums over all histories. Failed sessions have no unit; malformed records, made-up sources and lines that share nothing
with their session are dropped, surplus questions are not used. Other counts are named by the system that gives them."""
READING = """\
A question in the mean. Systems that choose what to look at may read fewer units than k; a walk stops where its
chooser's reply could not be read."""
OUTCOMES = "Questions by their answers under OE, CSM and RM, in this order: + right, - wrong."


def markdown_report(
    cells: Sequence[Cell],
    draws: int,
    margin: float,
    rankings: Sequence[Ranking] = (),
    unscored: Unscored = NONE,
    efforts: Sequence[Effort] = (),
    cut: Mapping[str, Any] = NO_CUT,
) -> str:
    """Every table of the diagnosis; sections without rows are left out, `unscored` cells get a line each.

    `efforts`, one a system, and `cut`, the group `retrieval` of the parameters, make the two tables of what it took.
    """
    sections = [PREAMBLE.format(draws=draws, margin=margin)]
    if unscored:
        sections.append(f"## Cells without any score\n\n{unscored_list(unscored)}")
    metrics = [metric for metric in TITLES if any(metric in cell.metrics for cell in cells)]
    sections += [f"## Diagnosis by {TITLES[metric]}\n\n{diagnosis_table(cells, metric)}" for metric in metrics]
    sections.append(f"## References: no memory, recent turns, only the evidence\n\n{references_table(cells)}")
    sections.append(f"## The reader by question type: contains match / token F1\n\n{reader_table(cells)}")
    if any(ranking.comparisons for ranking in rankings):
        sections.append(f"## Systems compared by contains match\n\n{ranking_table(rankings, draws)}")
    sections.append(f"## How firm the labels are (contains match)\n\n{labels_table(cells)}")
    sections.append(f"## Evidence recall, without a reader\n\n{recall_table(cells)}")
    sections.append(f"## Contains match by question type\n\n{type_table(cells)}")
    if any(cell.outcomes for cell in cells):
        sections.append(f"## Outcomes by question (contains match)\n\n{OUTCOMES}\n\n{outcomes_table(cells)}")
    sections.append(f"## What carries no score\n\n{missing_table(cells)}")
    if any(cell.abstention for cell in cells):
        sections.append(f"## Refusals\n\n{REFUSALS}\n\n{refusals_table(cells)}\n\n{refusal_types_table(cells)}")
    if agreement := _agreement(cells):
        sections.append(agreement)
    if efforts:
        sections.append(f"## What writing took and failed at\n\n{WRITING}\n\n{writing_table(efforts)}")
        sections.append(f"## What was really read (RM)\n\n{READING}\n\n{reading_table(efforts, **cut)}")
    if beside := published_references_table(cells):
        sections.append(f"## Published references (TFC, OE), for reference\n\n{beside}")
    if beside := published_table(cells):
        sections.append(f"## Published numbers, for reference\n\n{beside}")
    return "\n\n".join(sections) + "\n"


def diagnosis_json(cells: Sequence[Cell], unscored: Unscored = NONE) -> Numbers:
    """benchmark -> reader -> system -> metric -> number; undefined is null, unrounded otherwise.

    A cell in `unscored` holds {"scored": 0} alone.
    """
    tree: Numbers = {}
    found = {cell.name: _cell_numbers(cell) for cell in cells}
    for name, numbers in (found | {name: {"scored": 0} for name in unscored}).items():
        node = tree
        for key in (name.benchmark, name.reader):
            child = node.setdefault(key, {})
            assert isinstance(child, dict)
            node = child
        node[name.system] = numbers
    return tree


def _cell_numbers(cell: Cell) -> Numbers:
    numbers: Numbers = {metric: _metric_numbers(found) for metric, found in cell.metrics.items()}
    for recall, found in cell.recall.items():
        numbers[recall] = {condition.lower(): each.value for condition, each in found.items()}
    numbers["refusal"] = {
        condition.lower(): {"precision": each.precision, "recall": each.recall}
        for condition, each in cell.refusals.items()
    }
    numbers["context_tokens"] = {key.lower(): each.value for key, each in cell.context_tokens.items()}
    numbers["oracle_right_retrieved_wrong"] = cell.oracle_right_retrieved_wrong.value
    numbers |= {"questions": cell.questions, "scored": cell.scored, "abstention": cell.abstention}
    numbers["unscorable"] = sum(cell.unscorable.values())
    numbers["missing"] = {key.lower(): sum(counts.values()) for key, counts in cell.missing.items()}
    numbers["no_evidence"] = cell.no_evidence
    numbers["warnings"] = {**cell.warnings}  # counts of unlike units: no sum
    return numbers


def _metric_numbers(found: Diagnosis) -> Numbers:
    gaps = found.gaps
    numbers: Numbers = {"n": gaps.oe.n, "oe": gaps.oe.value, "csm": gaps.csm.value, "rm": gaps.rm.value}
    numbers |= {f"{key.lower()}_alone": each.value for key, each in found.references.items()}
    numbers |= estimate_numbers("write_gap", gaps.write)
    numbers |= estimate_numbers("retrieval_gap", gaps.retrieval)
    numbers["reading_gap"] = found.reading.value
    for label, share in (found.label_shares or {}).items():
        numbers[f"share_{label}"] = share
    return numbers


def _agreement(cells: Sequence[Cell]) -> str:
    """How often two metrics order two systems or conditions alike, by benchmark and reader."""
    lines = []
    for benchmark, reader in dict.fromkeys((cell.name.benchmark, cell.name.reader) for cell in cells):
        chosen = [cell for cell in cells if (cell.name.benchmark, cell.name.reader) == (benchmark, reader)]
        alike, pairs = metric_agreement(chosen, "contains_match", "token_f1")
        if pairs > 1:
            lines.append(f"- {benchmark}, {reader}: {alike} of {pairs} pairs ({percent(alike / pairs)})")
    return "## Contains match and token F1 order systems alike\n\n" + "\n".join(lines) if lines else ""
