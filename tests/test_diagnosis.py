"""Gaps, labels, outcome tables, comparisons: hand-computed cells and the properties that must always hold."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.errors import InputError, NothingScoredError
from memgauge.files import read_json, write_jsonl
from memgauge.metrics.scoring import ScoredItem
from memgauge.params import Params
from memgauge.protocol.comparison import (
    Comparison,
    average_readers,
    metric_agreement,
    rank_systems,
    tie_groups,
)
from memgauge.protocol.diagnosis import Cell, CellName, diagnose_cell
from memgauge.protocol.labels import LABELS, as_fraction, exact_mean, label_of, label_shares, labels_by_margin
from memgauge.protocol.outcomes import CONDITIONS, OutcomeCount, Refusals
from memgauge.records import Context, Store
from memgauge.stages.diagnose import main
from memgauge.stats.intervals import Estimate, Interval

NAME = CellName("synthetic", "extractive", "summary")
Scores = Sequence[float | None]


def item(question: int, condition: str, score: float | None, **changes: object) -> ScoredItem:
    """One item; a missing score stands for a truncated answer."""
    plain = ScoredItem(
        question_id=f"q{question}",
        history_id=f"h{question}",
        group=f"g{question}",
        type="fact",
        condition=condition,
        status="truncated" if score is None else "ok",
        abstention=False,
        refused=False,
        contains_match=score,
        contains_match_strict=score,
        token_f1=score,
        locomo_f1=None,
        answer_tokens=3,
        context_tokens=100,
        unscorable=None,
        turn_recall=0.5 if condition in ("CSM", "RM") else None,
        span_recall=None,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def items_of(oe: Scores, csm: Scores, rm: Scores, **changes: object) -> list[ScoredItem]:
    """A cell's items from three columns of scores; NM is always wrong and TFC always right."""
    found = []
    for question, chain in enumerate(zip(oe, csm, rm, strict=True)):
        for condition, score in zip(CONDITIONS, (0.0, 1.0, *chain), strict=True):
            found.append(item(question, condition, score, **changes))
    return found


def diagnose(items: list[ScoredItem], draws: int = 500, margin: float = 0.02) -> Cell:
    return diagnose_cell(NAME, items, draws, margin, seed=17)


def hundred(right: int) -> list[float]:
    return [1.0] * right + [0.0] * (100 - right)


def test_means_and_gaps_of_ten_questions_computed_by_hand() -> None:
    oe = [1.0] * 8 + [0.0] * 2
    csm = [1.0] * 5 + [0.0] * 5
    rm = [1.0] * 4 + [0.0] * 6
    cell = diagnose(items_of(oe, csm, rm))
    found = cell.metrics["contains_match"]
    gaps = found.gaps
    assert [gaps.oe.value, gaps.csm.value, gaps.rm.value] == [0.8, 0.5, 0.4]
    assert [gaps.write.value, gaps.retrieval.value, found.reading.value] == [0.3, 0.1, 0.2]
    assert found.label == "write"
    assert (found.references["NM"].value, found.references["TFC"].value) == (0.0, 1.0)
    assert cell.oracle_right_retrieved_wrong.value == 0.4
    assert (cell.questions, cell.scored, cell.groups) == (10, 10, 10)
    assert cell.recall["turn_recall"]["CSM"].value == 0.5
    assert cell.recall["span_recall"]["RM"] == Estimate(None, 0)


def test_write_gap_interval_is_that_of_its_binomial() -> None:
    # 30 of 100 questions lose the answer on writing and none gains: the gap is a share of .30.
    cell = diagnose(items_of(hundred(80), hundred(50), hundred(50)), draws=10_000)
    interval = cell.metrics["contains_match"].gaps.write.interval
    assert interval is not None
    assert [interval.low, interval.high] == pytest.approx([0.21, 0.39], abs=0.011)
    assert cell.metrics["contains_match"].gaps.retrieval.interval == Interval(0.0, 0.0)


