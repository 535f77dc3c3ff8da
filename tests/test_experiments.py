"""The experiments' own arithmetic on hand-made items: changes, sweeps, ablations, costs, breakdowns, cases."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from memgauge.errors import InputError, NothingScoredError
from memgauge.experiments.ablations import FULL, ablation_variants, changed_stores
from memgauge.experiments.agreement import agreement
from memgauge.experiments.breakdown import ALIGNED, APART, EVERYTHING, alignments, break_down
from memgauge.experiments.budget_sweep import sweep_variants
from memgauge.experiments.cases import KINDS, System, count_kept, find_cases, keeps
from memgauge.experiments.cost_matched import write_cost
from memgauge.experiments.degrade import damaged_gap, verdict
from memgauge.experiments.significance import Arm, Change, Statistics, experiment, gap_change
from memgauge.experiments.weights import spread
from memgauge.metrics.scoring import ScoredItem
from memgauge.protocol.diagnosis import CellName, diagnose_cell
from memgauge.protocol.variants import Kept
from memgauge.records import Answer, Benchmark, Entry, History, Question, Session, Store, Turn
from memgauge.stats.intervals import Estimate, Interval

STATISTICS = Statistics(draws=500, margin=0.02, seed=17)
Scores = Sequence[float | None]


def item(question: int, condition: str, score: float | None, **changes: object) -> ScoredItem:
    plain = ScoredItem(
        question_id=f"q{question}",
        history_id="h",
        group=f"g{question % 4}",
        type="fact",
        condition=condition,
        status="truncated" if score is None else "ok",
        abstention=False,
        refused=False,
        contains_match=score,
        contains_match_strict=score,
        token_f1=score,
        locomo_f1=None,
        answer_tokens=1,
        context_tokens=1,
        unscorable=None,
        turn_recall=None,
        span_recall=None,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def items_of(oe: Scores, csm: Scores, rm: Scores) -> list[ScoredItem]:
    return [
        item(question, condition, score)
        for question, scores in enumerate(zip(oe, csm, rm, strict=True))
        for condition, score in zip(("OE", "CSM", "RM"), scores, strict=True)
    ]


def ones(right: int, total: int = 10) -> list[float]:
    return [1.0] * right + [0.0] * (total - right)


BASE = items_of(ones(9), ones(6), ones(5))
WORSE = items_of(ones(9), ones(3), ones(3))


def test_changes_of_both_gaps_computed_by_hand() -> None:
    change = gap_change(BASE, WORSE, STATISTICS)
    values = [each.value for each in (change.csm, change.rm, change.write, change.retrieval)]
    assert values == pytest.approx([-0.3, -0.2, 0.3, -0.1], abs=1e-12)
    assert change.csm.n == 10
    assert change.p == 1.0


def test_a_change_is_paired_so_equal_items_change_nothing() -> None:
    change = gap_change(BASE, BASE, STATISTICS)
    assert (change.csm.value, change.csm.interval) == (0.0, Interval(0.0, 0.0))
    assert change.write.interval == change.retrieval.interval == Interval(0.0, 0.0)


def test_changes_are_antisymmetric() -> None:
    there, back = gap_change(BASE, WORSE, STATISTICS), gap_change(WORSE, BASE, STATISTICS)
    assert there.write.interval is not None
    assert back.write.interval is not None
    assert (there.write.interval.low, there.write.interval.high) == pytest.approx(
        (-back.write.interval.high, -back.write.interval.low), abs=1e-9
    )


def test_a_question_missing_in_either_arm_leaves_the_change() -> None:
    missing = items_of(ones(9), [None, *ones(2, 9)], ones(3))
    change = gap_change(BASE, missing, STATISTICS)
    assert change.csm.n == change.retrieval.n == 9
    assert change.csm.value == pytest.approx(-3 / 9)


def test_an_experiment_puts_its_base_first_and_names_arms_without_a_score() -> None:
    dead = items_of(ones(9), [None] * 10, ones(3))
    found = experiment("b", "r", {"worse": WORSE, "dead": dead, "base": BASE}, "base", STATISTICS)
    assert [arm.name for arm in found.arms] == ["base", "worse"]
    assert found.arms[0].change is None
    assert list(found.unscored) == ["dead"]
    with pytest.raises(NothingScoredError):
        experiment("b", "r", {"worse": WORSE, "dead": dead}, "dead", STATISTICS)


def test_a_sweep_orders_its_budgets_and_refuses_a_repeated_one() -> None:
    found = sweep_variants(["summary", "verbatim"], [4000, 1000], {"summary": {}, "verbatim": {"passage_tokens": 9}})
    assert [(each.name, each.write_budget_tokens) for each in found] == [
        ("summary at 1000", 1000),
        ("verbatim at 1000", 1000),
        ("summary at 4000", 4000),
        ("verbatim at 4000", 4000),
    ]
    assert found[1].options == {"passage_tokens": 9}
    with pytest.raises(InputError, match="must occur once"):
        sweep_variants(["summary"], [1000, 1000], {"summary": {}})


def test_an_arm_that_changes_no_store_is_told_from_one_that_does() -> None:
    entry = Entry("0", "x", ())
    stores = {name: Store(name, "s", (entry,), 1, 9) for name in ("h", "i")}
    other = {**stores, "i": Store("i", "s", (), 0, 9)}
    kept = [Kept("full", stores), Kept("same", dict(stores)), Kept("other", other)]
    assert changed_stores(kept) == {"same": (0, 2), "other": (1, 2)}


def test_an_arm_changes_only_its_own_options() -> None:
    options = {"extractive": {"date": 2.0, "entity": 1.0}, "summary": {}}
    full, arm, reference = ablation_variants("extractive", {"no_dates": {"date": 0.0}}, "summary", options, 500)
    assert (full.name, full.options) == (FULL, {"date": 2.0, "entity": 1.0})
    assert (arm.name, arm.options) == ("no_dates", {"date": 0.0, "entity": 1.0})
    assert (reference.name, reference.system, reference.options) == ("summary", "summary", {})
    assert {each.write_budget_tokens for each in (full, arm, reference)} == {500}
    assert options["extractive"]["date"] == 2.0


@pytest.mark.parametrize("name", [FULL, "summary"])
def test_an_arm_named_like_what_it_is_compared_with_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="rename the arm"):
        ablation_variants("extractive", {name: {}}, "summary", {"extractive": {}, "summary": {}}, 500)


def test_the_spread_of_weights_leaves_the_reference_out() -> None:
    arms = {
        "full": BASE,
        "low": items_of(ones(9), ones(4), ones(4)),
        "high": items_of(ones(9), ones(7), ones(5)),
        "summary": items_of(ones(9), ones(5), ones(5)),
    }
    found = spread(experiment("b", "r", arms, "full", STATISTICS), "summary")
    assert found is not None
    assert (found.low, found.high, found.most_harmful) == (0.4, 0.7, "low")
    assert found.largest_drop == pytest.approx(-0.2)
    assert found.below_reference == ("low",)


def test_write_costs_are_totals_and_shares_per_session() -> None:
    counts = {"sessions_total": 4, "writer_tasks": 8, "writer_calls": 8, "writer_input_tokens": 100}
    stores = [
        Store("a", "epc", (), 50, 99, {**counts, "status_parse_error": 2}),
        Store("b", "epc", (), 30, 99, counts),
    ]
    cost = write_cost("epc", stores)
    assert (cost.sessions, cost.tasks, cost.calls, cost.store_tokens, cost.failures) == (8, 16, 16, 80, 2)
    assert (cost.per_session(cost.calls), cost.per_session(cost.input_tokens)) == (2.0, 25.0)
    assert write_cost("none", []).per_session(3) is None


def arm(name: str, write: tuple[float, float], retrieval: tuple[float, float]) -> Arm:
    cell = diagnose_cell(CellName("b", "r", name), BASE, 10, 0.02, 17)
    middle = [Estimate((low + high) / 2, 10, Interval(low, high)) for low, high in (write, retrieval)]
    return Arm(name, cell, Change(middle[0], middle[0], *middle, None, None))


@pytest.mark.parametrize(
    ("name", "write", "retrieval", "said"),
    [
        ("drop 25%", (0.1, 0.3), (-0.1, 0.1), "only its own gap rises"),
        ("drop 25%", (0.1, 0.3), (-0.3, -0.1), "only its own gap rises"),
        ("drop 25%", (0.1, 0.3), (0.1, 0.2), "also raises the other gap"),
        ("drop 25%", (0.0, 0.3), (0.0, 0.0), "does not raise its gap"),
        ("bottom 50%", (0.0, 0.0), (0.1, 0.3), "only its own gap rises"),
        ("oracle writer", (0.1, 0.3), (0.0, 0.0), None),
    ],
)
def test_verdict_on_damage(
    name: str, write: tuple[float, float], retrieval: tuple[float, float], said: str | None
) -> None:
    assert verdict(arm(name, write, retrieval)) == said
    assert (damaged_gap(name) is None) == (said is None)


PROBED = Store(
    "h", "epc", (Entry("0", "[Q] zzz\n[E] Rome\n[S] session_1_turn_1", ()),), 9, 9, probes=("Where?", "When?")
)


class Letters:
    """Unit vectors of letter counts."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), 128), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for letter in text:
                row[ord(letter) % 128] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_alignment_is_the_largest_cosine_to_one_guessed_question_of_the_own_history() -> None:
    asked = (
        Question("same", "h", "When?", "fact"),
        Question("far", "h", "zzz", "fact"),
        Question("none", "i", "?", "fact"),
    )
    stores = {"h": PROBED, "i": Store("i", "epc", (), 0, 9)}
    found = alignments(Benchmark("b", (), asked), stores, Letters())
    assert found == {"same": pytest.approx(1.0), "far": pytest.approx(0.0)}


