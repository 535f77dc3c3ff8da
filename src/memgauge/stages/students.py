"""What the stages of MemoryCPT do alike: the language model that writes, and what it is asked to write."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from memgauge.files import read_jsonl
from memgauge.memory.base import Query, Tools
from memgauge.memory.catalogue import make_system
from memgauge.params import Params
from memgauge.protocol.answering import answer
from memgauge.protocol.conditions import retrieved, write_store
from memgauge.records import Context, History, Question, Store
from memgauge.solvers.extractive.solver import ExtractiveSolver
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.layout import STUDENT
from memgauge.stages.qa_cells import Shown
from memgauge.stages.solving import SUBJECT, by_subject, role_solver
from memgauge.tasks.base import Solver

Stores = Mapping[str, Store]  # by history id
Groups = Mapping[str, Sequence[Question]]  # by history id
EVERY = 1_000_000  # entries of a ranking: depth and read budget bound what is shown


def write_histories(
    histories: Sequence[History], options: Params, model: str | Path, budget_tokens: int, label: str
) -> list[Store]:
    """Each history's store as memory system `memorycpt` with a local model writes it; on the run's account."""
    system = make_system("memorycpt", options)
    solver = role_solver("student", {"solver": "language_model", "model": str(model)})
    tools = Tools(solver, sentence_encoder())
    stores = []
    for history in tqdm(histories, desc=label, unit="history", delay=2):
        SUBJECT.set(history.id)
        stores.append(write_store(system, history, budget_tokens, tools))
    return stores


def opening(history: History, sessions: int | None) -> History:
    """A history's first sessions; all of them for None."""
    return replace(history, sessions=history.sessions[:sessions])


def read_student_stores(benchmark: str, student: str) -> dict[str, Store]:
    """The stores of the trained or the untrained student."""
    return {store.history_id: store for store in read_jsonl(STUDENT / benchmark / f"{student}.jsonl", Store)}


def retrieved_contexts(options: Params, stores: Stores, groups: Groups, read_budget: int) -> list[Context]:
    """All that `memorycpt` with these options retrieves for every question (RM), within the read budget."""
    system = make_system("memorycpt", options)
    tools = Tools(ExtractiveSolver(sentence_encoder()), sentence_encoder())  # its retrieval asks no solver
    found = []
    for history_id, questions in groups.items():
        store = stores[history_id]
        rankings = system.retrieve(store, [Query(each.text, each.date) for each in questions], tools)
        found += [
            retrieved(question, store, ranking, EVERY, "topk", read_budget)
            for question, ranking in zip(questions, rankings, strict=True)
        ]
    return found


def ask(contexts: Sequence[Context], groups: Groups, qa: Solver) -> list[Shown]:
    """Every question with its context, in order of the groups, and the QA model's answer."""
    questions = [question for some in groups.values() for question in some]
    pairs = zip(questions, contexts, strict=True)
    shown = []
    for some in by_subject(pairs, lambda pair: pair[0].history_id):
        asked, given = [question for question, _ in some], [context for _, context in some]
        answers = answer(asked, given, qa)
        shown += [Shown(one, (context,), reply) for (one, context), reply in zip(some, answers, strict=True)]
    return shown
