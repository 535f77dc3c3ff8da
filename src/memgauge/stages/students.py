"""What the stages of MemoryCPT do alike: the language model that writes, and what it is asked to write."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from memgauge.files import read_jsonl
from memgauge.memory.base import Tools
from memgauge.memory.catalogue import make_system
from memgauge.params import Params
from memgauge.protocol.conditions import write_store
from memgauge.records import History, Store
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.layout import STUDENT
from memgauge.stages.solving import SUBJECT, role_solver

Stores = Mapping[str, Store]  # by history id


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
