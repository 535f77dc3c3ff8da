"""Stage `summarise_retrieved`: the trained summariser's one rollout a question, over trained and untrained stores."""

from collections import Counter
from dataclasses import dataclass

from tqdm import tqdm

from memgauge.datasets.prepared import read_prepared
from memgauge.files import write_jsonl
from memgauge.memory.base import Query, Tools
from memgauge.memory.catalogue import make_system
from memgauge.memory.shared import count_result
from memgauge.params import Params
from memgauge.protocol.conditions import cut
from memgauge.records import Context, Result, Status
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.layout import PREPARED, STUDENT
from memgauge.stages.qa_cells import part_b_questions, retrieved_text
from memgauge.stages.solving import SUBJECT, role_solver
from memgauge.stages.students import read_student_stores
from memgauge.tasks.base import solve_all
from memgauge.tasks.summarise_for_question import SummariseForQuestion
from memgauge.text.tokens import count_tokens

ARMS = {"memorycpt": "trained", "memorycpt without QAD": "untrained"}  # arm: whose stores it retrieves from


@dataclass(frozen=True, slots=True)
class Summary:
    """One arm's summary for one question as a context (SM), and how it ended; only status ok is shown to a QA model."""

    arm: str
    context: Context
    status: Status
    tokens: int


def main(params: Params, benchmark: str) -> None:
    """Write `data/student/BENCHMARK/summaries.jsonl`, one summary an arm and question."""
    shown = params["summarise_retrieved"]
    solver = role_solver("summariser", params["role.summariser"])
    system = make_system("memorycpt", params["memory.memorycpt"])
    tools = Tools(solver, sentence_encoder())
    groups = part_b_questions(read_prepared(PREPARED / benchmark), params["ask_qa"])
    found: list[Summary] = []
    for arm, student in ARMS.items():
        stores = read_student_stores(benchmark, student)
        written = {history_id: some for history_id, some in groups.items() if history_id in stores}
        for history_id, questions in tqdm(written.items(), desc=f"summarise {benchmark} {arm}", delay=2):
            SUBJECT.set(history_id)
            store = stores[history_id]
            rankings = system.retrieve(store, [Query(each.text, each.date) for each in questions], tools)
            texts = [cut(retrieved_text(store, ranking), shown["context_tokens"]) for ranking in rankings]
            tasks = [
                SummariseForQuestion(question.text, text, question.date, shown["limit_tokens"])
                for question, text in zip(questions, texts, strict=True)
            ]
            results = solve_all(solver, tasks)
            found += [_summary(arm, question.id, result) for question, result in zip(questions, results, strict=True)]
    write_jsonl(STUDENT / benchmark / "summaries.jsonl", found)


def _summary(arm: str, question_id: str, result: Result[str]) -> Summary:
    """A reply without a word is the empty summary, which a summariser may choose, and no failure."""
    counts: Counter[str] = Counter()
    count_result(result, counts, "summariser")
    said_nothing = result.status in ("parse_error", "empty") and not any(map(str.isalnum, result.reply))
    text = result.output or ""
    context = Context(question_id, "SM", text, count_tokens(text), counts=dict(sorted(counts.items())))
    return Summary(arm, context, "ok" if said_nothing else result.status, result.usage.output_tokens)