def test_a_breakdown_splits_at_the_median_and_by_type() -> None:
    kinds = ["single-session-user", "single-session-assistant", "temporal", "temporal"]
    first = [item(at, "CSM", score, type=kinds[at]) for at, score in enumerate([1.0, 1.0, 0.0, 1.0])]
    second = [item(at, "CSM", score, type=kinds[at]) for at, score in enumerate([0.0, 1.0, 0.0, None])]
    alignment = {"q0": 0.9, "q1": 0.5, "q2": 0.1, "q3": 0.8}
    found = break_down("b", "r", ("epc", first), ("summary", second), alignment, STATISTICS)
    parts = {part.name: (part.difference.n, part.difference.value) for part in found.parts}
    assert found.median_alignment == 0.5  # q3 was not answered from both stores
    assert parts == {
        EVERYTHING: (3, pytest.approx(1 / 3)),
        "single-session-assistant": (1, 0.0),
        "single-session-user": (1, 1.0),
        "temporal": (1, 0.0),
        "single-session": (2, 0.5),
        ALIGNED: (2, 0.5),
        APART: (1, 0.0),
    }
    assert found.without_alignment == 0


def test_a_breakdown_without_probe_questions_has_no_halves() -> None:
    items = [item(at, "CSM", 1.0) for at in range(3)]
    found = break_down("b", "r", ("a", items), ("b", items), {}, STATISTICS)
    assert [part.name for part in found.parts] == [EVERYTHING, "fact"]
    assert (found.median_alignment, found.without_alignment) == (None, 3)


