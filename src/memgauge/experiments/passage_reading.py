"""Let one reader answer every question from the passages of every budget; nothing else of a question reaches it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memgauge.errors import InputError
from memgauge.experiments.passage_shown import Ranked
from memgauge.records import Question, Result, Status, Usage
from memgauge.tasks.answer_from_passages import AnswerFromPassages
from memgauge.tasks.base import Solver, solve_all
from memgauge.text.tokens import count_many


@dataclass(frozen=True, slots=True)
class PassageAnswer:
    """One answer at one budget. `passages` were shown: fewer than the budget where the ranking is short.

    `usage` is the reader's own count; where an answer came and no language model was called, it counts prompt and
    answer in cl100k_base and is marked as estimated. A prompt that was never sent took nothing.
    """

    question_id: str
    budget: int
    passages: int
    text: str
    status: Status
    usage: Usage


def passage_tasks(question: Question, ranked: Ranked, budgets: Sequence[int]) -> list[AnswerFromPassages]:
    """One task a budget: text and date of the question, and a prefix of its passages."""
    return [AnswerFromPassages(question.text, ranked.text(budget), question.date) for budget in budgets]


def read_passages(
    questions: Sequence[Question], ranked: Mapping[str, Ranked], budgets: Sequence[int], solver: Solver
) -> list[PassageAnswer]:
    """Answers by question, then budget; raises InputError for a question that was not ranked.

    A short ranking shows the same at several budgets: it is read once, and its cost is told at each of them.
    """
    if absent := next((each.id for each in questions if each.id not in ranked), None):
        raise InputError(f"question {absent!r} has no ranking; repeat `rank_passages`")
    cells = [(question, budget) for question in questions for budget in budgets]
    tasks = [task for question in questions for task in passage_tasks(question, ranked[question.id], budgets)]
    distinct = list(dict.fromkeys(tasks))
    solved = dict(zip(distinct, solve_all(solver, distinct), strict=True))
    results = [solved[task] for task in tasks]
    usages = _usages(tasks, results)
    return [
        _answer(question.id, budget, len(ranked[question.id].passages[:budget]), result, usage)
        for (question, budget), result, usage in zip(cells, results, usages, strict=True)
    ]


def _answer(question_id: str, budget: int, passages: int, result: Result[str], usage: Usage) -> PassageAnswer:
    """A failure keeps its status and raw reply; an ok without text is the status empty."""
    text = result.output if result.output is not None else result.reply
    status = "empty" if result.status == "ok" and not text.strip() else result.status
    return PassageAnswer(question_id, budget, passages, text, status, usage)


def _usages(tasks: Sequence[AnswerFromPassages], results: Sequence[Result[str]]) -> list[Usage]:
    """The results' own usage, or for answers that no language model gave a count of what one would have taken."""
    unmetered = [at for at, result in enumerate(results) if result.status == "ok" and not result.usage.calls]
    prompts = ["\n".join(message["content"] for message in tasks[at].messages()) for at in unmetered]
    sent = count_many(prompts) if prompts else []
    received = count_many([results[at].output or "" for at in unmetered]) if unmetered else []
    counted = {
        at: Usage(tokens, out, estimated=True) for at, tokens, out in zip(unmetered, sent, received, strict=True)
    }
    return [counted.get(at, result.usage) for at, result in enumerate(results)]