@pytest.mark.parametrize(
    ("oe", "csm", "rm", "label"),
    [
        (53, 22, 18, "write"),  # the paper's verbatim
        (53, 44, 38, "write"),  # its summary: .09 against .06
        (53, 43, 35, "mixed"),  # ReadAgent: .10 against .08 + .02 is not strictly more
        (53, 49, 42, "retrieval"),  # epc: .07 against .04
        (54, 44, 36, "mixed"),  # epc at 2K on its printed gaps .10 and .08
        (50, 50, 50, "mixed"),
        (50, 60, 40, "retrieval"),  # a negative write gap
    ],
)
def test_label_of_the_papers_rows(oe: int, csm: int, rm: int, label: str) -> None:
    assert label_of(Fraction(oe - csm, 100), Fraction(csm - rm, 100), 0.02) == label
    cell = diagnose(items_of(hundred(oe), hundred(csm), hundred(rm)), draws=50)
    assert cell.metrics["contains_match"].label == label
    assert cell.metrics["token_f1"].label == label


def test_binary_floats_would_have_flipped_the_near_tie() -> None:
    assert 0.53 - 0.43 > (0.43 - 0.35) + 0.02
    assert label_of(as_fraction(0.53) - as_fraction(0.43), as_fraction(0.43) - as_fraction(0.35), 0.02) == "mixed"


def test_labels_over_margins_follow_the_papers_remark() -> None:
    summary = labels_by_margin(Fraction(9, 100), Fraction(6, 100))
    assert [summary[key] for key in ("0.00", "0.02", "0.03", "0.05")] == ["write", "write", "mixed", "mixed"]
    assert list(summary) == ["0.00", "0.01", "0.02", "0.03", "0.04", "0.05"]


@given(st.integers(0, 400), st.integers(1, 400))
def test_a_score_made_of_small_counts_is_recovered_exactly(hits: int, tokens: int) -> None:
    assert as_fraction(hits / tokens) == Fraction(hits, tokens)


@given(st.floats(0, 1))
def test_any_other_float_keeps_its_exact_value(value: float) -> None:
    assert float(as_fraction(value)) == value


def test_label_shares_are_those_of_the_multinomial() -> None:
    # One question lost on writing, one on retrieval: the label is decided by which is drawn more often.
    cell = diagnose(items_of([1.0, 1.0], [0.0, 1.0], [0.0, 0.0]), draws=10_000)
    shares = cell.metrics["contains_match"].label_shares
    assert shares is not None
    assert [shares[label] for label in LABELS] == pytest.approx([0.25, 0.25, 0.5], abs=0.02)
    assert sum(shares.values()) == pytest.approx(1.0, abs=1e-12)


def test_label_shares_need_two_units_and_skip_empty_draws() -> None:
    leads, counts = np.array([5.0, 0.0]), np.array([5.0, 0.0])
    assert label_shares(leads, counts, 1, 0.02) is None
    assert label_shares(leads, counts, 2, 0.02) == {"write": 1.0, "retrieval": 0.0, "mixed": 0.0}


score = st.one_of(st.none(), st.sampled_from([0.0, 1.0]), st.floats(0, 1))


