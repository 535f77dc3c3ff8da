"""The harness keeps both budgets, shows what a condition says, and lets nothing of the golds through."""

from dataclasses import dataclass, field

import pytest

from memgauge.errors import InputError, MemgaugeError
from memgauge.memory.base import Hit, Ranking, Tools, Written
from memgauge.protocol import conditions
from memgauge.protocol.answering import answer
from memgauge.protocol.conditions import complete, no_memory, oracle, recent, retrieved, write_store
from memgauge.records import Context, Entry, History, Question, Result, Session, Store, Turn, Usage
from memgauge.text.render import entry_tokens, render_turns
from memgauge.text.tokens import count_tokens

TOOLS = Tools(solver=None, encoder=None)
HISTORY = History(
    "h",
    "g",
    "test",
    (
        Session("s1", "2023-05-08T13:56", (Turn("t1", "Ann", "I adopted a cat."), Turn("t2", "Bob", "Lovely!"))),
        Session("s2", "2023-06-01", (Turn("t3", "Ann", "My cat is called Mo."), Turn("t4", "Bob", "Good name."))),
        Session("s3", None, (Turn("t5", "Ann", "Bye now."),)),
    ),
)
QUESTION = Question("q", "h", "Who is Mo?", "single-hop", ("a cat",), "2023-07-01", ("t3", "t1"))


@dataclass(frozen=True)
class Scripted:
    """A system that writes what it is told to."""

    entries: tuple[Entry, ...]
    counts: dict[str, int] = field(default_factory=dict)
    name = "scripted"

    def write(self, history, budget_tokens, tools):
        return Written(self.entries, self.counts)

    def retrieve(self, store, queries, tools):
        return [Ranking(()) for _ in queries]


def entries(count: int, text: str = "word " * 20) -> tuple[Entry, ...]:
    return tuple(Entry(str(at), f"{at}: {text}", ("t1",), "2023-05-08") for at in range(count))


def store(count: int, text: str = "word " * 20) -> Store:
    return write_store(Scripted(entries(count, text)), HISTORY, 10**6, TOOLS)


def hits(*positions: int) -> Ranking:
    return Ranking(tuple(Hit(position, -float(rank)) for rank, position in enumerate(positions)))


def test_entries_beyond_the_write_budget_are_dropped_whole_and_counted():
    cost = entry_tokens(entries(1)[0])
    kept = write_store(Scripted(entries(5)), HISTORY, 3 * cost + cost - 1, TOOLS)
    assert [each.id for each in kept.entries] == ["0", "1", "2"]
    assert kept.counts["dropped_over_budget"] == 2
    assert kept.tokens == 3 * cost <= kept.budget_tokens


def test_nothing_after_the_first_entry_over_budget_is_kept():
    big, small = Entry("big", "word " * 99, ()), Entry("small", "w", ())
    assert write_store(Scripted((big, small)), HISTORY, 50, TOOLS).entries == ()


def test_a_made_up_source_is_dropped_and_counted():
    kept = write_store(Scripted((Entry("0", "x", ("t1", "nowhere", "t4")),)), HISTORY, 100, TOOLS)
    assert kept.entries[0].sources == ("t1", "t4")
    assert kept.counts["sources_unknown"] == 1


def test_coverage_counts_turns_and_sessions_of_the_kept_entries():
    kept = write_store(Scripted((Entry("0", "x", ("t1", "t2", "t1")),), {"mine": 3}), HISTORY, 100, TOOLS)
    assert {key: kept.counts[key] for key in ("entries", "turns_total", "turns_covered", "mine")} == {
        "entries": 1,
        "turns_total": 5,
        "turns_covered": 2,
        "mine": 3,
    }
    assert (kept.counts["sessions_total"], kept.counts["sessions_covered"]) == (3, 1)
    assert kept.warnings == (conditions.PARTIAL_STORE,)


def test_an_empty_store_warns_in_every_place_it_is_shown():
    empty = store(0)
    assert empty.warnings == (conditions.EMPTY_STORE,)
    assert complete(QUESTION, empty) == Context("q", "CSM", "", 0, (), (conditions.EMPTY_STORE,))
    assert retrieved(QUESTION, empty, hits(), 5, "topk", 100) == Context(
        "q", "RM", "", 0, (), (conditions.EMPTY_STORE,)
    )


def test_an_entry_id_used_twice_is_refused():
    with pytest.raises(InputError, match="wrote entry id '0' twice"):
        write_store(Scripted(entries(1) * 2), HISTORY, 100, TOOLS)


