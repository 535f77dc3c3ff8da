"""Expected Predictive Compression: units, utility, exact greedy, and what becomes of a writer's failures."""

from collections.abc import Sequence
from itertools import pairwise
from sys import float_info

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.errors import InputError
from memgauge.memory.base import Tools
from memgauge.memory.epc import GENERIC, Epc
from memgauge.memory.evidence_units import NEAR_EQUAL, Evidence, gather
from memgauge.memory.selection import DETAILS, Unit, Utility, select
from memgauge.memory.session_notes import Planned
from memgauge.protocol.conditions import write_store
from memgauge.records import History, Result, Session, Turn, Usage
from memgauge.tasks.propose_questions import ProposeQuestions
from memgauge.tasks.select_evidence import EvidenceRecord, SelectEvidence, Selection
from memgauge.text.render import entry_tokens

TEXTS = ("I moved to Lisbon on 3 March.", "Great!", "I hate peanuts.", "Zoe has two cats.")


def history(sessions: int = 4, texts: Sequence[str] = TEXTS) -> History:
    return History("h", "g", "test", tuple(_session(at, texts) for at in range(sessions)))


def _session(at: int, texts: Sequence[str]) -> Session:
    turns = tuple(Turn(f"t{at}.{turn}", "Ann" if turn % 2 else "Bob", text) for turn, text in enumerate(texts))
    return Session(f"s{at}", f"2023-0{at % 9 + 1}-05T10:00", turns)


class Writer:
    """Asks one question a turn and keeps the turn; what it should answer instead may be given by task name."""

    def __init__(self, **instead) -> None:
        self.instead = instead
        self.calls = []

    def solve(self, tasks):
        self.calls.append(list(tasks))
        return [Result(None, "parse_error", Usage(7, 3, 1)) if out is None else Result(out, "ok", Usage(9, 4, 1))
                for out in map(self._output, tasks)]  # fmt: skip

    def _output(self, task):
        if task.name in self.instead:
            return self.instead[task.name](task)
        if isinstance(task, ProposeQuestions):
            return tuple(f"What about {text}" for _, text in task.turns)[: task.count]
        questions = task.questions or tuple(f"What did turn {at} say?" for at in range(len(task.turns)))
        records = (
            EvidenceRecord(question, ": ".join(task.turns[at % len(task.turns)]), (at % len(task.turns),))
            for at, question in enumerate(questions)
        )
        return Selection(tuple(records))


class NoEncoder:
    def encode(self, texts):
        return np.zeros((len(texts), 4), dtype=np.float32)


def write(system: Epc, solver: Writer, of: History, budget: int = 2000):
    return system.write(of, budget, Tools(solver, NoEncoder()))


def planned(session: Session, position: int = 0, share: int = 10**6) -> Planned:
    return Planned(position, session, share)


# --- utility and greedy


def test_the_utility_by_hand() -> None:
    unit = Unit(10, 2, 3, frozenset({"thai", "food", "user", "likes"}))
    assert Utility().of(unit, {"user", "went"}) == pytest.approx(1.0 * 2 + 0.5 * 3 / DETAILS - 0.3 * 1 / 4)
    assert Utility().of(Unit(1, 1, 99, frozenset()), {"x"}) == pytest.approx(1.5)


def test_the_greedy_takes_turns_with_redundancy() -> None:
    tea = frozenset({"tea", "green"})
    units = [Unit(10, 1, 0, tea), Unit(10, 1, 0, tea), Unit(10, 1, 0, frozenset({"oslo"})), Unit(50, 9, 9, frozenset())]
    assert select(units, 30, Utility(), set()) == [0, 2, 1]
    assert select(units, 29, Utility(), set()) == [0, 2]
    assert select(units, 60, Utility(), set()) == [3, 0]
    assert select(units, 30, Utility(), {"tea", "green"}) == [2, 0, 1]


