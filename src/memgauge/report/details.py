"""Markdown tables beside the diagnosis: outcomes, what carries no score, refusals, published numbers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product

from memgauge.errors import NothingScoredError
from memgauge.protocol.diagnosis import Cell, CellName, Diagnosis
from memgauge.protocol.outcomes import REFERENCES
from memgauge.records import PRIMARY
from memgauge.report.markdown import markdown_table
from memgauge.report.numbers import UNDEFINED, hundredths, interval, number
from memgauge.report.published import PublishedRow, published, recompute, rows_beside
from memgauge.report.tables import count_text, name_of

REFERENCE_METRICS = {"contains_match": "contains match", "token_f1": "token F1"}
LETTERS = {"right": "+", "wrong": "-"}


def outcomes_table(cells: Sequence[Cell]) -> str:
    """Questions by contains match under OE, CSM, RM in this order: + right, - wrong."""
    kinds = ["".join(letters) for letters in product("+-", repeat=3)]
    rows = []
    for cell in cells:
        counts: Counter[str] = Counter()
        for each in cell.outcomes:
            letters = [LETTERS.get(outcome) for outcome in (each.oe, each.csm, each.rm)]
            counts["".join(letter or "?" for letter in letters)] += each.questions
        whole = [counts[kind] for kind in kinds]
        lost = cell.oracle_right_retrieved_wrong.value
        if cell.outcomes:
            last = [str(counts.total() - sum(whole)), number(lost)]
            rows.append([*name_of(cell), *map(str, whole), *last])
    header = ["benchmark", "reader", "system", *(f"`{kind}`" for kind in kinds)]
    return markdown_table([*header, "one missing", "share OE right, RM wrong"], rows)


def missing_table(cells: Sequence[Cell]) -> str:
    """Why questions carry no score, and how far that could move contains match and its gaps."""
    header = [
        *("benchmark", "reader", "system", "questions", "abstention", "unscorable"),
        *("no evidence under OE", "missing by status"),
        *("OE bounds", "CSM bounds", "RM bounds", "write gap bounds", "retrieval gap bounds"),
    ]
    rows = []
    for cell in cells:
        found = cell.metrics.get(PRIMARY)
        bounds = {} if found is None else found.bounds
        statuses = (
            f"{condition} {status}: {count}"
            for condition, counts in cell.missing.items()
            for status, count in counts.items()
        )
        rows.append(
            [
                *(*name_of(cell), str(cell.questions), str(cell.abstention), count_text(cell.unscorable)),
                *(str(cell.no_evidence), "; ".join(statuses) or "none"),
                *(interval(bounds.get(each)) for each in ("OE", "CSM", "RM", "write", "retrieval")),
            ]
        )
    return markdown_table(header, rows)


def unscored_list(unscored: Mapping[CellName, NothingScoredError]) -> str:
    """One line a cell in which nothing could be scored; the error's text names the cell and says why."""
    return "\n".join(f"- {error}" for error in unscored.values())


def refusals_table(cells: Sequence[Cell]) -> str:
    """Refusing as a detector of unanswerable questions, with the two readers that need no reading."""
    header = ["benchmark", "reader", "system", "condition", "answers", "unanswerable", "precision", "recall"]
    rows: list[tuple[str, ...]] = []
    for cell in cells:
        for condition, found in cell.refusals.items():
            name = (*name_of(cell)[:2], "(any)") if condition in REFERENCES else tuple(name_of(cell))
            counts = str(found.answers), str(found.unanswerable)
            rows.append((*name, condition, *counts, number(found.precision), number(found.recall)))
    for cell in cells:
        counts, anything = (str(cell.questions), str(cell.abstention)), cell.abstention > 0
        every = number(cell.abstention / cell.questions), number(1.0 if anything else None)
        rows.append((cell.name.benchmark, "always refuses", "", "", *counts, *every))
        none = UNDEFINED, number(0.0 if anything else None)
        rows.append((cell.name.benchmark, "always answers", "", "", *counts, *none))
    return markdown_table(header, dict.fromkeys(rows))