def test_agreement_counts_pairs_and_lists_those_ordered_apart() -> None:
    cells = []
    for name, csm, f1 in (("a", 6, 0.3), ("b", 4, 0.5)):
        items = items_of(ones(9), ones(csm), ones(csm - 2))
        changed = [replace(each, token_f1=f1 if each.condition == "CSM" else f1 / 2) for each in items]
        cells.append(diagnose_cell(CellName("x", "r", name), changed, 1, 0.0, 0))
    found = agreement(cells, "contains_match", "token_f1")
    # a CSM 6/.3, a RM 4/.15, b CSM 4/.5, b RM 2/.25: alike a-a, b-b and a CSM - b RM; a RM ties b CSM.
    assert (found.alike, found.pairs, found.tied) == (3, 6, 1)
    apart = [(one.system + one.condition, other.system + other.condition) for one, other in found.apart]
    assert apart == [("aCSM", "bCSM"), ("aRM", "bCSM"), ("aRM", "bRM")]
    assert found.orders["CSM"] == (("a", "b"), ("b", "a"))


TURNS = (
    Turn("t0", "Ann", "I moved to Rome in May"),
    Turn("t1", "Ann", "Rome is hot"),
    Turn("t2", "Ann", "I like fish"),
)
HISTORY = History("h", "g", "test", (Session("s", None, TURNS),))
QUESTIONS = tuple(
    Question(f"q{at}", "h", f"Question {at}?", kind, ("Rome",), None, evidence)
    for at, (kind, evidence) in enumerate((("a", ("t0",)), ("a", ("t1",)), ("b", ("t0",)), ("b", ())))
)
PREPARED = Benchmark("b", (HISTORY,), QUESTIONS)
FISH = replace(QUESTIONS[0], golds=("fish",), evidence=("t2",))


