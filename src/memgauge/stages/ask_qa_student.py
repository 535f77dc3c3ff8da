"""Stage `ask_qa_student`: MemoryCPT, its ablations and the history itself, answered by the QA model."""

from collections.abc import Iterator, Mapping, Sequence

from memgauge.datasets.prepared import read_prepared
from memgauge.experiments.qpc import Kind, Label
from memgauge.files import read_jsonl, write_jsonl
from memgauge.metrics.cost import Tokens, tokens_by_role
from memgauge.params import Params
from memgauge.protocol.answering import answer
from memgauge.protocol.conditions import complete, cut, recent
from memgauge.records import Answer, Benchmark, Context
from memgauge.stages.layout import BASE_A, PREPARED, QA, STUDENT
from memgauge.stages.qa_cells import QaCell, RoleUsed, Shown, cell_questions, metered, part_b_questions
from memgauge.stages.solving import by_subject, solver_name
from memgauge.stages.student_answers import Groups, ask, retrieved_contexts
from memgauge.stages.students import Stores, read_student_stores
from memgauge.stages.summarise_retrieved import ARMS, Summary
from memgauge.tasks.base import Solver
from memgauge.text.tokens import count_tokens

WITHOUT_QAR, WITHOUT_FS = "memorycpt without QAR", "memorycpt without FS"
LABELS: dict[str, Label] = {"trained": "trained", "untrained": "untrained"}


def main(params: Params, benchmark: str) -> None:
    """Write `data/qa/BENCHMARK-student.jsonl`: MemoryCPT and each ablation where the student wrote, and `no_memory`.

    Without QAR nothing looks at the question: the QA model reads the whole store. Without FS it reads what was
    retrieved. Both as far as the read budget goes. `no_memory` is the most recent part of the history itself.
    """
    prepared = read_prepared(PREPARED / benchmark)
    groups = part_b_questions(prepared, params["ask_qa"])
    qa = metered("qa", params["role.qa"])
    stores = {student: read_student_stores(benchmark, student) for student in LABELS}
    cells = _student_cells(params, prepared, groups, stores, qa) if stores["trained"] else []
    recents = _recent(prepared, groups, params[f"benchmark.{benchmark}.recent_tokens"])
    nothing: dict[str, dict[str, Tokens]] = {history: {} for history in groups}
    asked = cell_questions(ask(recents, groups, qa[0]), prepared, params["role.judge"])
    cells.append(QaCell("no_memory", "system", "nothing to train", {"qa": qa[1]}, nothing, asked))
    write_jsonl(QA / f"{benchmark}-student.jsonl", cells)


def _student_cells(
    params: Params,
    prepared: Benchmark,
    groups: Groups,
    stores: Mapping[str, Stores],
    qa: tuple[Solver, RoleUsed],
) -> list[QaCell]:
    """MemoryCPT and its three ablations."""
    writers = {"trained": RoleUsed(str(BASE_A), "calls"), "untrained": RoleUsed(params["distil.model"], "calls")}
    summariser = RoleUsed(solver_name(params["role.summariser"]), "calls")

    def cell(name: str, kind: Kind, student: str, shown: Sequence[Shown]) -> QaCell:
        roles = {"writer": writers[student], "summariser": summariser, "qa": qa[1]}
        offline = {history: tokens_by_role(stores[student][history].counts) for history in groups}
        found = cell_questions(shown, prepared, params["role.judge"])
        return QaCell(name, kind, LABELS[student], roles, offline, found)

    cells = []
    summaries = list(read_jsonl(STUDENT / prepared.name / "summaries.jsonl", Summary))
    for arm, student in ARMS.items():
        shown = list(_summarised([each for each in summaries if each.arm == arm], groups, qa[0]))
        cells.append(cell(arm, "system" if student == "trained" else "ablation", student, shown))
    read_budget = params["retrieval"]["read_budget_tokens"]
    whole = list(_whole_stores(stores["trained"], groups, read_budget))
    cells.append(cell(WITHOUT_QAR, "ablation", "trained", ask(whole, groups, qa[0])))
    retrieved = retrieved_contexts(params["memory.memorycpt"], stores["trained"], groups, read_budget)
    cells.append(cell(WITHOUT_FS, "ablation", "trained", ask(retrieved, groups, qa[0])))
    return cells


def _recent(prepared: Benchmark, groups: Groups, limit: int) -> list[Context]:
    histories = {history.id: history for history in prepared.histories}
    return [each for name, questions in groups.items() for each in recent(questions, histories[name], limit)]


def _whole_stores(stores: Stores, groups: Groups, read_budget: int) -> Iterator[Context]:
    for history_id, questions in groups.items():
        for question in questions:
            text = cut(complete(question, stores[history_id]).text, read_budget)
            yield Context(question.id, "CSM", text, count_tokens(text))


def _summarised(summaries: Sequence[Summary], groups: Groups, qa: Solver) -> Iterator[Shown]:
    """Only summaries that ended well are answered from; the others' answers are missing with their status."""
    made = {each.context.question_id: each for each in summaries}
    questions = [question for some in groups.values() for question in some]
    well = [question for question in questions if made[question.id].status == "ok"]
    answers = {
        reply.question_id: reply
        for some in by_subject(well, lambda question: question.history_id)
        for reply in answer(some, [made[question.id].context for question in some], qa)
    }
    for question in questions:
        one = made[question.id]
        reply = answers.get(question.id) or Answer(question.id, "SM", "", one.status, one.context.tokens)
        yield Shown(question, (one.context,), reply, one.context.text, one.tokens)
