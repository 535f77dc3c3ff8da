"""A memory system under settings of its own, written, ranked, read and scored like a cell of the grid.

Everything stays in memory: an experiment is a handful of variants, each as large as one cell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from memgauge.memory.base import MemorySystem, Query, Ranking, Tools
from memgauge.memory.catalogue import make_system
from memgauge.metrics.scoring import ScoredItem, score_item
from memgauge.protocol.answering import answer
from memgauge.protocol.conditions import complete, retrieved, write_store
from memgauge.protocol.questions import by_history, entry_texts, evidence_texts
from memgauge.records import Benchmark, Context, Result, Store
from memgauge.tasks.base import Solver, Task, solve_all

Output = TypeVar("Output")


@dataclass(frozen=True, slots=True)
class Variant:
    """A named setting of one memory system: its options and its write budget (cl100k_base tokens)."""

    name: str
    system: str
    options: Mapping[str, object]
    write_budget_tokens: int


@dataclass(frozen=True, slots=True)
class Cut:
    """How the harness cuts a ranking for the reader, as `conditions.retrieved` takes it."""

    k: int
    mode: str
    read_budget_tokens: int


@dataclass(frozen=True, slots=True)
class Kept:
    """What a variant leaves for a reader: stores by history id, RM contexts by question id."""

    name: str
    stores: dict[str, Store]
    contexts: dict[str, Context] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Once:
    """A solver that solves equal tasks once: variants that differ in one setting ask mostly the same.

    What a task took is told each time it is asked, so that every variant's counts are those of its own run.
    """

    solver: Solver
    known: dict[Task[Any], Result[Any]] = field(default_factory=dict)

    def solve(self, tasks: Sequence[Task[Output]]) -> list[Result[Output]]:
        """Results in task order; tasks not met before go to the solver in one call."""
        fresh = [task for task in dict.fromkeys(tasks) if task not in self.known]
        results = solve_all(self.solver, fresh)
        solved = dict(zip(fresh, results, strict=True))
        found = [solved.get(task) or self.known[task] for task in tasks]
        # What a provider failed at may succeed for the next variant.
        self.known.update({task: result for task, result in solved.items() if result.status != "provider_error"})
        return [cast("Result[Output]", result) for result in found]


def keep(benchmark: Benchmark, variant: Variant, tools: Tools, cut: Cut) -> Kept:
    """Write every history's store and retrieve for every question; raises InputError as the harness does."""
    system = make_system(variant.system, variant.options)
    stores = {
        history.id: write_store(system, history, variant.write_budget_tokens, tools) for history in benchmark.histories
    }
    rankings = rank_stores(benchmark, system, stores, tools)
    return Kept(variant.name, stores, cut_rankings(benchmark, stores, rankings, cut))


def rank_stores(
    benchmark: Benchmark, system: MemorySystem, stores: Mapping[str, Store], tools: Tools
) -> dict[str, Ranking]:
    """The whole ranking of every question's store, by question id."""
    found: dict[str, Ranking] = {}
    for history_id, questions in by_history(benchmark.questions).items():
        queries = [Query(question.text, question.date) for question in questions]
        rankings = system.retrieve(stores[history_id], queries, tools)
        found |= {question.id: ranking for question, ranking in zip(questions, rankings, strict=True)}
    return found


def cut_rankings(
    benchmark: Benchmark, stores: Mapping[str, Store], rankings: Mapping[str, Ranking], cut: Cut
) -> dict[str, Context]:
    """The RM context of every question, by question id."""
    return {
        each.id: retrieved(each, stores[each.history_id], rankings[each.id], cut.k, cut.mode, cut.read_budget_tokens)
        for each in benchmark.questions
    }


def read(benchmark: Benchmark, kept: Kept, solver: Solver) -> list[ScoredItem]:
    """One reader's scored answers under CSM and RM; the shared conditions (OE ...) are read once elsewhere."""
    items: list[ScoredItem] = []
    groups = {history.id: history.group for history in benchmark.histories}
    evidence = evidence_texts(benchmark)
    for history_id, questions in by_history(benchmark.questions).items():
        store = kept.stores[history_id]
        shown = [complete(question, store) for question in questions]
        shown += [kept.contexts[question.id] for question in questions]
        answers = answer(questions * 2, shown, solver)
        for question, context, found in zip(questions * 2, shown, answers, strict=True):
            texts = entry_texts(context, store)
            told, group = evidence[question.id], groups[history_id]
            items.append(score_item(question, found, group, told, context.text, texts, benchmark.name == "locomo"))
    return items