def system(name: str, scores: Scores, text: str) -> System:
    items = {f"q{at}": item(at, "CSM", score, type=QUESTIONS[at].type) for at, score in enumerate(scores)}
    store = Store("h", name, (Entry("0", text, ()), Entry("1", "other words", ())), 9, 9)
    answers = {f"q{at}": Answer(f"q{at}", "CSM", f"{name} {at}", "ok", 1) for at in range(4)}
    return System(name, {"h": store}, items, answers)


KEEPER = system("epc", [0.0, 1.0, 1.0, 1.0], "Ann: I moved to Rome in May")
LOSER = system("summary", [0.0, 0.0, 0.0, 0.0], "Ann: My cat is Mo, I moved")


def test_cases_come_right_against_wrong_first_and_from_different_types() -> None:
    cases = find_cases(PREPARED, KEEPER, LOSER, 5)
    assert [case.question.id for case in cases] == ["q1", "q2", "q0"]  # q3 names no evidence turn
    assert [case.question.id for case in find_cases(PREPARED, KEEPER, LOSER, 1)] == ["q1"]
    assert find_cases(PREPARED, LOSER, KEEPER, 5) == []


def test_a_case_quotes_the_nearest_entries_and_both_answers() -> None:
    case = find_cases(PREPARED, KEEPER, LOSER, 5)[1]
    assert case.evidence == ("Ann: I moved to Rome in May",)
    assert case.keeper.entries == (("Ann: I moved to Rome in May", 1.0),)
    assert case.loser.entries[0] is not None
    assert case.loser.entries[0][0] == "Ann: My cat is Mo, I moved"
    assert (case.keeper.answer, case.keeper.right, case.loser.right) == ("epc 2", True, False)


def test_questions_are_counted_by_type_and_by_who_keeps_them() -> None:
    assert count_kept(PREPARED, KEEPER, LOSER) == {
        "a": dict.fromkeys(KINDS, 0) | {"first only": 2},
        "b": dict.fromkeys(KINDS, 0) | {"first only": 1},
    }
    assert count_kept(PREPARED, LOSER, LOSER)["a"]["neither keeps it"] == 2


def test_what_a_store_keeps_is_told_by_its_answer_or_by_the_gold_standing_in_it() -> None:
    wrong = system("wrong", [0.0] * 3, "Ann: I like the smoked fish of Rome.")
    assert keeps(wrong, QUESTIONS[0], ["Ann: I moved to Rome"]) is True
    assert keeps(wrong, FISH, ["Ann: I like fish"]) is True
    assert keeps(wrong, replace(FISH, golds=("meat",)), ["Ann: I like meat"]) is False
    assert keeps(system("right", [1.0], "nothing"), QUESTIONS[0], ["Ann: I moved to Rome"]) is True


def test_what_no_evidence_turn_says_in_words_cannot_be_looked_for() -> None:
    wrong = system("wrong", [0.0] * 3, "Ann: I like the smoked fish of Rome.")
    assert keeps(wrong, replace(FISH, golds=("55 days",)), ["Ann: I like fish"]) is None
    assert keeps(wrong, replace(FISH, golds=("No",)), ["Ann: No"]) is None
    assert keeps(wrong, replace(FISH, golds=(), abstention=True), []) is None
    assert keeps(wrong, QUESTIONS[3], ["Ann: Rome"]) is None  # never read
