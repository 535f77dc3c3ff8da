"""Stage `refer`: one reader's answers under the conditions that all systems share (NM, TFC, OE)."""

from tqdm import tqdm

from memgauge.datasets.prepared import read_prepared
from memgauge.files import write_jsonl
from memgauge.params import Params
from memgauge.protocol.answering import answer
from memgauge.protocol.conditions import no_memory, oracle, recent
from memgauge.records import Answer
from memgauge.stages.layout import ANSWERS, PREPARED, REFERENCES
from memgauge.stages.shared import asked
from memgauge.stages.solving import SUBJECT, role_solver


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `data/answers/BENCHMARK/READER/references.jsonl`, three answers a question."""
    limit_tokens = params[f"benchmark.{benchmark}.recent_tokens"]
    solver = role_solver(f"reader.{reader}", params[f"role.reader.{reader}"])
    prepared = read_prepared(PREPARED / benchmark)
    groups = asked(params[f"role.reader.{reader}"], prepared.questions)
    answers: list[Answer] = []
    for history in tqdm(prepared.histories, desc=f"refer {benchmark} {reader}", unit="history", delay=2):
        SUBJECT.set(history.id)
        questions = groups.get(history.id, [])
        contexts = [no_memory(question) for question in questions]
        if questions:
            contexts += recent(questions, history, limit_tokens)
        contexts += [oracle(question, history) for question in questions]
        answers += answer(questions * 3, contexts, solver)
    write_jsonl(ANSWERS / benchmark / reader / f"{REFERENCES}.jsonl", answers)
