"""Stage `ask_qa_depths`: what the QA model answers from the student's stores as more episodes and facts are shown."""

from memgauge.datasets.prepared import read_prepared
from memgauge.files import write_jsonl
from memgauge.metrics.cost import tokens_by_role
from memgauge.params import Params
from memgauge.stages.layout import BASE_A, PREPARED, QA
from memgauge.stages.qa_cells import QaCell, RoleUsed, cell_questions, metered, part_b_questions
from memgauge.stages.student_answers import ask, retrieved_contexts
from memgauge.stages.students import read_student_stores


def main(params: Params, benchmark: str) -> None:
    """Write `data/qa/BENCHMARK-depths.jsonl`, a cell a depth, named "EPISODES/FACTS"; no summariser is asked.

    None where the student wrote nothing.
    """
    prepared, judge = read_prepared(PREPARED / benchmark), params["role.judge"]
    groups = part_b_questions(prepared, params["ask_qa"])
    stores = read_student_stores(benchmark, "trained")
    offline = {name: tokens_by_role(store.counts) for name, store in stores.items()}
    qa, answered_by = metered("qa", params["role.qa"])
    roles = {"writer": RoleUsed(str(BASE_A), "calls"), "qa": answered_by}
    cells = []
    for episodes, facts in params["ask_qa_depths"]["depths"] if stores else ():
        options = {**params["memory.memorycpt"], "episodes": episodes, "facts": facts}
        contexts = retrieved_contexts(options, stores, groups, params["retrieval"]["read_budget_tokens"])
        asked = cell_questions(ask(contexts, groups, qa), prepared, judge)
        cells.append(QaCell(f"{episodes}/{facts}", "ablation", "trained", roles, offline, asked))
    write_jsonl(QA / f"{benchmark}-depths.jsonl", cells)