@pytest.mark.parametrize("budget", [0, -5])
def test_a_write_budget_below_one_is_refused(budget):
    with pytest.raises(InputError, match=f"{budget}; it must be at least 1"):
        write_store(Scripted(()), HISTORY, budget, TOOLS)


def test_no_memory_shows_nothing():
    assert no_memory(QUESTION) == Context("q", "NM", "", 0)


def test_oracle_shows_the_evidence_in_history_order_under_its_dates():
    shown = oracle(QUESTION, HISTORY)
    assert shown.text == "[8 May 2023, 13:56]\nAnn: I adopted a cat.\n[1 June 2023]\nAnn: My cat is called Mo."
    assert (shown.condition, shown.tokens, shown.warnings) == ("OE", count_tokens(shown.text), ())


def test_oracle_warns_of_missing_and_unresolved_evidence():
    assert oracle(Question("q", "h", "?", "t"), HISTORY).warnings == (conditions.NO_EVIDENCE,)
    lost = Question("q", "h", "?", "t", evidence=("t1",), unresolved=("D9:99",))
    assert oracle(lost, HISTORY).warnings == (conditions.UNRESOLVED_EVIDENCE,)


def test_recent_is_the_longest_run_of_newest_whole_turns_within_any_limit():
    turns = list(HISTORY.turns())
    sizes = [count_tokens(render_turns(turns[start:])) for start in range(len(turns))]
    for limit in range(sizes[-1], sizes[0] + 3):
        (shown,) = recent([QUESTION], HISTORY, limit)
        start = next(at for at, size in enumerate(sizes) if size <= limit)
        assert shown.text == render_turns(turns[start:])
        assert shown.tokens == sizes[start]


def test_recent_cuts_a_newest_turn_that_alone_is_too_long_and_says_so():
    (shown,) = recent([QUESTION], HISTORY, 4)
    assert shown.tokens <= 4
    assert render_turns(list(HISTORY.turns())[-1:]).startswith(shown.text)
    assert shown.warnings == (conditions.CUT_TURN,)


def test_recent_keeps_its_limit_beside_an_enormous_message():
    turns = (Turn("a", "Ann", "word " * 80_000), Turn("b", "Bob", "short"))
    history = History("h", "g", "test", (Session("s", None, turns),))
    (shown,) = recent([QUESTION], history, 100)
    assert shown.text == "[undated]\nBob: short"


def test_recent_of_an_empty_history_is_empty():
    assert recent([QUESTION], History("h", "g", "test", ()), 10)[0].text == ""


def test_recent_gives_every_question_the_same_text():
    other = Question("r", "h", "?", "t")
    assert [each.question_id for each in recent([QUESTION, other], HISTORY, 50)] == ["q", "r"]


def test_top_k_shows_store_order_and_lists_ids_by_rank():
    shown = retrieved(QUESTION, store(9), hits(7, 2, 4, 1), 3, "topk", 5000)
    assert shown.entry_ids == ("7", "2", "4")
    assert [line[0] for line in shown.text.splitlines()[1:]] == ["2", "4", "7"]
    assert (shown.warnings, shown.tokens) == ((), count_tokens(shown.text))


@pytest.mark.parametrize("mode", ["topk", "fill"])
@pytest.mark.parametrize("budget", [30, 57, 100, 200])
def test_the_read_budget_holds_and_one_more_hit_would_break_it(mode, budget):
    ranking = hits(*range(8, -1, -1))
    shown = retrieved(QUESTION, store(9), ranking, 9, mode, budget)
    count = len(shown.entry_ids)
    assert shown.tokens <= budget
    assert shown.entry_ids == tuple(str(8 - at) for at in range(count))
    assert count == 9 or retrieved(QUESTION, store(9), ranking, count + 1, "topk", 10**6).tokens > budget


def test_fill_shows_more_than_k():
    assert len(retrieved(QUESTION, store(9), hits(*range(9)), 2, "fill", 150).entry_ids) > 2


def test_a_best_entry_over_the_read_budget_is_cut_with_a_warning():
    shown = retrieved(QUESTION, store(3, "word " * 300), hits(1, 0), 1, "topk", 50)
    assert 45 <= shown.tokens <= 50
    assert shown.entry_ids == ("1",)
    assert shown.warnings == (conditions.CUT_ENTRY,)


@pytest.mark.parametrize(("k", "warned"), [(2, False), (3, True), (10, True)])
def test_k_that_covers_the_store_is_flagged(k, warned):
    shown = retrieved(QUESTION, store(3), hits(0, 1, 2), k, "topk", 5000)
    assert shown.warnings == ((conditions.COVERING_K,) if warned else ())


