"""Let Memory-R1's answer agent answer: it writes out the entries that matter first, inside the same call."""

from collections.abc import Sequence

from memgauge.records import Answer, Context, Question
from memgauge.tasks.answer_with_selection import AnswerWithSelection
from memgauge.tasks.base import Solver, solve_all


def answer_with_selection(questions: Sequence[Question], contexts: Sequence[Context], solver: Solver) -> list[Answer]:
    """One answer per question and context, in the order given, as `protocol.answering.answer` gives them.

    The solver sees text and date of the question and the context's text only. An answer's text is what stands after
    the marker; a reply without one keeps its status and its raw text.
    """
    pairs = list(zip(questions, contexts, strict=True))
    for question, context in pairs:
        assert question.id == context.question_id, (question.id, context.question_id)
    tasks = [AnswerWithSelection(question.text, context.text, question.date) for question, context in pairs]
    return [
        Answer(
            context.question_id,
            context.condition,
            result.reply if result.output is None else result.output.answer,
            result.status,
            context.tokens,
            result.usage,
            context.warnings,
        )
        for (_, context), result in zip(pairs, solve_all(solver, tasks), strict=True)
    ]
