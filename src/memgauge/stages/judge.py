"""Stage `judge`: one judge's verdicts, strict and generous, on one reader's stored answers; no reader is asked."""

from tqdm import tqdm

from memgauge.datasets.prepared import read_prepared
from memgauge.files import read_jsonl, write_jsonl
from memgauge.params import Params
from memgauge.protocol.judging import judge_stored
from memgauge.records import Answer
from memgauge.stages.layout import ANSWERS, PREPARED, REFERENCES, VERDICTS
from memgauge.stages.solving import by_subject, role_solver, solver_name
from memgauge.tasks.judge_answer import VARIANTS


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `data/verdicts/BENCHMARK/READER/SYSTEM.jsonl` and `references.jsonl`: a verdict an answer and variant.

    One stage instance for all systems: a verdict is soon given, and starting a process is not.
    """
    options = params["role.judge"]
    solver, name = role_solver("judge", options), solver_name(options)
    questions = read_prepared(PREPARED / benchmark).questions
    history = {question.id: question.history_id for question in questions}
    answers = ANSWERS / benchmark / reader
    for system in tqdm((REFERENCES, *params["systems"]), desc=f"judge {benchmark} {reader}", unit="system", delay=2):
        given = list(read_jsonl(answers / f"{system}.jsonl", Answer))
        verdicts = (
            verdict
            for variant in VARIANTS
            for some in by_subject(given, lambda answer: history.get(answer.question_id, ""))
            for verdict in judge_stored(questions, some, solver, name, variant)
        )
        write_jsonl(VERDICTS / benchmark / reader / f"{system}.jsonl", verdicts)