@given(st.lists(st.tuples(score, score, score), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_gaps_add_up_and_every_estimate_lies_within_its_bounds(
    rows: list[tuple[float | None, float | None, float | None]],
) -> None:
    items = items_of(*zip(*rows, strict=True))
    if not any(None not in row for row in rows):
        with pytest.raises(NothingScoredError, match="nothing could be scored"):
            diagnose(items, draws=20)
        return
    found = diagnose(items, draws=20).metrics["contains_match"]
    values = [found.gaps.oe.value, found.gaps.rm.value, found.gaps.write.value, found.gaps.retrieval.value]
    oe, rm, write, retrieval = (float(value) for value in values if value is not None)
    assert abs(write + retrieval - (oe - rm)) < 1e-12
    for condition in ("NM", "TFC", "OE"):
        value, bounds = found.references[condition].value, found.bounds[condition]
        assert value is not None
        assert bounds.low - 1e-12 <= value <= bounds.high + 1e-12


def test_missing_answers_are_left_out_of_pairs_counted_by_status_and_widen_the_bounds() -> None:
    cell = diagnose(items_of([1.0, 1.0, 1.0, 0.0], [1.0, None, 1.0, 0.0], [0.0, 1.0, None, 0.0]))
    found = cell.metrics["contains_match"]
    assert (found.gaps.oe.value, found.gaps.oe.n, cell.scored) == (0.5, 2, 2)
    assert (found.references["OE"].value, found.references["OE"].n) == (0.75, 4)
    assert cell.missing["CSM"] == cell.missing["RM"] == {"truncated": 1}
    assert cell.missing["OE"] == {}
    assert found.bounds["CSM"] == Interval(0.5, 0.75)
    assert found.bounds["write"] == Interval(0.0, 0.25)
    assert found.bounds["retrieval"] == Interval(0.0, 0.5)


def test_questions_without_evidence_leave_oe_and_the_gaps_and_are_counted() -> None:
    items = items_of([1.0, 0.0, None], [1.0, 0.0, 1.0], [0.0, 0.0, 1.0])
    cell = diagnose([replace(each, status="ok") for each in items])
    found = cell.metrics["contains_match"]
    assert (cell.no_evidence, cell.scored, cell.missing["OE"]) == (1, 2, {})
    assert (found.references["OE"].value, found.references["OE"].n, found.gaps.write.n) == (0.5, 2, 2)
    assert found.bounds["OE"] == Interval(0.5, 0.5)
    assert (found.bounds["write"], found.bounds["retrieval"]) == (Interval(0.0, 0.0), Interval(0.5, 0.5))
    assert found.bounds["RM"] == Interval(1 / 3, 1 / 3)


def written(folder: Path, retrieved: dict[str, Scores]) -> Params:
    """The scores, stores and contexts of two questions on one empty store, by system; the stage's parameters."""
    shared = items_of([1.0, 1.0], [1.0, 0.0], [1.0, 0.0])
    scores = folder / "data/scores/synthetic/extractive"
    write_jsonl(scores / "references.jsonl", [each for each in shared if each.condition not in ("CSM", "RM")])
    for system, rm in retrieved.items():
        items = items_of([1.0, 1.0], [1.0, 0.0], rm)
        write_jsonl(scores / f"{system}.jsonl", [each for each in items if each.condition in ("CSM", "RM")])
        store = Store("h", system, (), 0, 100, warnings=("empty store",))
        write_jsonl(folder / f"data/stores/synthetic/{system}.jsonl", [store])
        warned = [("empty store",), ("empty store", "k covers the store")]
        contexts = [Context(f"q{n}", "RM", "", 0, (), each) for n, each in enumerate(warned)]
        write_jsonl(folder / f"data/contexts/synthetic/{system}.jsonl", contexts)
    return {
        "stats": {"draws": 20, "margin": 0.02},
        "seed": 17,
        "readers": ["extractive"],
        "systems": list(retrieved),
        "retrieval": {"k": 5, "mode": "topk", "read_budget_tokens": 5000},
    }


def test_a_cell_without_a_score_is_named_and_leaves_the_others_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    main(written(tmp_path, {"epc": [None, None], "summary": [1.0, 0.0], "verbatim": [0.0, 0.0]}), "synthetic")
    numbers = read_json(Path("metrics/cells/synthetic.json"))["extractive"]
    assert numbers["epc"] == {"scored": 0}
    assert numbers["summary"]["contains_match"]["write_gap"] == 0.5
    table = Path("metrics/tables/synthetic.md").read_text(encoding="utf-8")
    assert "- nothing could be scored for system 'epc' on 'synthetic' with reader 'extractive'" in table
    assert "| RM | summary = verbatim |" in table
    assert Path("metrics/figures/synthetic.png").stat().st_size > 0


def test_when_no_cell_has_a_score_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NothingScoredError, match=r"'epc'.*'summary'"):
        main(written(tmp_path, {"epc": [None, None], "summary": [None, None]}), "synthetic")
    assert not Path("metrics").exists()


def test_warnings_are_counted_once_by_history_or_by_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    main(written(tmp_path, {"summary": [1.0, 0.0]}), "synthetic")
    numbers = read_json(Path("metrics/cells/synthetic.json"))["extractive"]["summary"]
    assert numbers["warnings"] == {"empty store (histories)": 1, "k covers the store (questions)": 1}


def test_an_answer_never_made_is_counted_as_absent() -> None:
    items = items_of([1.0, 1.0], [1.0, 1.0], [1.0, 1.0])[:-1]
    cell = diagnose(items)
    assert cell.missing["RM"] == {"absent": 1}
    assert cell.scored == 1


def test_outcome_table_counts_every_scorable_question_once() -> None:
    cell = diagnose(items_of([1.0, 1.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0, None], [1.0, 0.0, 0.0, 0.0, 0.0]))
    assert cell.outcomes == (
        OutcomeCount("right", "missing", "wrong", 1),
        OutcomeCount("right", "right", "right", 1),
        OutcomeCount("right", "wrong", "wrong", 2),
        OutcomeCount("wrong", "right", "wrong", 1),
    )


def test_abstention_and_unscorable_questions_are_counted_and_never_mixed_into_a_mean() -> None:
    unanswerable = {
        "abstention": True,
        "contains_match": None,
        "token_f1": None,
        "contains_match_strict": None,
    }
    unusable = {**unanswerable, "abstention": False, "unscorable": "no usable token"}
    items = items_of([1.0, 0.0], [1.0, 0.0], [1.0, 0.0])
    for condition in CONDITIONS:
        items.append(item(7, condition, 0.0, refused=True, **unanswerable))
        items.append(item(8, condition, 0.0, refused=False, **unanswerable))
        items.append(item(9, condition, 0.0, refused=True, **unusable))
    cell = diagnose(items)
    assert (cell.questions, cell.scored, cell.abstention) == (5, 2, 2)
    assert cell.unscorable == {"no usable token": 1}
    assert cell.metrics["contains_match"].gaps.oe.value == 0.5
    assert cell.refusals["RM"] == Refusals(answers=5, unanswerable=2, refused=2, precision=0.5, recall=0.5)
    assert cell.missing["RM"] == {}


def test_refusal_shares_are_undefined_without_refusals_or_unanswerable_questions() -> None:
    found = diagnose(items_of([1.0, 0.0], [1.0, 0.0], [1.0, 0.0])).refusals["OE"]
    assert (found.precision, found.recall) == (None, None)


def test_the_reader_by_type_counts_what_was_scored_and_nothing_else() -> None:
    items = [
        replace(each, type="date" if each.question_id == "q0" else "fact", token_f1=each.contains_match and 0.25)
        for each in items_of([1.0, 1.0, None, 0.0], [0.0] * 4, [0.0] * 4)
    ]
    found = diagnose(items).references_by_type
    assert found["date"]["OE"]["contains_match"] == (1.0, 1)
    assert found["fact"]["OE"]["contains_match"] == (0.5, 2)
    assert found["fact"]["OE"]["token_f1"] == (0.125, 2)
    assert found["fact"]["TFC"]["contains_match"] == (1.0, 3)
    assert found["fact"]["OE"]["locomo_f1"] == (None, 0)


def test_one_group_leaves_the_clustered_interval_undefined() -> None:
    cell = diagnose(items_of([1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], group="only"))
    found = cell.metrics["contains_match"]
    assert found.gaps.write.interval is not None
    assert found.gaps.write.clustered is None
    assert found.label_shares_clustered is None
    assert cell.groups == 1


def test_types_partition_the_questions() -> None:
    items = [
        replace(each, type="date" if each.question_id == "q0" else "fact")
        for each in items_of([1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0])
    ]
    found = diagnose(items).by_type
    assert list(found) == ["date", "fact"]
    assert (found["date"].write.value, found["date"].write.n, found["date"].write.interval) == (1.0, 1, None)
    assert (found["fact"].write.value, found["fact"].retrieval.value) == (0.0, 0.5)


def test_the_same_items_in_another_system_give_the_same_draws() -> None:
    items = items_of(hundred(60), hundred(50), hundred(30))
    other = diagnose_cell(CellName("synthetic", "extractive", "other"), items, 500, 0.02, seed=17)
    assert other.metrics == diagnose(items).metrics
    assert diagnose_cell(NAME, items, 500, 0.02, seed=18).metrics != other.metrics


def test_renaming_every_id_changes_nothing() -> None:
    items = items_of(hundred(60), hundred(50), hundred(30))
    renamed = [replace(i, question_id=f"x{9999 - int(i.question_id[1:])}", group=f"z{i.group}") for i in items]
    assert diagnose(renamed) == diagnose(items)


def test_an_answer_scored_twice_is_refused() -> None:
    items = items_of([1.0], [1.0], [1.0])
    with pytest.raises(InputError, match=r"'q0' was scored twice under NM"):
        diagnose([*items, items[0]])


def test_nothing_scored_names_the_cell_and_has_its_own_exit_code() -> None:
    with pytest.raises(NothingScoredError, match=r"'summary' on 'synthetic'.*of 1 questions 1 have") as caught:
        diagnose(items_of([1.0], [None], [1.0]))
    assert caught.value.exit_code == 3
    with pytest.raises(NothingScoredError, match="of 0 questions"):
        diagnose([])


def test_mean_over_readers_is_the_mean_of_each_readers_mean() -> None:
    readers = {
        "a": items_of([1.0, 1.0], [1.0, 0.0], [0.0, 0.0]),
        "b": items_of([1.0, 0.0], [1.0, 0.0], [1.0, 0.0]),
        "c": items_of([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]),
    }
    cell = diagnose(average_readers(readers))
    gaps = cell.metrics["contains_match"].gaps
    assert [gaps.oe.value, gaps.csm.value, gaps.rm.value] == [float(Fraction(n, 6)) for n in (3, 2, 1)]
    assert exact_mean([1 / 3, 2 / 3]) == Fraction(1, 2)
    assert cell.outcomes == ()


def test_averaging_readers_drops_what_one_reader_missed_and_refuses_unlike_questions() -> None:
    both = average_readers({"a": items_of([1.0], [1.0], [1.0]), "b": items_of([1.0], [None], [1.0])})
    assert [(each.status, each.contains_match) for each in both if each.condition == "CSM"] == [("truncated", None)]
    with pytest.raises(InputError, match="reader 'b' answered other questions than 'a'"):
        average_readers({"a": items_of([1.0], [1.0], [1.0]), "b": items_of([1.0] * 2, [1.0] * 2, [1.0] * 2)})


def test_systems_that_answer_alike_are_one_group_and_a_clear_loser_is_not() -> None:
    systems = {
        "worst": items_of(hundred(90), hundred(10), hundred(5)),
        "good": items_of(hundred(90), hundred(50), hundred(40)),
        "best": items_of(hundred(90), hundred(51), hundred(40)),
    }
    found = rank_systems("synthetic", "extractive", systems, "CSM", "contains_match", 2000, seed=17)
    assert found.groups == (("best", "good"), ("worst",))
    first = found.comparisons[0]
    assert (first.first, first.second, first.difference.value) == ("best", "good", 0.01)
    # The one question that differs is absent from a draw of 100 with probability .99 ** 100 = .366.
    assert first.p == pytest.approx(0.366, abs=0.05)
    assert rank_systems("b", "r", {"one": systems["good"]}, "RM", "token_f1", 10, seed=1).groups == (("one",),)


def test_tie_groups_compare_with_the_first_of_the_group() -> None:
    def pair(first: str, second: str, low: float) -> Comparison:
        return Comparison(first, second, Estimate(0.1, 9, Interval(low, 0.2)), None, None)

    pairs = [pair("a", "b", -0.1), pair("a", "c", 0.05), pair("b", "c", -0.1)]
    assert tie_groups(["a", "b", "c"], pairs) == (("a", "b"), ("c",))


def test_metric_agreement_counts_pairs_ordered_alike() -> None:
    cells = []
    for name, right in (("a", 60), ("b", 50)):
        items = items_of(hundred(90), hundred(right), hundred(right - 20))
        flipped = [replace(i, token_f1=0.9 if name == "b" and i.condition == "RM" else i.token_f1) for i in items]
        cells.append(diagnose_cell(replace(NAME, system=name), flipped, 10, 0.02, seed=1))
    # Contains match: .6 .4 .5 .3; token F1: .6 .4 .5 .9. The last point is now above the three others.
    assert metric_agreement(cells, "contains_match", "token_f1") == (3, 6)
