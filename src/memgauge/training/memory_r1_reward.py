"""What Memory-R1's two agents are rewarded by: exact match of the answer, the manager's through the answer agent."""

from collections import Counter
from collections.abc import Sequence

from memgauge.memory.base import Query, Tools
from memgauge.memory.memory_r1 import MemoryR1
from memgauge.memory.memory_r1_bank import apply
from memgauge.memory.shared import dense_hits
from memgauge.records import Store
from memgauge.tasks.answer_with_selection import AnswerWithSelection
from memgauge.tasks.base import ParseFailure, solve_all
from memgauge.text.normalise import normalise
from memgauge.text.render import render_entries
from memgauge.training.memory_r1_tuples import AnswerRow, Linked, ManagerRow


def exact_match(answer: str, golds: Sequence[str]) -> float:
    """1 where the answer equals a gold after lower case, punctuation and articles are gone, else 0.

    >>> exact_match("The Red car.", ["red car"]), exact_match("a red car, I think", ["red car"]), exact_match("", [""])
    (1.0, 0.0, 1.0)
    """
    return float(normalise(answer) in {normalise(gold) for gold in golds})


def answer_reward(row: AnswerRow, reply: str) -> float:
    """The exact match of what a reply answers; an unreadable reply has 0."""
    read = row.task.parse(reply)
    return 0.0 if isinstance(read, ParseFailure) else exact_match(read.answer, row.golds)


def manager_reward(row: ManagerRow, reply: str, system: MemoryR1, answering: Tools) -> float:
    """The mean exact match over the linked questions, answered from the bank that a reply's operations leave.

    `answering` lends the frozen answer agent as its solver. An unreadable reply has 0, and so has an answer that fails.
    """
    operations = row.task.parse(reply)
    if isinstance(operations, ParseFailure):
        return 0.0
    bank = apply(row.bank, operations, row.shown, row.said, Counter())
    store = Store(row.history_id, system.name, bank.listed(), 0, 0)
    tasks = _questions(store, row.asked, system, answering)
    answers = [result.output for result in solve_all(answering.solver, tasks)]
    scores = [
        0.0 if answer is None else exact_match(answer.answer, question.golds)
        for answer, question in zip(answers, row.asked, strict=True)
    ]
    return sum(scores) / len(scores)


def _questions(store: Store, asked: Sequence[Linked], system: MemoryR1, answering: Tools) -> list[AnswerWithSelection]:
    rankings = dense_hits(store, [Query(one.text, one.date) for one in asked], answering.encoder)
    shown = [sorted(hit.position for hit in ranking.hits[: system.entries]) for ranking in rankings]
    return [
        AnswerWithSelection(one.text, render_entries([store.entries[at] for at in places]), one.date)
        for one, places in zip(asked, shown, strict=True)
    ]
