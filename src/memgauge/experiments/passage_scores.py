"""What one reader's answers at every budget scored, by question, ready to be compared."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memgauge.errors import InputError
from memgauge.experiments.passage_evidence import Recall, question_recall
from memgauge.experiments.passage_reading import PassageAnswer
from memgauge.experiments.passage_shown import Ranked
from memgauge.protocol.rubric_scoring import OpenScore
from memgauge.records import History, Question, Status

POINTS = 100.0  # paper C's scale: a score in [0, 1] times 100


@dataclass(frozen=True, slots=True)
class PassageScore:
    """One answer at one budget: what it scored (in [0, 1], None if missing), what it cost, what it was shown.

    `kind` and `marks` are the score's (`protocol.rubric_scoring`); tokens are the reader's, `estimated` where it
    reported none.
    """

    question_id: str
    history_id: str
    group: str
    tier: str
    ability: str
    abstention: bool
    budget: int
    passages: int
    status: Status
    kind: str
    score: float | None
    contains_match: float | None
    as_released: float | None
    marks: tuple[float | None, ...]
    input_tokens: int
    output_tokens: int
    estimated: bool
    judge_tokens: int
    recall: float | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the comparison needs it."""

    id: str
    history_id: str
    group: str
    tier: str
    ability: str
    abstention: bool


@dataclass(frozen=True, slots=True)
class Table:
    """Scores in points (0 to 100, None if missing), tokens and recall by budget, in the order of `questions`."""

    questions: tuple[Asked, ...]
    points: Mapping[int, tuple[float | None, ...]]
    input_tokens: Mapping[int, tuple[int, ...]]
    output_tokens: Mapping[int, tuple[int, ...]]
    recall: Mapping[int, tuple[float | None, ...]]

    @property
    def budgets(self) -> list[int]:
        """Budgets in rising order."""
        return sorted(self.points)

    def tokens(self, budget: int) -> int:
        """Input and output tokens over all questions, whatever became of their scores (paper C)."""
        return sum(self.input_tokens[budget]) + sum(self.output_tokens[budget])

    def changes(self, budget: int, reference: int) -> list[float | None]:
        """Points at `budget` minus points at `reference`; None where either is missing."""
        pairs = zip(self.points[budget], self.points[reference], strict=True)
        return [None if a is None or b is None else a - b for a, b in pairs]


def tabulate(scores: Iterable[PassageScore], as_released: bool = False) -> Table:
    """Scores by question and budget; raises InputError unless every question stands once at every budget."""
    cells: dict[str, dict[int, PassageScore]] = {}
    for each in scores:
        if each.budget in cells.setdefault(each.question_id, {}):
            raise InputError(f"question {each.question_id!r} is scored twice at budget {each.budget}; keep one")
        cells[each.question_id][each.budget] = each
    budgets = sorted({budget for row in cells.values() for budget in row})
    for name, row in cells.items():
        if absent := [budget for budget in budgets if budget not in row]:
            raise InputError(f"question {name!r} has no score at budget {absent[0]}; repeat `score_passages`")
    rows = list(cells.values())
    return Table(
        tuple(_asked(row[budgets[0]]) for row in rows),
        {budget: tuple(_points(row[budget], as_released) for row in rows) for budget in budgets},
        {budget: tuple(row[budget].input_tokens for row in rows) for budget in budgets},
        {budget: tuple(row[budget].output_tokens for row in rows) for budget in budgets},
        {budget: tuple(row[budget].recall for row in rows) for budget in budgets},
    )


def select(table: Table, keep: Sequence[bool]) -> Table:
    """The questions for which `keep` is True."""
    places = [place for place, kept in enumerate(keep) if kept]
    return Table(
        tuple(table.questions[place] for place in places),
        {budget: tuple(column[place] for place in places) for budget, column in table.points.items()},
        {budget: tuple(column[place] for place in places) for budget, column in table.input_tokens.items()},
        {budget: tuple(column[place] for place in places) for budget, column in table.output_tokens.items()},
        {budget: tuple(column[place] for place in places) for budget, column in table.recall.items()},
    )


def _asked(each: PassageScore) -> Asked:
    return Asked(each.question_id, each.history_id, each.group, each.tier, each.ability, each.abstention)


def _points(each: PassageScore, as_released: bool) -> float | None:
    score = each.as_released if as_released else each.score
    return None if score is None else POINTS * score


def join_scores(
    pairs: Iterable[tuple[History, Sequence[Question]]],
    ranked: Mapping[str, Ranked],
    answers: Sequence[PassageAnswer],
    scores: Sequence[OpenScore],
) -> Iterator[PassageScore]:
    """Scores with what the comparison needs of question, history and passages; one history is held at a time.

    In the order of `pairs`, then of the answers; questions that were not answered are passed over.
    """
    found: dict[str, list[tuple[PassageAnswer, OpenScore]]] = {}
    for answer, score in zip(answers, scores, strict=True):
        found.setdefault(answer.question_id, []).append((answer, score))
    budgets = sorted({answer.budget for answer in answers})
    for history, questions in pairs:
        for question in questions:
            if question.id in found:
                pieces = [passage.pieces for passage in ranked[question.id].passages]
                recall = question_recall(history, question, pieces, budgets)
                for answer, score in found[question.id]:
                    yield _joined(history, question, answer, score, recall)


def _joined(
    history: History, question: Question, answer: PassageAnswer, score: OpenScore, recall: Recall
) -> PassageScore:
    return PassageScore(
        question_id=question.id,
        history_id=history.id,
        group=history.group,
        tier=recall.tier,
        ability=question.type,
        abstention=question.abstention,
        budget=answer.budget,
        passages=answer.passages,
        status=answer.status,
        kind=score.kind,
        score=score.score,
        contains_match=score.contains_match,
        as_released=score.as_released,
        marks=score.marks,
        input_tokens=answer.usage.input_tokens,
        output_tokens=answer.usage.output_tokens,
        estimated=answer.usage.estimated,
        judge_tokens=score.judge_tokens,
        recall=recall.by_budget[answer.budget],
    )
