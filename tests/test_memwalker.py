"""MemWalker: a tree over the sessions within the budget, and walks through it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from math import ceil, log
from typing import Any

import numpy as np
import pytest

from memgauge.errors import InputError
from memgauge.llm.chat import ChatReply
from memgauge.memory.base import Query, Tools
from memgauge.memory.memwalker import Memwalker, Walk, inner_nodes, read_tree
from memgauge.protocol.conditions import complete, write_store
from memgauge.records import Entry, History, Question, Result, Session, Store, Turn, Usage
from memgauge.solvers.language_model import LanguageModelSolver
from memgauge.tasks.choose_child import ChooseChild
from memgauge.tasks.summarise_session import SummariseSession, SummaryLine
from memgauge.text.render import entry_tokens

QUERY = Query("Where is the key?", "2024-01-01")


class NoEncoder:
    """Walking needs no vectors."""

    def encode(self, texts: Sequence[str]) -> Any:
        return np.zeros((len(texts), 2), dtype=np.float32)


@dataclass
class Scripted:
    """Keeps the first words of every turn; takes the given steps in turn, the last one for ever."""

    steps: Sequence[Any] = ("stop",)
    fails: Callable[[SummariseSession], bool] = lambda task: False
    calls: list[list[Any]] = field(default_factory=list)
    walked: int = 0

    def solve(self, tasks: Sequence[Any]) -> list[Any]:
        self.calls.append(list(tasks))
        if isinstance(tasks[0], ChooseChild):
            step = self.steps[min(self.walked, len(self.steps) - 1)]
            self.walked += 1
            ok = step is not None
            return [Result(step, "ok" if ok else "parse_error", Usage(20, 2, 1)) for _ in tasks]
        return [
            Result(None, "parse_error", Usage(9, 1, 1))
            if self.fails(task)
            else Result(self._lines(task), "ok", Usage(9, 1, 1))
            for task in tasks
        ]

    def _lines(self, task: SummariseSession) -> tuple[SummaryLine, ...]:
        lines = (f"{speaker}: {' '.join(text.split()[:6])}" for speaker, text in task.turns)
        return tuple(SummaryLine(line, (at,)) for at, line in enumerate(lines))


def history(sessions: int, turns: int = 2) -> History:
    made = (
        Session(
            f"s{s}",
            f"20{10 + s // 12:02}-{s % 12 + 1:02}-05",
            tuple(Turn(f"t{s}.{t}", "Ann" if t % 2 else "Bob", f"Key {s} {t} lies here.") for t in range(turns)),
        )
        for s in range(sessions)
    )
    return History("h", "g", "test", tuple(made))


def tools(solver: Any = None) -> Tools:
    return Tools(solver or Scripted(), NoEncoder())


def stored(sessions: int, budget: int = 10**5, solver: Any = None, **options: Any) -> Store:
    return write_store(Memwalker(**options), history(sessions), budget, tools(solver))


def depth(store: Store) -> int:
    """Steps from a root to the deepest node."""
    parents = read_tree(store.entries).parents
    depths: list[int] = []
    for parent in parents:
        depths.append(0 if parent is None else depths[parent] + 1)
    return max(depths)


@pytest.mark.parametrize("children", [2, 3, 6])
def test_depth_grows_like_the_logarithm_of_the_sessions(children: int) -> None:
    for sessions in (1, 2, 5, 6, 7, 36, 37, 100, 217):
        store = stored(sessions, children=children)
        assert depth(store) == ceil(round(log(sessions, children), 9))
        tree = read_tree(store.entries)
        assert tree.start == 0
        assert all(len(tree.below(node)) in (0, *range(2, children + 1)) for node in range(len(store.entries)))
        assert len(store.entries) == sessions + inner_nodes(sessions, children)


def test_nodes_stand_before_those_below_them_and_leaves_in_history_order() -> None:
    store = stored(20)
    tree = read_tree(store.entries)
    leaves = [node for node in range(len(store.entries)) if not tree.below(node)]
    assert [store.entries[node].sources for node in leaves] == [(f"t{s}.0", f"t{s}.1") for s in range(20)]
    assert [store.entries[node].date for node in leaves] == [session.date for session in history(20).sessions]
    order = {turn.id: at for at, (_, turn) in enumerate(history(20).turns())}
    firsts = [order[entry.sources[0]] for entry in store.entries]
    assert firsts == sorted(firsts)
    for node, parent in enumerate(tree.parents):
        if parent is not None:
            assert parent < node
            assert set(store.entries[parent].sources) > set(store.entries[node].sources)
            assert store.entries[parent].date is None


def test_the_tree_is_read_from_sources_whatever_the_ids() -> None:
    store = stored(13)
    renamed = [replace(entry, id=f"x{99 - at}") for at, entry in enumerate(store.entries)]
    assert read_tree(renamed) == read_tree(store.entries)


@pytest.mark.parametrize("budget", [1, 15, 40, 100, 333, 2000])
def test_the_budget_holds_with_inner_nodes_in_it(budget: int) -> None:
    written = Memwalker().write(history(40, 6), budget, tools())
    assert sum(map(entry_tokens, written.entries)) <= budget
    store = write_store(Memwalker(), history(40, 6), budget, tools())
    assert store.counts["dropped_over_budget"] == 0
    assert complete(Question("q", "h", "?", "t"), store).tokens <= budget


def test_inner_nodes_share_their_part_of_the_budget_equally() -> None:
    solver = Scripted()
    Memwalker(inner_share=0.5).write(history(12), 1200, tools(solver))
    leaves, *levels = solver.calls
    assert [len(leaves), *map(len, levels)] == [12, 2, 1]
    inner = [task.budget_tokens for level in levels for task in level]
    assert len(set(inner)) == 1
    assert 180 < inner[0] <= 200
    assert sum(task.budget_tokens for task in leaves) <= 600


def test_one_session_takes_the_whole_budget_and_no_walk() -> None:
    solver = Scripted()
    store = stored(1, 300, solver)
    assert solver.calls[0][0].budget_tokens > 280
    (ranking,) = Memwalker().retrieve(store, [QUERY], tools(solver))
    assert [hit.position for hit in ranking.hits] == [0]
    assert ranking.counts == {}
    assert len(solver.calls) == 1


def test_an_inner_node_is_asked_for_from_the_lines_below_with_speaker_or_date() -> None:
    class Facts(Scripted):
        def _lines(self, task: SummariseSession) -> tuple[SummaryLine, ...]:
            return (SummaryLine("Bob: The key lies here."), SummaryLine("Note: keys lie well."))

    solver = Facts()
    stored(2, solver=solver)
    assert solver.calls[1][0].turns == (
        ("Bob", "The key lies here."), ("5 January 2010", "Note: keys lie well."),
        ("Bob", "The key lies here."), ("5 February 2010", "Note: keys lie well."),
    )  # fmt: skip


def test_a_failed_inner_node_leaves_its_nodes_in_their_places() -> None:
    solver = Scripted(fails=lambda task: task.date is None and task.turns[0][1].startswith("Key 4 "))
    store = stored(12, solver=solver, children=4)  # the second of three parents fails
    assert store.counts["notes_failed"] == 1
    tree = read_tree(store.entries)
    leaves = [entry.sources[0] for node, entry in enumerate(store.entries) if not tree.below(node)]
    assert leaves == [f"t{s}.0" for s in range(12)]
    assert all(first < second for first, second in pairwise(int(leaf[1:-2]) for leaf in leaves))


def test_without_any_inner_node_walks_start_above_the_leaves() -> None:
    solver = Scripted(steps=(2, "back", 0, "stop"), fails=lambda task: task.date is None)
    store = stored(5, solver=solver)
    assert len(store.entries) == 5
    (ranking,) = Memwalker().retrieve(store, [QUERY], tools(solver))
    assert [hit.position for hit in ranking.hits] == [0, 2]
    assert solver.calls[-4][0].place is None


def test_a_failed_session_is_counted_and_left_out_of_the_tree() -> None:
    store = stored(6, solver=Scripted(fails=lambda task: task.date == "2010-03-05"))
    assert (store.counts["sessions_failed"], store.counts["status_parse_error"]) == (1, 1)
    assert len(store.entries) == 6  # five leaves and the root
    assert not {"t2.0", "t2.1"} & set(store.entries[0].sources)


def test_a_walk_goes_down_back_and_on_and_ranks_what_it_visited() -> None:
    solver = Scripted(steps=(1, 0, "back", 2, "stop"))
    store = stored(12, solver=solver)  # root 0; parents 1 and 8; leaves 2-7 and 9-14
    (ranking,) = Memwalker().retrieve(store, [QUERY], tools(solver))
    assert [hit.position for hit in ranking.hits] == [11, 9, 8, 0]
    assert [hit.score for hit in ranking.hits] == [1, 1 / 2, 1 / 3, 1 / 4]
    assert ranking.counts == {
        "chooser_calls": 5, "chooser_input_tokens": 100, "chooser_output_tokens": 10, "chooser_tasks": 5,
    }  # fmt: skip
    steps = [call[0] for call in solver.calls[-5:]]
    assert [step.back for step in steps] == [False, True, True, True, True]
    assert [step.seen for step in steps] == [(), (), (), (0,), ()]
    assert [len(step.parts) for step in steps] == [2, 6, 0, 6, 0]
    assert (steps[0].question, steps[0].question_date) == (QUERY.text, QUERY.date)
    assert steps[2].place == ("2010-07-05", store.entries[9].text)


def test_steps_are_bounded_and_running_out_is_counted() -> None:
    solver = Scripted(steps=(0, 0, "back", "back"))
    store = stored(12, solver=solver)
    (ranking,) = Memwalker(steps=3).retrieve(store, [QUERY], tools(solver))
    assert ranking.counts["walks_out_of_steps"] == 1
    assert ranking.counts["chooser_tasks"] == 3
    assert [hit.position for hit in ranking.hits] == [2, 1, 0]


def test_an_unreadable_step_ends_the_walk_where_it_stands_and_is_counted() -> None:
    solver = Scripted(steps=(1, None))
    store = stored(12, solver=solver)
    (ranking,) = Memwalker().retrieve(store, [QUERY], tools(solver))
    assert [hit.position for hit in ranking.hits] == [8, 0]
    assert (ranking.counts["walks_stopped_by_failure"], ranking.counts["status_parse_error"]) == (1, 1)
    assert ranking.counts["chooser_tasks"] == 2  # not asked again


def test_all_walks_of_a_store_take_a_step_in_one_call() -> None:
    solver = Scripted(steps=(1, 0, "stop"))
    store = stored(12, solver=solver)
    rankings = Memwalker().retrieve(store, [QUERY] * 7, tools(solver))
    assert [len(call) for call in solver.calls[-3:]] == [7, 7, 7]
    assert len({ranking.hits for ranking in rankings}) == 1


def test_an_empty_store_is_not_walked() -> None:
    solver = Scripted()
    store = write_store(Memwalker(), History("h", "g", "test", ()), 100, tools(solver))
    assert [ranking.hits for ranking in Memwalker().retrieve(store, [QUERY], tools(solver))] == [()]
    assert solver.calls == []


def test_a_node_is_below_the_last_one_before_it_that_holds_its_sources() -> None:
    sources = [("a", "b", "c"), ("a", "b"), ("a",), ("b",), ("c",), ("d", "e"), ("d",), ("e",)]
    tree = read_tree([Entry(str(at), "x", each) for at, each in enumerate(sources)])
    assert tree.parents == (None, 0, 1, 1, 0, None, 5, 5)
    assert tree.start is None
    assert tree.has_move(Walk(None, ()))


@pytest.mark.parametrize("options", [{"children": 1}, {"inner_share": 1.0}])
def test_values_that_make_no_tree_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="cannot make a tree"):
        stored(3, **options)


def test_every_hyperparameter_has_its_source_on_the_card() -> None:
    assert list(Memwalker.card) == [one.name for one in fields(Memwalker)]


@pytest.mark.parametrize("reply", ["", "Sure! I would open part 2.", "999", "第二", "1 " * 10_000])
def test_garbage_of_a_language_model_never_crashes_and_shows_in_counts(reply: str) -> None:
    class Model:
        def payload(self, request: Any) -> dict[str, Any]:
            return {}

        def generate(self, requests: Sequence[Any], on_reply: Any = None) -> list[ChatReply]:
            return [ChatReply(reply, "stop", 10, 5) for _ in requests]

    garbage = tools(LanguageModelSolver(Model()))
    store = write_store(Memwalker(), history(12), 2000, garbage)
    assert store.entries == ()
    assert store.counts["writer_tasks"] == store.counts["sessions_failed"] == 12
    assert store.counts["lines_ungrounded"] == (12 if reply else 0)
    (ranking,) = Memwalker().retrieve(stored(12), [QUERY], garbage)
    assert [hit.position for hit in ranking.hits] == [0]
    assert ranking.counts["walks_stopped_by_failure"] == 1
