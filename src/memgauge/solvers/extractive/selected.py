"""answer_with_selection without a language model: the messages that rank best, and the answer they give alone."""

from collections.abc import Sequence
from itertools import groupby

from memgauge.solvers.extractive.answer import answer_questions
from memgauge.solvers.extractive.compose import UNKNOWN
from memgauge.solvers.extractive.context import Line, Parsed, parse_context
from memgauge.solvers.extractive.kinds import understand
from memgauge.solvers.extractive.ranking import Index, Vectors, Weights, best_positions, texts_of
from memgauge.tasks.answer_question import AnswerQuestion
from memgauge.tasks.answer_with_selection import AnswerWithSelection, SelectedAnswer
from memgauge.text.render import render_date

_SELECTED = 8  # messages at most


def answer_with_selection(
    tasks: Sequence[AnswerWithSelection], vectors: Vectors, weights: Weights
) -> list[SelectedAnswer]:
    """One answer a task from the messages selected for it; without any it is "I don't know"."""
    parsed = {context: parse_context(context) for context in dict.fromkeys(task.context for task in tasks)}
    questions = [understand(task.question).question for task in tasks]
    vectors.prepare([*(text for one in parsed.values() for text in texts_of(one)), *questions])
    indexes = {context: Index(one, vectors) for context, one in parsed.items() if one.sentences}
    selected = [_selected(task, indexes.get(task.context), vectors, weights) for task in tasks]
    shown = [
        AnswerQuestion(task.question, _text(lines), task.question_date)
        for task, lines in zip(tasks, selected, strict=True)
    ]
    answers = answer_questions(shown, vectors, weights)
    return [
        SelectedAnswer(tuple(map(_said, lines)), answer if lines else UNKNOWN)
        for lines, answer in zip(selected, answers, strict=True)
    ]


def _selected(task: AnswerWithSelection, index: Index | None, vectors: Vectors, weights: Weights) -> list[Line]:
    """The messages of the best sentences, in their order."""
    if index is None:
        return []
    expected = understand(task.question)
    scores = index.rank(expected, vectors.matrix([expected.question])[0], weights)
    best = best_positions(scores, len(scores))
    lines = list(dict.fromkeys(index.sentences[at].line for at in best))[:_SELECTED]
    return [_whole(index.parsed, line) for line in sorted(lines)]


def _whole(parsed: Parsed, number: int) -> Line:
    """The message with the caption of its picture."""
    line = parsed.lines[number]
    captions = [one.text for one in parsed.sentences if one.line == number and one.picture]
    return Line(line.speaker, f"{line.text}{''.join(f' [image: {caption}]' for caption in captions)}", line.day)


def _said(line: Line) -> str:
    return f"{line.speaker}: {line.text}" if line.speaker else line.text


def _text(lines: Sequence[Line]) -> str:
    """Messages under their days, as a context is written."""
    days = groupby(lines, key=lambda line: line.day)
    return "\n".join(
        row for day, group in days for row in (render_date(day.isoformat() if day else None), *map(_said, group))
    )
