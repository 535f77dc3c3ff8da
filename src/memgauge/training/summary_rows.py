"""What the summariser learns from: questions of train histories, what was retrieved for them, the teacher's summary.

Nothing of a test history gets here, and the golds never reach a prompt: only the reward reads them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from memgauge.errors import InputError
from memgauge.records import Benchmark, History, Question
from memgauge.tasks.base import Solver
from memgauge.tasks.summarise_for_question import SummariseForQuestion

Pair = tuple[History, tuple[Question, ...]]
Retrieve = Callable[[History, Sequence[Question]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One question with the retrieved text the summariser reads; `target` is the teacher's summary, if it has one.

    `golds` are for the reward alone; `date` is the ISO date of the moment the question is asked.
    """

    question_id: str
    history_id: str
    question: str
    context: str
    date: str | None
    golds: tuple[str, ...]
    target: str | None = None

    def task(self, limit_tokens: int) -> SummariseForQuestion:
        """The task as the summariser is asked it."""
        return SummariseForQuestion(self.question, self.context, self.date, limit_tokens)


def summary_rows(pairs: Iterable[Pair], retrieve: Retrieve, split: str = "train") -> list[SummaryRow]:
    """A row for each question that has golds, in order of histories and questions.

    `retrieve` gives the context of each question of one history. Raises InputError for a history of another split:
    training must never see what is evaluated.
    """
    rows: list[SummaryRow] = []
    for history, questions in pairs:
        if history.split != split:
            raise InputError(
                f"history {history.id} is of the split {history.split}, not {split}; the summariser learns and is "
                "checked on its own splits only"
            )
        asked = [question for question in questions if question.golds and not question.abstention]
        for question, context in zip(asked, retrieve(history, asked), strict=True):
            rows.append(SummaryRow(question.id, history.id, question.text, context, question.date, question.golds))
    return rows


def with_targets(rows: Sequence[SummaryRow], teacher: Solver, limit_tokens: int) -> list[SummaryRow]:
    """The rows the teacher has a summary for, each with it; the others are left out (the caller counts them)."""
    results = teacher.solve([row.task(limit_tokens) for row in rows])
    return [
        replace(row, target=result.output)
        for row, result in zip(rows, results, strict=True)
        if result.status == "ok" and result.output
    ]


def check_rows(rows: Iterable[SummaryRow], evaluated: Benchmark) -> None:
    """Raises InputError for the first row that has something of the evaluated benchmark (see `Marks`)."""
    marks = Marks.of(evaluated)
    for row in rows:
        if met := marks.meet(row):
            raise InputError(f"the row {row.question_id} {met} of {evaluated.name}; train on other histories")


def clear_rows(rows: Iterable[SummaryRow], evaluated: Benchmark) -> list[SummaryRow]:
    """The rows that have nothing of the evaluated benchmark: generated texts coincide by chance."""
    marks = Marks.of(evaluated)
    return [row for row in rows if not marks.meet(row)]


@dataclass(frozen=True, slots=True)
class Marks:
    """What a benchmark is known by: its questions with a gold, and its evidence turns, without case and blanks."""

    asked: frozenset[tuple[str, str]]
    evidence: tuple[str, ...]

    @classmethod
    def of(cls, benchmark: Benchmark) -> "Marks":
        """The marks of all questions."""
        texts = {(history.id, turn.id): turn.text for history in benchmark.histories for _, turn in history.turns()}
        places = {(q.history_id, turn_id) for q in benchmark.questions for turn_id in q.evidence}
        return cls(
            frozenset((_plain(q.text), _plain(gold)) for q in benchmark.questions for gold in q.golds),
            tuple(sorted({_plain(texts[place]) for place in places if place in texts})),
        )

    def meet(self, row: SummaryRow) -> str:
        """What a row has of the benchmark, in words; empty for nothing."""
        if any((_plain(row.question), _plain(gold)) in self.asked for gold in row.golds):
            return "asks a question"
        shown = _plain(row.context)
        told = next((text for text in self.evidence if text in shown), "")
        return f"shows {told!r}, evidence" if told else ""


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