def test_a_read_budget_that_covers_the_store_is_flagged():
    shown = retrieved(QUESTION, store(3), hits(0, 1, 2), 1, "fill", 5000)
    assert shown.warnings == (conditions.COVERING_BUDGET,)


def test_a_repeated_hit_counts_once_and_fewer_hits_than_k_are_fine():
    assert retrieved(QUESTION, store(9), hits(3, 3, 5), 5, "topk", 5000).entry_ids == ("3", "5")
    assert retrieved(QUESTION, store(9), hits(), 5, "topk", 5000).text == ""


def test_wrong_cuts_and_positions_are_refused():
    with pytest.raises(InputError, match="unknown read mode 'best'; choose from topk, fill"):
        retrieved(QUESTION, store(3), hits(0), 5, "best", 100)
    with pytest.raises(InputError, match="k is 0; it must be at least 1"):
        retrieved(QUESTION, store(3), hits(0), 0, "topk", 100)
    with pytest.raises(InputError, match="read budget is 0"):
        retrieved(QUESTION, store(3), hits(0), 5, "topk", 0)
    with pytest.raises(InputError, match="ranked position 3"):
        retrieved(QUESTION, store(3), hits(3), 5, "topk", 100)


@dataclass
class Recorder:
    """A solver that notes its tasks and answers by a table of replies."""

    results: dict[str, Result[str]] = field(default_factory=dict)
    tasks: list = field(default_factory=list)

    def solve(self, tasks):
        self.tasks.extend(tasks)
        return [self.results.get(task.question, Result(f"on {task.context}", "ok")) for task in tasks]


def test_answers_keep_their_order_while_tasks_are_grouped_by_context():
    asked = [Question(name, "h", name, "t") for name in "abcd"]
    shown = [Context(name, "CSM", text, 1) for name, text in zip("abcd", ["X", "Y", "X", "Y"], strict=True)]
    solver = Recorder()
    answers = answer(asked, shown, solver)
    assert [task.context for task in solver.tasks] == ["X", "X", "Y", "Y"]
    assert [(each.question_id, each.text) for each in answers] == [
        ("a", "on X"),
        ("b", "on Y"),
        ("c", "on X"),
        ("d", "on Y"),
    ]


@pytest.mark.parametrize(
    ("result", "status", "text"),
    [
        (Result("Paris", "ok"), "ok", "Paris"),
        (Result(" ", "ok"), "empty", " "),
        (Result(None, "ok"), "empty", ""),
        (Result(None, "parse_error", reply="{"), "parse_error", "{"),
        (Result(None, "provider_error"), "provider_error", ""),
        (Result("cut of", "truncated"), "truncated", "cut of"),
    ],
)
def test_a_status_passes_through_and_an_empty_ok_is_empty(result, status, text):
    shown = Context("q", "RM", "c", 7, warnings=("w",))
    (given,) = answer([QUESTION], [shown], Recorder({QUESTION.text: result}))
    assert (given.status, given.text, given.context_tokens, given.warnings) == (status, text, 7, ("w",))


def test_usage_is_kept():
    result = Result("x", "ok", Usage(10, 2, 1))
    assert answer([QUESTION], [no_memory(QUESTION)], Recorder({QUESTION.text: result}))[0].usage == Usage(10, 2, 1)


def test_a_solver_that_loses_a_task_is_named():
    class Lossy:
        def solve(self, tasks):
            return []

    with pytest.raises(MemgaugeError, match="0 results for 1 tasks"):
        answer([QUESTION], [no_memory(QUESTION)], Lossy())


def test_nothing_to_answer_calls_no_solver():
    assert answer([], [], None) == []


def test_no_gold_type_evidence_rubric_trap_or_id_reaches_the_solver():
    canary = "CANARY7"
    asked = Question(
        id=f"{canary}-id",
        history_id=f"{canary}-history",
        text="Who is Mo?",
        type=canary,
        golds=(canary,),
        date="2023-07-01",
        evidence=("t1", f"{canary}-turn"),
        unresolved=(canary,),
        trap=canary,
        rubric=(canary,),
    )
    solver = Recorder()
    kept = store(3)
    shown = [
        no_memory(asked),
        *recent([asked], HISTORY, 100),
        oracle(asked, HISTORY),
        complete(asked, kept),
        retrieved(asked, kept, hits(1), 1, "topk", 100),
    ]
    answer([asked] * 5, shown, solver)
    assert len(solver.tasks) == 5
    for task in solver.tasks:
        assert canary not in repr(task)
        assert canary not in repr(task.messages())
        assert "turn" not in repr(task.context)
