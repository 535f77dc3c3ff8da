"""What the tables print, what DVC gets, and the published numbers against their own arithmetic."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from memgauge.files import read_jsonl, write_json, write_jsonl
from memgauge.metrics.scoring import ScoredItem
from memgauge.protocol.comparison import rank_systems
from memgauge.protocol.diagnosis import Cell, CellName, diagnose_cell
from memgauge.protocol.effort import effort
from memgauge.protocol.labels import labels_by_margin
from memgauge.protocol.outcomes import CONDITIONS
from memgauge.records import Context, Entry, Store
from memgauge.report.details import (
    missing_table,
    outcomes_table,
    published_references_table,
    published_table,
    refusal_types_table,
    refusals_table,
)
from memgauge.report.efforts import reading_table, writing_table
from memgauge.report.published import conflicts, published, recompute
from memgauge.report.summary import diagnosis_json, markdown_report
from memgauge.report.tables import diagnosis_table, labels_table, references_table, type_table

CHAIN = {"OE": 8, "CSM": 5, "RM": 4}  # right answers of ten questions


def scored(question: int, condition: str, right: bool, abstention: bool = False) -> ScoredItem:
    score = None if abstention else float(right)
    return ScoredItem(
        question_id=f"q{question}",
        history_id=f"h{question}",
        group=f"g{question}",
        type="fact",
        condition=condition,
        status="ok",
        abstention=abstention,
        refused=abstention,
        contains_match=score,
        contains_match_strict=score,
        token_f1=score,
        locomo_f1=None,
        answer_tokens=3,
        context_tokens=50,
        unscorable=None,
        turn_recall=0.5,
        span_recall=None,
    )


def ten() -> list[ScoredItem]:
    return [
        scored(question, condition, question < CHAIN.get(condition, 0))
        for question in range(10)
        for condition in CONDITIONS
    ]


def cell_of(items: list[ScoredItem], system: str = "summary", benchmark: str = "synthetic") -> Cell:
    name = CellName(benchmark, "extractive", system)
    return diagnose_cell(name, items, 2000, 0.02, seed=17, warnings={"k covers the store": 2})


@pytest.fixture(scope="module")
def cell() -> Cell:
    return cell_of(ten())


def rows_of(table: str) -> list[list[str]]:
    """The cells of a Markdown table below its two head lines."""
    return [[value.strip() for value in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]


def test_diagnosis_row_shows_hand_computed_gaps_counts_and_warnings(cell: Cell) -> None:
    (row,) = rows_of(diagnosis_table([cell]))
    assert row[:6] == ["synthetic", "extractive", "summary", "0.800", "0.500", "0.400"]
    assert row[6].startswith("+0.300 [")
    assert row[8].startswith("+0.100 [")
    assert row[10] == "0.200"
    assert row[11].startswith("write (")
    assert row[12:] == ["10", "0", "0.50 / 0.50", "k covers the store: 2"]


def test_every_row_of_every_table_has_as_many_columns_as_its_head(cell: Cell) -> None:
    ranking = rank_systems("synthetic", "extractive", {"a": ten(), "b": ten()}, "RM", "contains_match", 50, 1)
    unanswerable = [scored(10, condition, False, abstention=True) for condition in CONDITIONS]
    cells = [cell, cell_of([*ten(), *unanswerable], "epc", "longmemeval")]
    report = markdown_report(cells, 2000, 0.02, [ranking])
    block: list[int] = []
    for line in report.splitlines():
        if line.startswith("|"):
            block.append(line.replace("\\|", "").count("|"))
        elif block:
            assert len(set(block)) == 1, line
            assert len(block) > 2
            block = []
    for heading in ("## References", "## Systems compared", "## Refusals", "## Published numbers"):
        assert heading in report
    assert "nan" not in report.lower().split()


def test_a_pipe_in_a_name_does_not_add_a_column() -> None:
    table = diagnosis_table([cell_of(ten(), "a|b")])
    assert "a\\|b" in table


def test_undefined_is_printed_as_such_and_null_in_json(cell: Cell, tmp_path: Path) -> None:
    one = [replace(item, group="only") for item in ten()]
    single = cell_of(one)
    assert rows_of(diagnosis_table([single]))[0][7] == "n/a"
    write_json(tmp_path / "cell.json", diagnosis_json([single]))
    tree = json.loads((tmp_path / "cell.json").read_text())
    numbers = tree["synthetic"]["extractive"]["summary"]
    assert numbers["contains_match"]["write_gap_clustered_low"] is None
    assert numbers["contains_match"]["write_gap"] == 0.3
    assert numbers["span_recall"]["csm"] is None
    assert numbers["refusal"]["rm"] == {"precision": None, "recall": None}


def test_json_leaves_are_numbers_or_null(cell: Cell) -> None:
    def check(node: object) -> None:
        if isinstance(node, dict):
            for child in node.values():
                check(child)
        else:
            assert node is None or isinstance(node, int | float)

    check(diagnosis_json([cell, cell_of(ten(), "epc")]))
    assert list(diagnosis_json([cell])["synthetic"]["extractive"]) == ["summary"]  # type: ignore[index, arg-type, call-overload]


def test_a_cell_survives_being_written_and_read(cell: Cell, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "cells.jsonl", [cell])
    assert list(read_jsonl(tmp_path / "cells.jsonl", Cell)) == [cell]


def test_references_stand_once_a_reader_and_metric(cell: Cell) -> None:
    rows = rows_of(references_table([cell, cell_of(ten(), "epc")]))
    assert [row[2] for row in rows] == ["contains match", "strict contains match", "token F1"]
    assert rows[0][3:] == ["0.000 [0.000, 0.000] (n = 10)"] * 2 + [rows[0][5]]
    assert rows[0][5].startswith("0.800 [")


def test_types_outcomes_and_missing_of_one_cell(cell: Cell) -> None:
    assert rows_of(type_table([cell]))[0][3:8] == ["fact", "10", "0.800", "0.500", "0.400"]
    assert rows_of(outcomes_table([cell]))[0][3:] == ["4", "1", "0", "3", "0", "0", "0", "2", "0", "0.400"]
    lost = [item for item in ten() if (item.question_id, item.condition) != ("q0", "RM")]
    row = rows_of(missing_table([cell_of(lost)]))[0]
    assert row[6:8] == ["0", "RM absent: 1"]
    assert row[8:11] == ["[0.800, 0.800]", "[0.500, 0.500]", "[0.300, 0.400]"]
    assert row[11:] == ["[0.300, 0.300]", "[0.100, 0.200]"]
    unseen = [replace(item, contains_match=None) if item.condition == "OE" else item for item in ten()[:5]]
    table = missing_table([cell_of([*unseen, *ten()[5:]])])
    assert "no evidence under OE" in table
    assert rows_of(table)[0][6:8] == ["1", "none"]


def test_labels_table_has_one_column_a_margin(cell: Cell) -> None:
    assert rows_of(labels_table([cell]))[0][6:] == ["write"] * 6


def test_always_refusing_and_always_answering_stand_beside_the_readers() -> None:
    unanswerable = [scored(10 + n, condition, False, True) for n in range(5) for condition in CONDITIONS]
    rows = rows_of(refusals_table([cell_of([*ten(), *unanswerable])]))
    assert [row[3] for row in rows[:5]] == ["NM", "TFC", "OE", "CSM", "RM"]
    assert [row[2] for row in rows[:5]] == ["(any)"] * 3 + [rows[4][2]] * 2
    assert rows[4][3:] == ["RM", "15", "5", "1.000", "1.000"]
    assert rows[5][1:] == ["always refuses", "", "", "15", "5", "0.333", "1.000"]
    assert rows[6][1:] == ["always answers", "", "", "15", "5", "n/a", "0.000"]


def test_unanswerable_questions_stand_in_their_own_type() -> None:
    """Two types with unanswerable questions; one is refused under CSM and RM, the other under CSM alone."""
    said = {"multi-session": {"CSM", "RM"}, "temporal": {"CSM"}}
    unanswerable = [
        replace(scored(10 + n, condition, False, True), type=kind, refused=condition in said[kind])
        for n, kind in enumerate(said)
        for condition in CONDITIONS
    ]
    rows = rows_of(refusal_types_table([cell_of([*ten(), *unanswerable])]))
    assert [row[3:] for row in rows] == [
        ["multi-session", "1", "0.000", "1.000", "1.000"],
        ["temporal", "1", "0.000", "1.000", "0.000"],
    ]


def test_refusing_everything_earns_nothing_in_the_means() -> None:
    """Questions without an answer stand in no numerator and no denominator (446 of LoCoMo's 1,986)."""
    answerable = [scored(n, condition, False) for n in range(4) for condition in CONDITIONS]
    adversarial = [scored(10 + n, condition, False, True) for n in range(6) for condition in CONDITIONS]
    gaps = cell_of([*answerable, *adversarial]).metrics["contains_match"].gaps
    assert (gaps.oe.value, gaps.oe.n) == (0.0, 4)


def test_published_numbers_are_labelled_and_stand_only_beside_their_benchmark(cell: Cell) -> None:
    synthetic = [row for row in rows_of(published_table([cell])) if len(row) > 2]  # below are remarks
    (printed,) = [row for row in synthetic if row[1] == "summary" and row[2].startswith("published")]
    assert (printed[0], printed[2]) == ("longmemeval", "published, mean of 3 readers, another benchmark")
    assert ["synthetic", "summary", "ours, extractive"] in [row[:3] for row in synthetic]
    table = published_table([cell_of(ten(), "readagent", "longmemeval")])
    assert "| readagent | published, mean of 3 readers | 0.53 | 0.43 | 0.35 | 0.10 | 0.08 | mixed |" in table
    assert "| longmemeval | readagent | ours, extractive | 0.80 | 0.50 | 0.40 | 0.30 | 0.10 | write |" in table
    locomo = published_table([cell_of(ten(), "epc", "locomo")])
    assert "another release of LoCoMo" in locomo
    assert "another benchmark" not in table + locomo


def test_published_references_stand_beside_the_same_benchmark_only(cell: Cell) -> None:
    assert published_references_table([cell]) == ""
    rows = rows_of(published_references_table([cell, cell_of(ten(), "epc", "locomo"), cell_of(ten(), "a", "locomo")]))
    assert rows == [
        ["locomo", "published, mean of 2", "0.46", "0.61", "n/a", "n/a"],
        ["locomo", "ours, extractive", "0.00", "0.80", *rows[1][4:]],
    ]
    assert len(rows_of(published_references_table([cell_of(ten(), "epc", "longmemeval")]))) == 5


def test_what_writing_and_reading_took_is_added_up_and_no_count_is_lost() -> None:
    entries = (Entry("0", "a", ("t",)), Entry("1", "b", ("t",)))
    counts = {"writer_tasks": 3, "writer_calls": 2, "writer_input_tokens": 70, "writer_output_tokens": 9}
    counts |= {"status_parse_error": 1, "sessions_failed": 1, "selections_failed": 1, "records_malformed": 4}
    counts |= {
        "sources_unknown": 2,
        "lines_ungrounded": 5,
        "turns_covered": 6,
        "turns_total": 8,
        "recalls": 7,
        "facts": 0,
    }
    stores = [Store("h", "s", entries, 30, 99, counts), Store("i", "s", (), 0, 99, counts)]
    contexts = [
        Context("q", "RM", "a", 10, ("0",), counts={"chooser_tasks": 2, "walks_stopped_by_failure": 1}),
        Context("r", "RM", "a b", 15, ("0", "1"), counts={"chooser_tasks": 1}),
        Context("r", "CSM", "a b", 99, ("0", "1"), counts={"chooser_tasks": 9}),
    ]
    found = effort("s", stores, contexts)
    (written,) = rows_of(writing_table([found]))
    assert written == [
        *("s", "2", "2", "30", "12 of 16", "6", "4", "140", "18", "parse_error: 2"),
        *("4", "8", "4", "10", "0", "recalls: 14"),
    ]
    (read,) = rows_of(reading_table([found], 5, "topk", 5000))
    assert read == [
        *("s", "2", "topk", "5", "5000", "1.5", "12.5", "3", "0", "0", "0", "none"),
        *("1", "0", "0", "none"),
    ]
    assert rows_of(reading_table([effort("s", [], [])], 5, "fill", 9))[0][2:7] == ["fill", "none", "9", "n/a", "n/a"]


def test_recorded_conflicts_are_exactly_those_that_recomputing_finds() -> None:
    for row in published().rows:
        assert row.conflicts == conflicts(row), row
    found = [row for row in published().rows if row.conflicts]
    assert {row.table for row in found} == {"sweep"}
    assert len(found) == 12
    assert [(row.system, row.budget_tokens) for row in found if "label" in row.conflicts] == [("epc", 2000)]
    assert all(row.write - recompute(row).write == 1 for row in found)


def test_published_tables_are_complete() -> None:
    counts: dict[str, int] = {}
    for row in published().rows:
        counts[row.table] = counts.get(row.table, 0) + 1
    assert counts == {"main": 7, "locomo": 7, "cost": 3, "sweep": 16, "per_reader": 21}


def test_main_table_is_the_mean_of_its_readers_within_rounding() -> None:
    rows = published().rows
    for main in (row for row in rows if row.table == "main"):
        readers = [row for row in rows if row.table == "per_reader" and row.system == main.system]
        assert len(readers) == 3
        for field in ("csm", "rm"):
            # Each of the four printed numbers is rounded by at most half a hundredth.
            mean = sum(getattr(row, field) for row in readers) / 3
            assert abs(mean - getattr(main, field)) <= 1.0


def test_labels_of_the_main_table_follow_the_papers_prose() -> None:
    labels = {row.system: recompute(row).label for row in published().rows if row.table == "main"}
    assert labels == {
        **dict.fromkeys(("verbatim", "extractive", "memorybank", "memwalker", "summary"), "write"),
        "readagent": "mixed",
        "epc": "retrieval",
    }


def test_four_baselines_are_write_bound_at_every_margin_and_three_systems_are_not() -> None:
    firm = {
        row.system
        for row in published().rows
        if row.table == "main"
        and set(labels_by_margin(Fraction(row.write, 100), Fraction(row.retrieval, 100)).values()) == {"write"}
    }
    assert firm == {"verbatim", "extractive", "memorybank", "memwalker"}
