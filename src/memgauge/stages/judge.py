"""Stage `judge`: one judge's verdicts, strict and generous, on one cell's stored answers; no reader is asked."""

from memgauge.datasets.prepared import read_prepared
from memgauge.files import read_jsonl, write_jsonl
from memgauge.params import Params
from memgauge.protocol.judging import judge_stored
from memgauge.records import Answer
from memgauge.stages.layout import ANSWERS, PREPARED, VERDICTS
from memgauge.stages.solving import role_solver, solver_name
from memgauge.tasks.judge_answer import VARIANTS


def main(params: Params, benchmark: str, system: str, reader: str) -> None:
    """Write `data/verdicts/BENCHMARK/READER/SYSTEM.jsonl`, one verdict an answer and variant."""
    options = params["role.judge"]
    solver, name = role_solver("judge", options), solver_name(options)
    questions = read_prepared(PREPARED / benchmark).questions
    answers = list(read_jsonl(ANSWERS / benchmark / reader / f"{system}.jsonl", Answer))
    write_jsonl(
        VERDICTS / benchmark / reader / f"{system}.jsonl",
        (verdict for variant in VARIANTS for verdict in judge_stored(questions, answers, solver, name, variant)),
    )
