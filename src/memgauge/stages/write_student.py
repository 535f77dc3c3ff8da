"""Stage `write_student`: let the trained student, or its untrained base, write the stores of MemoryCPT."""

from memgauge.datasets.prepared import read_prepared
from memgauge.files import write_jsonl
from memgauge.params import Params
from memgauge.records import Store
from memgauge.stages.layout import BASE_A, PREPARED, STUDENT
from memgauge.stages.qa_cells import part_b_questions
from memgauge.stages.students import opening, write_histories


def main(params: Params, benchmark: str, student: str) -> None:
    """Write `data/student/BENCHMARK/STUDENT.jsonl`, a store for each test history that part B asks about.

    None on a benchmark that `write_student.benchmarks` does not name: a small model on a CPU reads about 300 tokens a
    second, and reads everything about three times. `write_student.sessions` lets it read the first sessions only,
    for their part of the write budget.
    """
    prepared = read_prepared(PREPARED / benchmark)
    asked = part_b_questions(prepared, params["ask_qa"])
    wanted = asked if benchmark in params["write_student"]["benchmarks"] else {}
    sessions, whole = params["write_student"]["sessions"], params[f"benchmark.{benchmark}.write_budget_tokens"]
    model = BASE_A if student == "trained" else params["distil.model"]
    label = f"write {benchmark} {student} student"
    stores: list[Store] = []
    for history in (each for each in prepared.histories if each.id in wanted):
        read = opening(history, sessions)
        budget = max(1, whole * len(read.sessions) // max(1, len(history.sessions)))
        stores += write_histories([read], params["memory.memorycpt"], model, budget, label)
    write_jsonl(STUDENT / benchmark / f"{student}.jsonl", stores)
