"""Stage `read`: one reader's answers from one system's complete store (CSM) and retrieved entries (RM)."""

from tqdm import tqdm

from memgauge.datasets.prepared import read_prepared
from memgauge.files import read_jsonl, write_jsonl
from memgauge.params import Params
from memgauge.protocol.answering import answer
from memgauge.protocol.conditions import complete
from memgauge.records import Answer, Context
from memgauge.solvers.catalogue import make_solver
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.layout import ANSWERS, CONTEXTS, PREPARED
from memgauge.stages.shared import by_history, read_stores


def main(params: Params, benchmark: str, system: str, reader: str) -> None:
    """Write `data/answers/BENCHMARK/READER/SYSTEM.jsonl`, two answers a question."""
    solver = make_solver(params[f"role.reader.{reader}"], sentence_encoder)
    contexts = {each.question_id: each for each in read_jsonl(CONTEXTS / benchmark / f"{system}.jsonl", Context)}
    answers: list[Answer] = []
    groups = by_history(read_prepared(PREPARED / benchmark).questions)
    stores = read_stores(benchmark, system, groups)
    for history_id, questions in tqdm(groups.items(), desc=f"read {benchmark} {system} {reader}", delay=2):
        shown = [complete(question, stores[history_id]) for question in questions]
        shown += [contexts[question.id] for question in questions]
        answers += answer(questions * 2, shown, solver)
    write_jsonl(ANSWERS / benchmark / reader / f"{system}.jsonl", answers)
