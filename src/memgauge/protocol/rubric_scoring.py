"""Scores of open answers: a rubric's half-marks by a judge where there is a rubric, else the golds themselves.

A mark that cannot be read stays missing and makes its question's score missing; nothing is asked twice or mended.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memgauge.metrics.lexical import best, contains_match, token_f1
from memgauge.metrics.scoring import usable_golds
from memgauge.records import Question, Result, Status
from memgauge.stats.intervals import mean
from memgauge.tasks.base import Solver, solve_all
from memgauge.tasks.score_rubric_item import ScoreRubricItem
from memgauge.text.refusals import is_refusal

Kind = Literal["rubric", "token_f1", "refusal"]


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer to be scored; only one of status ok is."""

    question_id: str
    text: str
    status: Status


@dataclass(frozen=True, slots=True)
class OpenScore:
    """One answer's score in [0, 1]; None where it is missing.

    `kind` says what it is: the mean mark of the question's rubric; without a rubric the best gold's token F1,
    with `contains_match` beside it; for an abstention question without a rubric, whether the answer declines.
    `marks` are the rubric's, in its order, None where the judge gave none. `as_released` is the mean after
    int() has cut each mark, as BEAM's own scorer does: a half counts nothing. `judge_tokens` is what judging took.
    """

    kind: Kind
    score: float | None
    contains_match: float | None
    marks: tuple[float | None, ...]
    as_released: float | None
    judge_statuses: tuple[Status, ...]
    judge_tokens: int


def score_answers(
    questions: Mapping[str, Question], answers: Sequence[Answered], judge: Solver, show_question: bool = False
) -> list[OpenScore]:
    """One score an answer, in order. All criteria of all answers go to the judge in one call.

    The judge sees one criterion and the answer (paper C), with `show_question` the question too: no gold, no other
    criterion, and no context.
    """
    wanted = [(at, criterion) for at, answer in enumerate(answers) for criterion in _criteria(questions, answer)]
    tasks = [
        ScoreRubricItem(criterion, answers[at].text, questions[answers[at].question_id].text if show_question else None)
        for at, criterion in wanted
    ]
    results = solve_all(judge, tasks)
    marked: dict[int, list[Result[float]]] = {}
    for (at, _), result in zip(wanted, results, strict=True):
        marked.setdefault(at, []).append(result)
    return [_score(questions[answer.question_id], answer, marked.get(at, [])) for at, answer in enumerate(answers)]


def kind_of(question: Question) -> Kind:
    """How a question is scored."""
    if question.rubric:
        return "rubric"
    return "refusal" if question.abstention else "token_f1"


def _criteria(questions: Mapping[str, Question], answer: Answered) -> Iterator[str]:
    if answer.status == "ok":
        yield from questions[answer.question_id].rubric


def _score(question: Question, answer: Answered, results: Sequence[Result[float]]) -> OpenScore:
    kind = kind_of(question)
    marks = tuple(result.output if result.status == "ok" else None for result in results)
    statuses = tuple(result.status for result in results)
    spent = sum(result.usage.input_tokens + result.usage.output_tokens for result in results)
    if answer.status != "ok":
        return OpenScore(kind, None, None, (), None, (), 0)
    golds = usable_golds(question)
    contains = best(contains_match, answer.text, golds) if golds else None
    if kind == "rubric":
        return OpenScore(kind, _whole(marks), contains, marks, _whole(tuple(map(_cut, marks))), statuses, spent)
    score = float(is_refusal(answer.text)) if kind == "refusal" else best(token_f1, answer.text, golds)
    return OpenScore(kind, score, contains, (), score, (), 0)


def _whole(marks: Sequence[float | None]) -> float | None:
    """The mean of all marks; None as soon as one is missing."""
    known = [mark for mark in marks if mark is not None]
    return mean(known) if len(known) == len(marks) else None


def _cut(mark: float | None) -> float | None:
    return None if mark is None else float(int(mark))
