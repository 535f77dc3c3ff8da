"""Silver evidence beside gold: numbers and one Markdown page a benchmark and reader."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memgauge.protocol.silver import Silver
from memgauge.protocol.silver_comparison import ALL, SilverCell, TurnAgreement, labels_agree
from memgauge.records import Question
from memgauge.report.experiment_numbers import key_of
from memgauge.report.markdown import markdown_table
from memgauge.report.numbers import UNDEFINED, estimate, estimate_numbers, interval, number, percent
from memgauge.report.summary import Numbers
from memgauge.report.tables import gap_text

WHAT = (
    "Silver evidence is found by a solver that is given each question's answer; gold evidence is the annotator's. "
    "The answer reaches the finder only, never a reader. Only OE is made of evidence: the write gap moves by the "
    "change of OE, by the same amount for every system over the same questions, and the retrieval gap not at all."
)
BIAS = (
    "A finder that chooses turns from which a reader of its own kind gives the answer flatters that reader: its OE "
    "from silver may exceed its OE from gold. Evidence that an annotator marks and a finder leaves out (a statement "
    "that was later corrected, a repetition) lowers recall without moving OE."
)
HOW = (
    "Scores are contains match. Intervals are 95 % percentile intervals of {draws:,} paired bootstrap draws over "
    "questions; clustered redraws whole groups of histories. n/a is undefined, never 0."
)


@dataclass(frozen=True, slots=True)
class SilverReport:
    """All that is said of one benchmark and reader; `cells` hold every system, whole and by type."""

    benchmark: str
    reader: str
    turns: tuple[TurnAgreement, ...]
    cells: tuple[SilverCell, ...]
    silver: tuple[Silver, ...]


def silver_numbers(found: SilverReport) -> Numbers:
    """turns, diagnosis, labels by question type, and how the finder fared; undefined is null."""
    systems: Numbers = {}
    for cell in found.cells:
        by_type = systems.setdefault(cell.system, {})
        assert isinstance(by_type, dict)
        by_type[key_of(cell.type)] = _cell_numbers(cell)
    labels: Numbers = {
        key_of(kind): {"systems": count, "alike": alike, "share": alike / count}
        for kind, (alike, count) in labels_agree(found.cells).items()
    }
    return {
        "turns": {key_of(each.type): _turn_numbers(each) for each in found.turns},
        "diagnosis": systems,
        "labels": labels,
        "finder": dict(_finder(found.silver)),
    }


def silver_page(found: SilverReport, questions: Sequence[Question], draws: int) -> str:
    """The page of one benchmark and reader."""
    abstention = sum(question.abstention for question in questions)
    without = sum(not question.evidence and not question.abstention for question in questions)
    finder = [f"- {name.replace('_', ' ')}: {count}" for name, count in _finder(found.silver).items()]
    finder.append(f"- answerable questions without gold evidence, left out of the comparison of turns: {without}")
    finder.append(f"- abstention questions, which have no evidence to find: {abstention}")
    parts = [
        f"# Silver evidence: {found.benchmark}, reader {found.reader}",
        f"{WHAT} {HOW.format(draws=draws)}",
        BIAS,
        f"## Turns\n\n{_turns_table(found.turns)}",
        f"## Diagnosis\n\n{_cells_table([cell for cell in found.cells if cell.type == ALL])}",
        f"## Labels alike\n\n{_labels_table(found.cells)}",
        f"## Diagnosis by question type\n\n{_cells_table([cell for cell in found.cells if cell.type != ALL])}",
        "## The finder\n\n" + "\n".join(finder),
    ]
    return "\n\n".join(parts) + "\n"


def _turns_table(turns: Sequence[TurnAgreement]) -> str:
    header = ["type", "questions", "precision [95 %]", "recall [95 %]", "F1 [95 %]", "clustered", "same set"]
    rows = [
        [
            *(each.type, str(each.f1.n), estimate(each.precision), estimate(each.recall), estimate(each.f1)),
            *(interval(each.f1.clustered), percent(each.same.value)),
            *(number(each.gold_turns / each.f1.n, 2), number(each.silver_turns / each.f1.n, 2)),
        ]
        for each in turns
    ]
    return markdown_table([*header, "gold turns / question", "silver turns / question"], rows)


def _cells_table(cells: Sequence[SilverCell]) -> str:
    header = [
        *("system", "type", "OE gold", "OE silver", "error of OE and write gap [95 %]", "clustered"),
        *("write gap gold", "write gap silver", "retrieval gap", "label gold", "label silver"),
        *("draws with one label", "clustered", "n"),
    ]
    rows = [
        [
            *(cell.system, cell.type, number(cell.oe_gold.value), number(cell.oe_silver.value)),
            *(gap_text(cell.error), interval(cell.error.clustered)),
            *(gap_text(cell.write_gold), gap_text(cell.write_silver), gap_text(cell.retrieval)),
            *(cell.label_gold, cell.label_silver, percent(cell.agreement), percent(cell.agreement_clustered)),
            str(cell.oe_gold.n),
        ]
        for cell in cells
    ]
    return markdown_table(header, rows)


def _labels_table(cells: Sequence[SilverCell]) -> str:
    rows = []
    for kind, (alike, count) in labels_agree(cells).items():
        shares = [cell.agreement for cell in cells if cell.type == kind and cell.agreement is not None]
        mean = percent(sum(shares) / len(shares)) if shares else UNDEFINED
        rows.append([kind, str(count), str(alike), mean])
    return markdown_table(["type", "systems", "same label", "draws with one label, mean of systems"], rows)


def _finder(silver: Sequence[Silver]) -> dict[str, int]:
    """Questions by status, then the sums of what their tasks took."""
    statuses = Counter(f"status_{each.status}" for each in silver)
    took: Counter[str] = Counter()
    for each in silver:
        took.update({name: count for name, count in each.counts.items() if not name.startswith("status_")})
    return {"questions": len(silver), **dict(sorted(statuses.items())), **dict(sorted(took.items()))}


def _turn_numbers(found: TurnAgreement) -> Numbers:
    numbers: Numbers = {"n": found.f1.n, "gold_turns": found.gold_turns, "silver_turns": found.silver_turns}
    parts = (("precision", found.precision), ("recall", found.recall), ("f1", found.f1), ("same", found.same))
    for name, each in parts:
        numbers |= estimate_numbers(name, each)
    return numbers


def _cell_numbers(cell: SilverCell) -> Numbers:
    numbers: Numbers = {"n": cell.oe_gold.n, "same_label": int(cell.label_gold == cell.label_silver)}
    numbers |= {"label_agreement": cell.agreement, "label_agreement_clustered": cell.agreement_clustered}
    parts = (
        *(("oe_gold", cell.oe_gold), ("oe_silver", cell.oe_silver), ("error", cell.error)),
        *(("write_gap_gold", cell.write_gold), ("write_gap_silver", cell.write_silver)),
        ("retrieval_gap", cell.retrieval),
    )
    for name, each in parts:
        numbers |= estimate_numbers(name, each)
    return numbers
