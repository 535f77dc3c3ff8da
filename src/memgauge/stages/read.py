"""Stage `read`: one reader's answers from one system's complete store (CSM) and retrieved entries (RM)."""

from tqdm import tqdm

from memgauge.datasets.prepared import read_prepared
from memgauge.files import read_jsonl, write_jsonl
from memgauge.params import Params
from memgauge.protocol.answering import answer
from memgauge.protocol.conditions import complete
from memgauge.records import Answer, Context
from memgauge.stages.layout import ANSWERS, CONTEXTS, PREPARED
from memgauge.stages.shared import asked, read_stores
from memgauge.stages.solving import SUBJECT, role_solver


def main(params: Params, benchmark: str, system: str, reader: str) -> None:
    """Write `data/answers/BENCHMARK/READER/SYSTEM.jsonl`, two answers a question."""
    solver = role_solver(f"reader.{reader}", params[f"role.reader.{reader}"])
    contexts = {each.question_id: each for each in read_jsonl(CONTEXTS / benchmark / f"{system}.jsonl", Context)}
    answers: list[Answer] = []
    groups = asked(params[f"role.reader.{reader}"], read_prepared(PREPARED / benchmark).questions)
    stores = read_stores(benchmark, system, groups)
    for history_id, questions in tqdm(groups.items(), desc=f"read {benchmark} {system} {reader}", delay=2):
        SUBJECT.set(history_id)
        shown = [complete(question, stores[history_id]) for question in questions]
        shown += [contexts[question.id] for question in questions]
        answers += answer(questions * 2, shown, solver)
    write_jsonl(ANSWERS / benchmark / reader / f"{system}.jsonl", answers)
