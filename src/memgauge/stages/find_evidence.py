"""Stage `find_evidence`: the finder names silver evidence for every question of one benchmark."""

from tqdm import tqdm

from memgauge.datasets.prepared import read_prepared
from memgauge.files import write_jsonl
from memgauge.params import Params
from memgauge.protocol.questions import by_history
from memgauge.protocol.silver import Narrowing, Silver, find_silver
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.layout import PREPARED, SILVER
from memgauge.stages.solving import SUBJECT, role_solver


def main(params: Params, benchmark: str) -> None:
    """Write `data/silver/BENCHMARK.jsonl`, one record a question."""
    solver = role_solver("finder", params["role.finder"])
    limits = Narrowing(**params["find_evidence"])
    prepared = read_prepared(PREPARED / benchmark)
    groups = by_history(prepared.questions)
    found: list[Silver] = []
    for history in tqdm(prepared.histories, desc=f"find_evidence {benchmark}", unit="history", delay=2):
        SUBJECT.set(history.id)
        found += find_silver(history, groups.get(history.id, []), solver, sentence_encoder(), limits)
    write_jsonl(SILVER / f"{benchmark}.jsonl", found)
