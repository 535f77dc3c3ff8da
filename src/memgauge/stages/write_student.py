"""Stage `write_student`: let the trained student, or its untrained base, write the stores of MemoryCPT."""

from memgauge.datasets.prepared import read_prepared
from memgauge.files import write_jsonl
from memgauge.params import Params
from memgauge.stages.layout import BASE_A, PREPARED, STUDENT
from memgauge.stages.qa_cells import part_b_questions
from memgauge.stages.students import opening, write_histories


def main(params: Params, benchmark: str, student: str) -> None:
    """Write `data/student/BENCHMARK/STUDENT.jsonl`, a store for each test history that part B asks about.

    None on a benchmark that `write_student.benchmarks` does not name: a small model on a CPU reads about 300 tokens a
    second, and reads everything about three times. `write_student.sessions` lets it read the first sessions only.
    """
    prepared = read_prepared(PREPARED / benchmark)
    asked = part_b_questions(prepared, params["ask_qa"])
    wanted = asked if benchmark in params["write_student"]["benchmarks"] else {}
    sessions = params["write_student"]["sessions"]
    histories = [opening(history, sessions) for history in prepared.histories if history.id in wanted]
    model = BASE_A if student == "trained" else params["distil.model"]
    budget = params[f"benchmark.{benchmark}.write_budget_tokens"]
    label = f"write {benchmark} {student} student"
    write_jsonl(
        STUDENT / benchmark / f"{student}.jsonl",
        write_histories(histories, params["memory.memorycpt"], model, budget, label),
    )
