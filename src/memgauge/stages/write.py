"""Stage `write`: let one memory system keep what it can of every history within the write budget."""

from collections.abc import Iterator

from tqdm import tqdm

from memgauge.datasets.prepared import read_prepared
from memgauge.files import write_jsonl
from memgauge.memory.base import Tools
from memgauge.memory.catalogue import make_system
from memgauge.params import Params
from memgauge.protocol.conditions import write_store
from memgauge.records import Store
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.layout import PREPARED
from memgauge.stages.shared import stores_path
from memgauge.stages.solving import SUBJECT, role_solver


def main(params: Params, benchmark: str, system: str) -> None:
    """Write `data/stores/BENCHMARK/SYSTEM.jsonl`, one store a history."""
    budget_tokens = params[f"benchmark.{benchmark}.write_budget_tokens"]
    memory = make_system(system, params[f"memory.{system}"])
    tools = Tools(role_solver("writer", params["role.writer"]), sentence_encoder())
    histories = read_prepared(PREPARED / benchmark).histories
    bar = tqdm(histories, desc=f"write {benchmark} {system}", unit="history", delay=2)

    def stores() -> Iterator[Store]:
        for history in bar:
            SUBJECT.set(history.id)
            yield write_store(memory, history, budget_tokens, tools)

    write_jsonl(stores_path(benchmark, system), stores())
