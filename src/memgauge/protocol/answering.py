"""Let a reader answer questions from contexts; nothing else of a question reaches it."""

from collections.abc import Sequence

from memgauge.records import Answer, Context, Question, Result
from memgauge.tasks.answer_question import AnswerQuestion
from memgauge.tasks.base import Solver, solve_all


def answer(questions: Sequence[Question], contexts: Sequence[Context], solver: Solver) -> list[Answer]:
    """One answer per question and context, in the order given.

    The solver sees text and date of the question and the context's text only: no golds, type, evidence, ids
    or condition. Tasks with one context stand next to each other, so that a solver may read it once.
    """
    pairs = list(zip(questions, contexts, strict=True))
    for question, context in pairs:
        assert question.id == context.question_id, (question.id, context.question_id)
    order = _by_context(contexts)
    tasks = [AnswerQuestion(pairs[at][0].text, pairs[at][1].text, pairs[at][0].date) for at in order]
    results = solve_all(solver, tasks)
    answers = {at: _answer(pairs[at][1], result) for at, result in zip(order, results, strict=True)}
    return [answers[at] for at in range(len(pairs))]


def _by_context(contexts: Sequence[Context]) -> list[int]:
    """Positions grouped by context text, groups and members by first place."""
    first: dict[str, int] = {}
    for position, context in enumerate(contexts):
        first.setdefault(context.text, position)
    return sorted(range(len(contexts)), key=lambda position: (first[contexts[position].text], position))


def _answer(context: Context, result: Result[str]) -> Answer:
    """A failure keeps its status and raw reply; an ok without text is the status empty."""
    text = result.output if result.output is not None else result.reply
    status = result.status
    if status == "ok" and not (result.output or "").strip():
        status = "empty"
    return Answer(context.question_id, context.condition, text, status, context.tokens, result.usage, context.warnings)