def scan(units: Sequence[Unit], budget: int, utility: Utility, held: set[str]) -> list[int]:
    """The greedy as it is defined: every open unit weighed anew at every step."""
    chosen: list[int] = []
    open_ = dict(enumerate(units))
    while fitting := {at: unit for at, unit in open_.items() if unit.cost <= budget}:
        best = max(fitting, key=lambda at: (utility.of(units[at], held), -at))
        chosen.append(best)
        budget -= units[best].cost
        held = held | units[best].words
        del open_[best]
    return chosen


UNITS = st.builds(
    Unit,
    st.integers(1, 30),
    st.integers(0, 3),
    st.integers(0, 7),
    st.frozensets(st.sampled_from("abcdefghijkl"), max_size=8),
)
WEIGHT = st.one_of(st.sampled_from([0.0, 0.3, 1.0]), st.floats(0, 3), st.floats(0, float_info.min * 8))


@given(st.lists(UNITS, max_size=40), st.integers(0, 300), st.builds(Utility, WEIGHT, WEIGHT, WEIGHT), st.sets(
    st.sampled_from("abcdxyz"), max_size=4))  # fmt: skip
def test_lazy_evaluation_picks_what_a_full_scan_picks(units, budget, utility, held) -> None:
    expected = scan(units, budget, utility, set(held))
    assert select(units, budget, utility, set(held)) == expected
    left = budget - sum(units[at].cost for at in expected)
    assert left >= 0
    assert all(unit.cost > left for at, unit in enumerate(units) if at not in expected)


# --- units


def test_records_of_the_same_turns_become_one_three_line_record() -> None:
    session = _session(0, TEXTS)
    records = [EvidenceRecord("Where to?", "Bob moved to Lisbon.", (0,)), EvidenceRecord("When?", "On 3 March.", (0,))]
    (unit,) = gather(planned(session, position=11), records, merge=True)
    entry = unit.entry("7")
    assert entry.text == "[Q] Where to? When?\n[E] Bob moved to Lisbon. On 3 March.\n[S] session_12_turn_1"
    assert (entry.id, entry.sources, entry.date) == ("7", ("t0.0",), session.date)
    assert unit.unit().questions == 2
    assert len(gather(planned(session), records, merge=False)) == 2


def test_near_equal_statements_of_different_turns_merge_and_the_fuller_wording_stays() -> None:
    short, full = "Zoe has two grey cats", "Zoe has two grey cats here"
    records = [
        EvidenceRecord("Q1?", short, (1,)),
        EvidenceRecord("Q2?", full, (3,)),
        EvidenceRecord("Q3?", "No.", (2,)),
    ]
    first, second = gather(planned(_session(0, TEXTS)), records, merge=True)
    assert (first.questions, first.statements, first.turns) == (("Q1?", "Q2?"), (full,), (1, 3))
    assert second.turns == (2,)


def test_the_threshold_of_near_equality_is_inclusive() -> None:
    four, five, six = "a b c d", "a b c d e", "a b c d e f"
    assert pytest.approx(len(four.split()) / len(five.split())) == NEAR_EQUAL
    for other, units in ((five, 1), (six, 2)):
        records = [EvidenceRecord("Q1?", four, (0,)), EvidenceRecord("Q2?", other, (1,))]
        assert len(gather(planned(_session(0, TEXTS)), records, merge=True)) == units


def test_a_unit_never_outgrows_the_share_of_its_session_by_merging() -> None:
    records = [EvidenceRecord(f"Question {at}?", f"Statement number {at} about it.", (0,)) for at in range(30)]
    units = gather(planned(_session(0, TEXTS), share=90), records, merge=True)
    assert 1 < len(units) < 30
    assert all(unit.cost() <= 90 for unit in units)
    assert [question for unit in units for question in unit.questions] == [record.question for record in records]


@given(st.lists(st.builds(
    EvidenceRecord, st.sampled_from(["Q1?", "Q2?", "Q3?"]), st.text("ab c", min_size=1, max_size=12).filter(str.strip),
    st.lists(st.integers(0, 3), min_size=1, max_size=2, unique=True).map(sorted).map(tuple)), max_size=12))  # fmt: skip
