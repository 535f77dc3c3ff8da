"""Cost: exact sums, unknown stays unknown, as-if tokens, and paper B's printed numbers against their arithmetic."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.errors import InputError
from memgauge.experiments.amortisation import through
from memgauge.experiments.qpc import Asked, QpcCell, asked_question, costs_of, priced_questions
from memgauge.experiments.qpc_quality import qualities, question_types
from memgauge.experiments.qpc_summaries import overlap, summaries_of
from memgauge.llm.prices import PriceRow
from memgauge.metrics.cost import (
    AsIfAsked,
    Billing,
    Tokens,
    add_roles,
    amortised,
    as_if,
    cost,
    cost_of,
    quality_per_cost,
    tokens_by_role,
    total,
    usage_tokens,
)
from memgauge.metrics.scoring import ScoredItem
from memgauge.records import Answer, Context, Result, Usage
from memgauge.report.qpc_published import agreement, implied_f1, published_costs, recomputed, value_of
from memgauge.tasks.answer_question import AnswerQuestion

SMALL = PriceRow("qwen2.5-7b", Decimal("0.04"), Decimal("0.10"))
LARGE = PriceRow("qwen3-14b", Decimal("0.10"), Decimal("0.24"), Decimal("0.05"))
BILLING = {
    "writer": Billing("smollm2", SMALL),
    "summariser": Billing("smollm2", SMALL),
    "qa": Billing("extractive", LARGE, "as if"),
}
ROWS = {row.system: row for row in published_costs().rows}


def usd(text: str) -> Fraction:
    return Fraction(text)


def near(value: Fraction | float, expected: str, digits: int = 3) -> bool:
    """Whether a value rounds to a printed one at its significant digits."""
    return f"{float(value):.{digits - 1}e}" == f"{float(expected):.{digits - 1}e}"


def asked(name: str, f1: float | None = 1.0, history: str = "h", kind: str = "single", **more: Any) -> Asked:
    tokens = more.pop("tokens", {"qa": Tokens(1, 1, 100, 0, 10)})
    return Asked(name, history, history, kind, f1, tokens, **more)


def cell(system: str, questions: Sequence[Asked], stores: dict[str, Any] | None = None, **more: Any) -> QpcCell:
    found = {each.history_id: {} for each in questions} if stores is None else stores
    return QpcCell("synthetic", system, "nothing to train", BILLING, found, tuple(questions), **more)


# The formula.


def test_cost_is_the_sum_over_kinds_of_tokens_at_their_own_price() -> None:
    assert cost(Tokens(1, 1, 1000, 400, 10), LARGE) == usd("82.4e-6")  # 600 x .10 + 400 x .05 + 10 x .24
    assert cost(Tokens(1, 1, 1000, 400, 10), SMALL) == usd("41e-6")  # without a cached price the input's own


def test_unknown_is_never_zero() -> None:
    assert cost(Tokens(1, 1, 5, 0, 1), None) is None
    assert cost(Tokens(tasks=3), SMALL) is None  # work of which nobody counted anything
    assert cost(Tokens(tasks=1, calls=1), SMALL) == 0  # a call that truly took nothing
    assert cost_of({}, {}) == 0
    assert total([usd("1"), None]) is None
    assert (
        cost_of({"qa": Tokens(1, 1, 5, 0, 1), "writer": Tokens(1, 1, 5)}, {**BILLING, "writer": Billing("x", None)})
        is None
    )
    with pytest.raises(InputError, match="role 'manager' took tokens and has no billing"):
        cost_of({"manager": Tokens(1, 1, 5)}, BILLING)


COUNTS = st.integers(0, 10_000)
TOKENS = st.builds(
    Tokens,
    tasks=st.just(0),
    calls=st.just(1),
    input=st.integers(5000, 10_000),
    cached=st.integers(0, 5000),
    output=COUNTS,
)


@given(st.lists(TOKENS, max_size=5))
def test_the_cost_of_a_sum_is_the_sum_of_costs(parts: list[Tokens]) -> None:
    together = add_roles([{"qa": part} for part in parts])
    assert cost_of(together, BILLING) == total(cost(part, LARGE) for part in parts)


def test_roles_are_read_from_the_counts_of_stores_and_contexts() -> None:
    counts = {
        "writer_tasks": 4,
        "writer_calls": 4,
        "writer_input_tokens": 800,
        "writer_cached_input_tokens": 300,
        "writer_output_tokens": 90,
        "chooser_tasks": 1,
        "status_parse_error": 1,
        "sessions_total": 24,
        "dropped_over_budget": 0,
    }
    assert tokens_by_role(counts) == {"writer": Tokens(4, 4, 800, 300, 90), "chooser": Tokens(tasks=1)}


# What a solver without a model would have been billed for.


NOTHING = Usage()


class Fixed:
    def __init__(self, usage: Usage = NOTHING) -> None:
        self.usage = usage

    def solve(self, tasks: Sequence[Any]) -> list[Result[Any]]:
        return [Result("Oslo", "ok", self.usage) for _ in tasks]


def words(text: str) -> int:
    return len(text.split())


def test_as_if_counts_the_rendered_prompt_and_the_answer() -> None:
    task = AnswerQuestion("Where does Ann live?", "Ann: I moved to Oslo")
    prompt = sum(words(message["content"]) for message in task.messages())
    assert prompt > 8
    assert as_if(task, "in Oslo", words) == Usage(prompt, 2, 1, estimated=True)
    longer = AnswerQuestion("Where does Ann live?", "Ann: I moved to Oslo in May")
    assert as_if(longer, "in Oslo", words).input_tokens == prompt + 2


def test_a_solver_without_a_model_is_metered_and_one_with_calls_is_left_alone() -> None:
    task = AnswerQuestion("Where?", "")
    (metered,) = AsIfAsked(Fixed(), words).solve([task])
    assert (metered.output, metered.usage) == ("Oslo", as_if(task, "Oslo", words))
    (paid,) = AsIfAsked(Fixed(Usage(7, 1, 1)), words).solve([task])
    assert paid.usage == Usage(7, 1, 1)
    assert not usage_tokens(metered.usage).unmetered
    assert usage_tokens(Usage()).unmetered


def test_a_question_is_built_from_the_records_of_stages() -> None:
    item = ScoredItem("q", "h", "g", "single", "RM", "ok", False, False, 1.0, 1.0, 0.5, 0.4, 1, 20, None, 1.0, 1.0)
    retrieved = Context(
        "q", "RM", "text", 20, counts={"chooser_tasks": 1, "chooser_calls": 1, "chooser_input_tokens": 9}
    )
    summary = Context(
        "q", "RM", "t", 1, counts={"summariser_tasks": 1, "summariser_calls": 1, "summariser_input_tokens": 30}
    )
    found = asked_question(item, [retrieved, summary], Answer("q", "RM", "Oslo", "ok", 1, Usage(60, 2, 1)), summary="t")
    assert found.tokens == {
        "chooser": Tokens(1, 1, 9),
        "summariser": Tokens(1, 1, 30),
        "qa": Tokens(1, 1, 60, 0, 2),
    }
    assert (found.f1, found.locomo_f1, found.answer, found.summary) == (0.5, 0.4, "Oslo", "t")


# Cells.


def test_stores_are_shared_by_their_own_questions_and_the_mean_is_the_formula() -> None:
    stores = {"a": {"writer": Tokens(9, 9, 1000, 0, 100)}, "b": {"writer": Tokens(9, 9, 3000, 0, 0)}}
    questions = [asked("1", history="a"), asked("2", history="b"), asked("3", history="b")]
    made = cell("x", questions, stores)
    costs = costs_of(made)
    assert (costs.stores, costs.questions, costs.served) == (2, 3, Fraction(3, 2))
    assert costs.write == (usd("50e-6") + usd("120e-6")) / 2
    assert costs.online == costs.qa == usd("12.4e-6")
    shares = [row.share for row in priced_questions(made)]
    assert shares == [usd("50e-6"), usd("60e-6"), usd("60e-6")]
    assert (
        costs.cost
        == amortised(costs.write, costs.online, Fraction(3, 2))
        == sum(shares, Fraction(0)) / 3 + usd("12.4e-6")
    )


def test_a_sample_of_questions_can_stand_for_all_that_a_store_serves() -> None:
    stores = {"a": {"writer": Tokens(9, 9, 1000, 0, 0)}, "b": {"writer": Tokens(9, 9, 3000, 0, 0)}}
    made = cell("x", [asked("1", history="a"), asked("2", history="b")], stores)
    (found,) = qualities([made], 50, 1, served=157)
    assert (found.served, costs_of(made, 157).served) == (157, 157)
    assert found.write == usd("80e-6") / 157
    assert found.cost == costs_of(made, 157).cost == usd("80e-6") / 157 + usd("12.4e-6")
    assert qualities([made], 50, 1)[0].served == 1


def test_stores_that_no_question_is_about_cost_nothing_here() -> None:
    costs = costs_of(cell("x", [asked("1")], {"h": {}, "other": {"writer": Tokens(1, 1, 10**6)}}))
    assert (costs.stores, costs.write) == (1, 0)


def test_wrong_cells_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="x on synthetic was asked no question"):
        costs_of(cell("x", []))
    with pytest.raises(InputError, match="has a question twice"):
        costs_of(cell("x", [asked("1"), asked("1")]))
    with pytest.raises(InputError, match="has no store of history 'h'"):
        costs_of(cell("x", [asked("1")], {"other": {}}))


def test_a_call_never_sent_is_free_but_a_role_never_counted_is_unknown() -> None:
    unsent = asked("2", None, tokens={"qa": Tokens(tasks=1)})
    costs = costs_of(cell("x", [asked("1"), unsent]))
    assert costs.online == usd("6.2e-6")
    assert costs_of(cell("x", [unsent])).online is None
    found = qualities([cell("x", [unsent, asked("1", tokens={"qa": Tokens(tasks=1)})])], 100, 1)[0]
    assert (found.cost, found.qpc.value, found.qpc.interval, found.f1.value) == (None, None, None, 1.0)


def test_quality_counts_missing_and_keeps_their_cost() -> None:
    questions = [asked("1", 1.0, strict=1.0), asked("2", 0.0, strict=0.0), asked("3", None)]
    (found,) = qualities([cell("x", questions)], 500, 3)
    assert (found.questions, found.missing, found.f1.value, found.strict, found.generous) == (3, 1, 0.5, 0.5, None)
    assert found.qpc.value == pytest.approx(0.5 / 0.124)
    assert found.qpc_qa.value == found.qpc.value
    assert found.qpc.interval is not None
    assert found.qpc.interval.holds(found.qpc.value)
    assert found.qpc.clustered is None  # one group cannot be resampled
    assert found.change is None


def test_constant_cost_makes_the_qpc_interval_that_of_f1_rescaled() -> None:
    scores = np.random.default_rng(5).random(40)
    (found,) = qualities([cell("x", [asked(str(at), float(f1)) for at, f1 in enumerate(scores)])], 2000, 7)
    assert found.qpc.interval is not None
    assert found.f1.interval is not None
    assert found.qpc.interval.low == pytest.approx(found.f1.interval.low / 0.124, rel=1e-6)
    assert found.qpc.interval.high == pytest.approx(found.f1.interval.high / 0.124, rel=1e-6)


def test_a_system_against_its_own_copy_differs_by_exactly_nothing() -> None:
    questions = [asked(str(at), at / 9, history="ab"[at % 2]) for at in range(10)]
    double = [asked(str(at), at / 9, history="ab"[at % 2], tokens={"qa": Tokens(1, 1, 200, 0, 20)}) for at in range(10)]
    base, same, dear = qualities(
        [cell("base", questions), cell("same", questions), cell("dear", double)], 400, 1, "base"
    )
    assert base.change is None
    assert same.change is not None
    assert same.change.interval is not None
    assert (same.change.value, same.change.interval.low, same.change.interval.high) == (0.0, 0.0, 0.0)
    assert dear.change is not None
    assert dear.qpc.value is not None
    assert base.qpc.value is not None
    assert dear.qpc.value == pytest.approx(base.qpc.value / 2)
    assert dear.change.interval is not None
    assert not dear.change.interval.holds(0.0)
    assert dear.qpc.clustered is not None


def test_other_questions_are_not_compared_and_zero_quality_has_an_interval() -> None:
    base, other = qualities(
        [cell("base", [asked("1"), asked("2")]), cell("other", [asked("1", 0.0), asked("3", 0.0)])], 100, 1, "base"
    )
    assert other.change is None
    assert (other.qpc.value, base.qpc.value) == (0.0, pytest.approx(1 / 0.124))
    assert other.qpc.interval is not None
    assert (other.qpc.interval.low, other.qpc.interval.high) == (0.0, 0.0)


def test_types_use_the_whole_runs_share_of_the_store() -> None:
    stores = {"h": {"writer": Tokens(1, 1, 1000, 0, 0)}}
    made = cell("x", [asked("1", kind="a"), asked("2", kind="b"), asked("3", kind="b")], stores)
    assert question_types([made]) == ("a", "b")
    (only,) = qualities([made], 10, 1, question_type="a")
    assert (only.question_type, only.questions) == ("a", 1)
    assert only.write == usd("40e-6") / 3
    assert qualities([made], 10, 1, question_type="c") == ()


@given(st.integers(0, 2**32), st.integers(2, 12))
@settings(max_examples=15, deadline=None)
def test_draws_do_not_depend_on_the_scale_of_prices(seed: int, count: int) -> None:
    """A hundred times the tokens is a hundredth of the QPC, interval included: no draw is lost in rounding."""
    generator = np.random.default_rng(seed)
    sizes, scores = generator.integers(1, 50, count), generator.random(count)

    def made(times: int) -> QpcCell:
        rows = [
            asked(str(at), float(f1), tokens={"qa": Tokens(1, 1, int(size) * times, 0, 0)})
            for at, (size, f1) in enumerate(zip(sizes, scores, strict=True))
        ]
        return cell("x", rows)

    small, large = (qualities([made(times)], 200, 1)[0].qpc for times in (1, 100))
    assert small.interval is not None
    assert large.interval is not None
    assert small.value is not None
    assert large.value == pytest.approx(small.value / 100)
    assert large.interval.low == pytest.approx(small.interval.low / 100, rel=1e-6)
    assert large.interval.high == pytest.approx(small.interval.high / 100, rel=1e-6)


def test_summaries_that_are_the_answer_show_in_their_overlap() -> None:
    answering = [
        asked("1", answer="Oslo", summary="Oslo.", summary_tokens=2),
        asked("2", answer="in May", summary="", summary_tokens=0),
    ]
    found = summaries_of(cell("x", answering))
    assert found is not None
    assert (found.summaries, found.mean_tokens, found.empty_share, found.same_share) == (2, 1.0, 0.5, 0.5)
    assert (found.of_summary, found.of_answer) == (1.0, 1.0)
    assert summaries_of(cell("x", [asked("1")])) is None
    assert overlap("", "Oslo") is None
    partly = overlap("Ann lives in Oslo", "Oslo now")
    assert partly is not None
    assert (partly.of_summary, partly.of_answer) == (0.25, 0.5)


# Paper B's arithmetic (its slips are recorded in the file of published numbers).


def test_reference_cost_of_the_reward() -> None:
    small = PriceRow("7B", Decimal(0), Decimal(str(float(value_of("price out 7B")))))
    large = PriceRow("14B", *(Decimal(str(float(value_of(f"price {kind} 14B")))) for kind in ("in", "out")))
    parts = [cost(Tokens(output=60), small), cost(Tokens(input=60, output=8), large)]
    assert total(parts) == value_of("C_ref") == usd("1.392e-5")


@pytest.mark.parametrize(
    ("system", "printed", "unrounded"),
    [
        ("memorycpt", "0.138", ".1384"),
        ("no_memory", "0.029", ".0287"),
        ("budgetmem", "0.015", ".0155"),
        ("memorycpt without QAR", "0.038", ".0384"),
        ("memorycpt without QAD", "0.131", ".1674"),
    ],
)
def test_printed_qpc_against_f1_by_cost(system: str, printed: str, unrounded: str) -> None:
    row = ROWS[system]
    found = recomputed(row)
    assert found is not None
    assert row.qpc == Fraction(printed) * 1000
    assert near(found, unrounded)
    ours = quality_per_cost(float(Fraction(row.f1 or 0, 1000)), Fraction(row.cost or 0, 100 * 10_000))
    assert ours == pytest.approx(float(found))
    assert agreement(row) == ("conflict" if system == "memorycpt without QAD" else "exact")


def test_rows_that_cannot_be_checked_are_open_and_one_is_bounded() -> None:
    assert {name for name, row in ROWS.items() if agreement(row) == "open"} == {
        "lightmem",
        "memoryos",
        "memory_r1",
        "memorycpt without FS",
    }
    bounds = implied_f1(ROWS["memorycpt without FS"])
    assert bounds is not None
    assert [f"{float(each):.3f}" for each in bounds] == ["0.438", "0.447"]


def test_claims_about_budgetmem() -> None:
    ours, theirs = ROWS["memorycpt"], ROWS["budgetmem"]
    assert near((ours.f1 or 0) / (theirs.f1 or 1), "1.284", 4)
    assert near((theirs.cost or 0) / (ours.cost or 1), "6.97")
    assert near(ours.qpc / theirs.qpc, "9.2", 2)
    assert near((recomputed(ours) or 0) / (recomputed(theirs) or 1), "8.95")


def test_no_f1_of_the_stated_range_explains_the_stated_cost() -> None:
    """Cost 25.23 at QPC .022 or .014 and F1 .312 or .433, each known to half its last digit."""
    assert Fraction(312, 1000) < Fraction(ROWS["no_memory"].f1 or 0, 1000)
    found = []
    half = Fraction(1, 2000)
    for f1 in (Fraction(312, 1000), Fraction(433, 1000)):
        for qpc in (Fraction(22, 1000), Fraction(14, 1000)):
            low, high = (f1 - half) / (qpc + half), (f1 + half) / (qpc - half)
            found.append((f"{float(low):.1f}", f"{float(high):.1f}"))
            assert not low <= Fraction("25.23") <= high
    assert found == [("13.8", "14.5"), ("21.5", "23.1"), ("19.2", "20.2"), ("29.8", "32.1")]


def test_two_readings_of_the_amortisation_table_and_why_both_cannot_hold() -> None:
    first, limit = value_of("C(1)", "locomo"), value_of("C(inf)", "locomo")
    write = first - limit
    assert near(write, "0.02565", 4)
    at = {questions: amortised(write, limit, questions) or Fraction(0) for questions in (50, 100, 314)}
    assert [f"{float(at[each]):.2e}" for each in at] == ["8.59e-04", "6.03e-04", "4.28e-04"]
    assert [f"{float(1 - at[each] / first):.3f}" for each in (50, 100)] == ["0.967", "0.977"]
    assert f"{quality_per_cost(0.479, at[314]):.3f}" == "0.112"
    assert at[314] != value_of("C(314)", "locomo")  # printed equal to the limit: only if writing were free

    write, online = through((1, first), (314, value_of("C(314)", "locomo")))
    assert (near(write, "0.02574", 4), near(online, "2.64e-4")) == (True, True)
    again = {questions: amortised(write, online, questions) or Fraction(0) for questions in (50, 100)}
    assert [f"{float(each):.2e}" for each in again.values()] == ["7.79e-04", "5.21e-04"]
    assert f"{float(1 - again[50] / first):.3f}" == "0.970"


def test_qa_cost_and_its_qpc_are_a_factor_of_ten_apart_from_the_printed() -> None:
    row = PriceRow("14B", Decimal("0.10"), Decimal("0.24"))
    # 5.6 output tokens a question on average: ten questions of 67 input tokens have 56.
    qa = (cost(Tokens(input=670, output=56), row) or Fraction(0)) / 10
    assert near(qa, "8.04e-6")
    assert f"{float(qa / value_of('C(inf)', 'locomo')):.3f}" == "0.023"
    assert qa / value_of("C(inf)", "locomo") < value_of("QA share of online cost", "locomo")
    found = quality_per_cost(0.479, qa)
    assert found == pytest.approx(5.95, abs=0.01)
    assert found == pytest.approx(float(value_of("QPC(QA) at alpha 0.8", "locomo")) / 10, rel=0.01)


def test_every_conflict_is_recorded_with_its_reason() -> None:
    verdicts = {each.where: each for each in published_costs().verdicts}
    assert sum(each.verdict == "conflict" for each in verdicts.values()) == 8
    assert verdicts["QPC of memorycpt without QAD"].verdict == "conflict"
    assert verdicts["C_ref"].verdict == "exact"
    assert all(each.remark for each in verdicts.values())
    assert value_of("F1 at depth 20/50", "locomo") != Fraction(ROWS["memorycpt"].f1 or 0, 1000)