def refusal_types_table(cells: Sequence[Cell]) -> str:
    """Share of unanswerable questions refused, by type; under NM and OE nothing is shown, so those stand aside."""
    shown = ("TFC", "CSM", "RM")
    rows = [
        [*name_of(cell), kind, str(found["RM"].unanswerable), *(number(found[each].recall) for each in shown)]
        for cell in cells
        for kind, found in cell.refusals_by_type.items()
    ]
    return markdown_table(["benchmark", "reader", "system", "type", "unanswerable", *shown], rows)


def published_references_table(cells: Sequence[Cell]) -> str:
    """The paper's TFC and OE of the same benchmark beside ours by reader; empty where it printed none."""
    columns = [(metric, each) for metric in REFERENCE_METRICS for each in ("TFC", "OE")]
    header = ["benchmark", "number", *(f"{each} {REFERENCE_METRICS[metric]}" for metric, each in columns)]
    firsts = {(cell.name.benchmark, cell.name.reader): cell for cell in reversed(cells) if PRIMARY in cell.metrics}
    rows = []
    for benchmark in dict.fromkeys(name for name, _ in sorted(firsts)):
        printed = [each for each in published().references if each.benchmark == benchmark]
        for one in printed:
            values = (one.tfc_contains_match, one.oe_contains_match, one.tfc_token_f1, one.oe_token_f1)
            rows.append([benchmark, f"published, {one.reader}", *map(hundredths, values)])
        for reader in [reader for name, reader in sorted(firsts) if name == benchmark and printed]:
            found = firsts[benchmark, reader].metrics
            ours = [found[metric].references[each].value for metric, each in columns]
            rows.append([benchmark, f"ours, {reader}", *(number(value, 2) for value in ours)])
    return markdown_table(header, rows) if rows else ""


def published_table(cells: Sequence[Cell]) -> str:
    """The paper's contains match beside ours: another reader, for reference only.

    Beside a benchmark that the paper has no numbers on stand those of its main one, marked as another benchmark.
    """
    header = ["benchmark", "system", "number", "OE", "CSM", "RM", "write gap", "retrieval gap", "label"]
    scored = [cell for cell in cells if PRIMARY in cell.metrics]
    rows = []
    for benchmark in dict.fromkeys(cell.name.benchmark for cell in scored):
        for row in rows_beside(benchmark):
            rows.append(_printed(row, benchmark))
            rows += [
                _beside(cell, cell.metrics[PRIMARY])
                for cell in scored
                if (cell.name.benchmark, cell.name.system) == (benchmark, row.system)
            ]
    return "\n".join([markdown_table(header, rows), "", *_remarks(scored)]).rstrip() if rows else ""


def _printed(row: PublishedRow, beside: str) -> list[str]:
    numbers = (hundredths(each) for each in (row.oe, row.csm, row.rm, row.write, row.retrieval))
    other = "" if row.benchmark == beside else ", another benchmark"
    return [row.benchmark, row.system, f"published, {row.reader} readers{other}", *numbers, recompute(row).label]


def _beside(cell: Cell, found: Diagnosis) -> list[str]:
    gaps = (found.gaps.oe, found.gaps.csm, found.gaps.rm, found.gaps.write, found.gaps.retrieval)
    shown = (number(each.value, 2) for each in gaps)
    return [cell.name.benchmark, cell.name.system, f"ours, {cell.name.reader}", *shown, found.label]


def _remarks(cells: Sequence[Cell]) -> list[str]:
    """The source, and what recomputing the shown tables gave."""
    tables = {row.table for cell in cells for row in rows_beside(cell.name.benchmark)}
    lines = [f"Published: {published().source}. Labels of published rows are recomputed from their gaps.", ""]
    for each in published().verdicts:
        if each.table in tables:
            lines.append(f"- {each.table} table, {each.where}: {each.verdict}; {each.remark}.")
    return lines
