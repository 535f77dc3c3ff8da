"""Stage `rank_entries`: rank one memory system's entries for every question, once for all budgets and readers."""

from tqdm import tqdm

from memgauge.datasets.prepared import stream_prepared
from memgauge.experiments.passage_entries import show_entries
from memgauge.experiments.passage_shown import Ranked
from memgauge.files import write_jsonl
from memgauge.memory.base import Query, Tools
from memgauge.memory.catalogue import make_system
from memgauge.params import Params
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.layout import PREPARED
from memgauge.stages.passage_paths import ranked_file
from memgauge.stages.rank_passages import budgets_of
from memgauge.stages.shared import read_stores
from memgauge.stages.solving import SUBJECT, role_solver


def main(params: Params, benchmark: str, system: str) -> None:
    """Write `data/passages/ranked/BENCHMARK-SYSTEM.jsonl`, one ranking a question, as long as the largest budget."""
    most, memory = max(budgets_of(params)), make_system(system, params[f"memory.{system}"])
    tools = Tools(role_solver("writer", params["role.writer"]), sentence_encoder())
    stores, ranked = read_stores(benchmark, system), list[Ranked]()
    for history, questions in tqdm(
        stream_prepared(PREPARED / benchmark), desc=f"rank_entries {benchmark} {system}", delay=2
    ):
        if questions:
            SUBJECT.set(history.id)
            rankings = memory.retrieve(stores[history.id], [Query(each.text, each.date) for each in questions], tools)
            ranked += show_entries(history, questions, stores[history.id], rankings, most)
    write_jsonl(ranked_file(benchmark, system), ranked)