def test_merging_loses_no_question_and_no_source(records) -> None:
    units = gather(planned(_session(0, TEXTS)), records, merge=True)
    for record in records:
        assert any(record.question in unit.questions and set(record.turns) <= set(unit.turns) for unit in units)
    assert sum(len(unit.statements) for unit in units) <= len(set(records))


def test_details_are_names_dates_and_numbers_but_no_speakers() -> None:
    session = _session(0, TEXTS)
    one = Evidence(planned(session), ("?",), ("Ann: Zoe has two cats since 3 March 2021.", "Zoe paid $40."), (0,))
    assert one.details() == 4  # Zoe, two, 3 March 2021, $40


# --- the system


@pytest.mark.parametrize("budget", [1, 30, 60, 100, 200, 500, 10**6])
@pytest.mark.parametrize("options", [{}, {"merge": False}, {"probing": "none"}, {"probing": "random"}])
def test_the_write_budget_holds_in_total_and_nothing_more_fits(budget, options) -> None:
    written = write(Epc(**options), Writer(), history(), budget)
    spent = sum(map(entry_tokens, written.entries))
    assert spent <= budget
    everything = write(Epc(**options), Writer(), history(), 10**6).entries
    left_out = {entry.text for entry in everything} - {entry.text for entry in written.entries}
    if budget >= 200 and "merge" in options:  # with merging a smaller share makes other units
        assert all(entry_tokens(entry) > budget - spent for entry in everything if entry.text in left_out)


def test_two_calls_of_the_solver_serve_all_sessions() -> None:
    solver = Writer()
    write(Epc(questions=3), solver, history())
    proposals, selections = solver.calls
    assert [len(proposals), len(selections)] == [4, 4]
    assert all(isinstance(task, ProposeQuestions) and task.count == 3 for task in proposals)
    assert all(isinstance(task, SelectEvidence) and len(task.questions) == 3 for task in selections)
    assert [task.session for task in selections] == [0, 1, 2, 3]


def test_entries_are_records_of_their_session_in_history_order() -> None:
    of = history()
    written = write(Epc(), Writer(), of)
    dates = {turn.id: session.date for session, turn in of.turns()}
    order = list(dates)
    for entry in written.entries:
        assert [line[:4] for line in entry.text.splitlines()] == ["[Q] ", "[E] ", "[S] "]
        assert {dates[source] for source in entry.sources} == {entry.date}
    assert all(order.index(a.sources[0]) <= order.index(b.sources[0]) for a, b in pairwise(written.entries))
    assert [entry.id for entry in written.entries] == [str(at) for at in range(len(written.entries))]


def test_a_store_names_every_guessed_question_once_whatever_became_of_it() -> None:
    def selected(task):
        return None if task.session else Selection((EvidenceRecord(" ".join(task.questions), "Zoe.", (3,)),))

    def proposed(task):
        return ("Who is Zoe?", "What was lost?" if task.date.startswith("2023-02") else "Where is she?")

    writer = Writer(propose_questions=proposed, select_evidence=selected)
    store = write_store(Epc(), history(2), 2000, Tools(writer, NoEncoder()))
    assert [entry.text.splitlines()[0] for entry in store.entries] == ["[Q] Who is Zoe? Where is she?"]
    assert store.probes == ("Who is Zoe?", "Where is she?", "What was lost?")
    assert write(Epc(probing="none"), Writer(), history()).probes == ()


def test_without_probing_nobody_proposes() -> None:
    solver = Writer()
    write(Epc(probing="none"), solver, history())
    assert [{task.name for task in call} for call in solver.calls] == [{"select_evidence"}]
    assert all(task.questions == () for task in solver.calls[0])


def test_random_probes_come_from_other_sessions_and_are_the_same_every_time() -> None:
    texts = [f"Turn {at}" for at in range(5)]
    own = {at: {f"What about {text} of {at}" for text in texts} for at in range(4)}
    of = History("h", "g", "test", tuple(_session(at, [f"{text} of {at}" for text in texts]) for at in range(4)))
    drawn = []
    for _ in range(2):
        solver = Writer()
        write(Epc(probing="random"), solver, of)
        drawn.append([task.questions for task in solver.calls[1]])
    assert drawn[0] == drawn[1]
    for at, questions in enumerate(drawn[0]):
        assert len(set(questions)) == 5
        assert not own[at].intersection(questions)
    assert drawn[0][0] != drawn[0][1]


