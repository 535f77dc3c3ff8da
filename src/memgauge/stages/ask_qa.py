"""Stage `ask_qa`: one memory system's questions of part B, every token on the way counted, answered by the QA model."""

from collections.abc import Iterator, Sequence

from tqdm import tqdm

from memgauge.datasets.prepared import read_prepared
from memgauge.experiments.qpc import Label
from memgauge.files import write_jsonl
from memgauge.memory.base import MemorySystem, Query, Tools
from memgauge.memory.catalogue import make_system
from memgauge.metrics.cost import tokens_by_role
from memgauge.params import Params
from memgauge.protocol.answering import answer
from memgauge.protocol.conditions import retrieved, write_store
from memgauge.protocol.selection import answer_with_selection
from memgauge.records import Context, Question, Store
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.layout import PREPARED, QA
from memgauge.stages.qa_cells import QaCell, Shown, cell_questions, metered, part_b_questions
from memgauge.stages.solving import SUBJECT
from memgauge.tasks.base import Solver
from memgauge.text.tokens import count_tokens

# Methods that train something; without its adapter or router a run of theirs is labelled untrained.
TRAINABLE = ("memory_r1", "budgetmem", "memorycpt")
TRAINED_ELSEWHERE = "memorycpt"  # the grid runs it with the writer's role; `ask_qa_student` asks what was trained
ANSWERING = {"memory_r1": answer_with_selection}  # systems that answer in a way of their own


def main(params: Params, benchmark: str, system: str) -> None:
    """Write `data/qa/BENCHMARK/SYSTEM.jsonl`, one cell.

    The stores are written again, for the histories that are asked about only: so that the tokens of a writer
    without a language model can be counted as if one had been asked. They are those of the diagnosis otherwise.
    """
    prepared = read_prepared(PREPARED / benchmark)
    groups = part_b_questions(prepared, params["ask_qa"])
    histories = {history.id: history for history in prepared.histories}
    memory = make_system(system, params[f"memory.{system}"])
    writer, written_by = metered("writer", params["role.writer"])
    qa, answered_by = metered("qa", params["role.qa"])
    tools, budget = Tools(writer, sentence_encoder()), params[f"benchmark.{benchmark}.write_budget_tokens"]
    stores, shown = {}, []
    for history_id, questions in tqdm(groups.items(), desc=f"ask_qa {benchmark} {system}", delay=2):
        SUBJECT.set(history_id)
        store = write_store(memory, histories[history_id], budget, tools)
        stores[history_id] = tokens_by_role(store.counts)
        shown += list(_answered(memory, store, questions, tools, qa, params["retrieval"]))
    name = f"{system} by {written_by.solver}" if system == TRAINED_ELSEWHERE else system
    label: Label = "untrained" if system in TRAINABLE else "nothing to train"
    found = cell_questions(shown, prepared, params["role.judge"])
    spent = {role for tokens in (*stores.values(), *(each.tokens for each in found)) for role in tokens}
    roles = {**dict.fromkeys(sorted(spent), written_by), "qa": answered_by}  # the writer's solver also chooses
    write_jsonl(QA / benchmark / f"{system}.jsonl", [QaCell(name, "system", label, roles, stores, found)])


def _answered(
    memory: MemorySystem, store: Store, questions: Sequence[Question], tools: Tools, qa: Solver, cut: Params
) -> Iterator[Shown]:
    queries = [Query(question.text, question.date) for question in questions]
    rankings = memory.retrieve(store, queries, tools)
    found = [
        retrieved(question, store, ranking, cut["k"], cut["mode"], cut["read_budget_tokens"])
        for question, ranking in zip(questions, rankings, strict=True)
    ]
    made = _summaries(memory, store, queries, found, tools)
    last = made or found
    answers = ANSWERING.get(memory.name, answer)(questions, last, qa)
    for place, (question, reply) in enumerate(zip(questions, answers, strict=True)):
        contexts = (found[place], *made[place : place + 1])
        if made:
            yield Shown(question, contexts, reply, made[place].text, made[place].tokens)
        else:
            yield Shown(question, contexts, reply)


def _summaries(
    memory: MemorySystem, store: Store, queries: Sequence[Query], found: Sequence[Context], tools: Tools
) -> list[Context]:
    """What a system that works at query time makes of what it retrieved; nothing of any other system."""
    summarise = getattr(memory, "summarise", None)
    if summarise is None:
        return []
    return [
        Context(context.question_id, "SM", one.text, count_tokens(one.text), counts=one.counts)
        for context, one in zip(found, summarise(store, queries, found, tools), strict=True)
    ]
