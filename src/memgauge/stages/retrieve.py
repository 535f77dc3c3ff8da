"""Stage `retrieve`: let one memory system rank its entries for every question; the harness cuts the ranking."""

from tqdm import tqdm

from memgauge.datasets.prepared import read_prepared
from memgauge.files import write_jsonl
from memgauge.memory.base import Query, Tools
from memgauge.memory.catalogue import make_system
from memgauge.params import Params
from memgauge.protocol.conditions import retrieved
from memgauge.protocol.questions import by_history
from memgauge.records import Context
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.layout import CONTEXTS, PREPARED
from memgauge.stages.shared import read_stores
from memgauge.stages.solving import SUBJECT, role_solver


def main(params: Params, benchmark: str, system: str) -> None:
    """Write `data/contexts/BENCHMARK/SYSTEM.jsonl`, one RM context a question."""
    cut = params["retrieval"]
    memory = make_system(system, params[f"memory.{system}"])
    tools = Tools(role_solver("writer", params["role.writer"]), sentence_encoder())
    contexts: list[Context] = []
    groups = by_history(read_prepared(PREPARED / benchmark).questions)
    stores = read_stores(benchmark, system, groups)
    for history_id, questions in tqdm(groups.items(), desc=f"retrieve {benchmark} {system}", delay=2):
        SUBJECT.set(history_id)
        store = stores[history_id]
        rankings = memory.retrieve(store, [Query(each.text, each.date) for each in questions], tools)
        contexts.extend(
            retrieved(question, store, ranking, cut["k"], cut["mode"], cut["read_budget_tokens"])
            for question, ranking in zip(questions, rankings, strict=True)
        )
    write_jsonl(CONTEXTS / benchmark / f"{system}.jsonl", contexts)