def test_a_lone_session_gets_generic_random_probes() -> None:
    solver = Writer()
    write(Epc(probing="random"), solver, history(1))
    assert set(solver.calls[1][0].questions) <= set(GENERIC)


def test_an_unknown_way_of_probing_is_refused() -> None:
    with pytest.raises(InputError, match="'oracle'; choose from self, none, random"):
        write(Epc(probing="oracle"), Writer(), history())


def test_a_failed_proposal_and_a_failed_selection_lose_their_session_and_are_counted() -> None:
    def proposed(task):
        return None if task.date == "2023-01-05T10:00" else ("Who?",)

    def selected(task):
        return None if task.session == 2 else Selection((EvidenceRecord("Who?", f"Zoe {task.session}", (0,)),))

    written = write(Epc(), Writer(propose_questions=proposed, select_evidence=selected), history())
    assert [entry.date for entry in written.entries] == ["2023-02-05T10:00", "2023-04-05T10:00"]
    assert (written.counts["proposals_failed"], written.counts["selections_failed"]) == (1, 1)
    assert written.counts["status_parse_error"] == 2
    assert (written.counts["writer_tasks"], written.counts["writer_calls"]) == (7, 7)


def test_refused_records_and_made_up_turns_are_counted_and_never_kept() -> None:
    good, wild = EvidenceRecord("Who?", "Zoe.", (3,)), EvidenceRecord("Who?", "Eve.", (3, 44))
    selection = Selection((good, wild), ("malformed", "made_up_source"))
    written = write(Epc(), Writer(select_evidence=lambda task: selection), history(1))
    assert [entry.text for entry in written.entries] == ["[Q] Who?\n[E] Zoe.\n[S] session_1_turn_4"]
    assert (written.counts["records_made_up_source"], written.counts["records_malformed"]) == (2, 1)
    assert written.counts["records"] == 1


@pytest.mark.parametrize(
    "replies",
    [
        ("", ""),
        ("Ann moved to Lisbon.", "Ann moved to Lisbon."),
        ("1. Who?", "[Q] Who?\n[E] Eve.\n[S] session_9_turn_9"),
        ("\n".join(f"{n}. Who is {n}?" for n in range(1, 10_001)), "NONE"),
        ("1. 誰が?", "[Q] 誰が?\n[E] 北京\n[S] 第一回"),
    ],
)
def test_garbage_of_a_model_writes_nothing_and_shows_in_the_counts(replies) -> None:
    class Model:
        def solve(self, tasks):
            parsed = [task.parse(replies[task.name == "select_evidence"]) for task in tasks]
            return [Result(one, "ok") if isinstance(one, tuple | Selection) else Result(None, "parse_error")
                    for one in parsed]  # fmt: skip

    store = write_store(Epc(), history(), 2000, Tools(Model(), NoEncoder()))
    assert store.entries == ()
    told = ("status_parse_error", "records_made_up_source", "records_malformed", "questions_surplus")
    assert sum(store.counts.get(name, 0) for name in told) >= 4
    assert store.warnings == ("empty store",)


def test_thousands_of_records_stay_within_the_budget() -> None:
    records = tuple(EvidenceRecord(f"Who is {n}?", f"Zoe lives at {n}.", (n % 4,)) for n in range(2000))
    written = write(Epc(), Writer(select_evidence=lambda task: Selection(records)), history(1))
    assert written.counts["records"] == 2000
    assert 1500 < sum(map(entry_tokens, written.entries)) <= 2000


def test_a_huge_statement_is_left_out_and_counted() -> None:
    selection = Selection((EvidenceRecord("Who?", "Lisbon " * 3000, (0,)), EvidenceRecord("Who?", "Zoe.", (3,))))
    written = write(Epc(), Writer(select_evidence=lambda task: selection), history(1))
    assert [entry.sources for entry in written.entries] == [("t0.3",)]
    assert written.counts["units_too_long"] == 1
