"""What is read from a student's stores and answered from it: for the stages that ask, not for those that write."""

from collections.abc import Mapping, Sequence

from memgauge.memory.base import Query, Tools
from memgauge.memory.catalogue import make_system
from memgauge.params import Params
from memgauge.protocol.answering import answer
from memgauge.protocol.conditions import retrieved
from memgauge.records import Context, Question
from memgauge.solvers.extractive.solver import ExtractiveSolver
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.qa_cells import Shown
from memgauge.stages.solving import by_subject
from memgauge.stages.students import Stores
from memgauge.tasks.base import Solver

Groups = Mapping[str, Sequence[Question]]  # by history id
EVERY = 1_000_000  # entries of a ranking: depth and read budget bound what is shown


def retrieved_contexts(options: Params, stores: Stores, groups: Groups, read_budget: int) -> list[Context]:
    """All that `memorycpt` with these options retrieves for every question (RM), within the read budget."""
    system = make_system("memorycpt", options)
    tools = Tools(ExtractiveSolver(sentence_encoder()), sentence_encoder())  # its retrieval asks no solver
    found = []
    for history_id, questions in groups.items():
        store = stores[history_id]
        rankings = system.retrieve(store, [Query(each.text, each.date) for each in questions], tools)
        found += [
            retrieved(question, store, ranking, EVERY, "topk", read_budget)
            for question, ranking in zip(questions, rankings, strict=True)
        ]
    return found


def ask(contexts: Sequence[Context], groups: Groups, qa: Solver) -> list[Shown]:
    """Every question with its context, in order of the groups, and the QA model's answer."""
    questions = [question for some in groups.values() for question in some]
    pairs = zip(questions, contexts, strict=True)
    shown = []
    for some in by_subject(pairs, lambda pair: pair[0].history_id):
        asked, given = [question for question, _ in some], [context for _, context in some]
        answers = answer(asked, given, qa)
        shown += [Shown(one, (context,), reply) for (one, context), reply in zip(some, answers, strict=True)]
    return shown
