"""What the stages of quality per cost do alike: which questions, who is metered how, one system's answers as a cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memgauge.experiments.qpc import Asked, Kind, Label, asked_question
from memgauge.memory.base import Ranking
from memgauge.metrics.cost import AsIfAsked, Counted, Tokens
from memgauge.metrics.scoring import score_item, usable_golds
from memgauge.params import Params
from memgauge.protocol.judging import judge_stored
from memgauge.records import Answer, Benchmark, Context, Question, Store
from memgauge.stages.shared import asked
from memgauge.stages.solving import by_subject, role_solver, solver_name
from memgauge.tasks.base import Solver
from memgauge.tasks.judge_answer import VARIANTS
from memgauge.text.qwen import count_qwen
from memgauge.text.render import render_entries


@dataclass(frozen=True, slots=True)
class RoleUsed:
    """Who did a role, and whether its tokens are those of calls or of prompts that a model would have been sent."""

    solver: str
    counted: Counted


@dataclass(frozen=True, slots=True)
class QaCell:
    """One system as its QA model answered: tokens by history and role offline, each question's scores and tokens."""

    system: str
    kind: Kind
    label: Label
    roles: dict[str, RoleUsed]
    stores: dict[str, dict[str, Tokens]]
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A question with the contexts made on the way to its answer, and the answer; `summary` where one was made."""

    question: Question
    contexts: tuple[Context, ...]
    answer: Answer
    summary: str | None = None
    summary_tokens: int | None = None


def part_b_questions(prepared: Benchmark, options: Mapping[str, Any]) -> dict[str, list[Question]]:
    """The questions that part B asks by history: those with a usable gold about histories of the split test."""
    test = {history.id for history in prepared.histories if history.split == "test"}
    chosen = [question for question in prepared.questions if question.history_id in test and usable_golds(question)]
    return asked({"ask": dict(options)}, tuple(chosen))


def qwen_tokens(text: str) -> int:
    """Tokens of a text as the papers' models count it."""
    return count_qwen([text])[0]


def metered(role: str, options: Params) -> tuple[Solver, RoleUsed]:
    """A role's solver; one without a language model is metered as the model it stands for would have been."""
    solver = role_solver(role, options)
    if options.get("solver") == "language_model":
        return solver, RoleUsed(solver_name(options), "calls")
    return AsIfAsked(solver, qwen_tokens), RoleUsed(solver_name(options), "as if")


def retrieved_text(store: Store, ranking: Ranking) -> str:
    """All ranked entries in store order."""
    return render_entries([store.entries[at] for at in sorted({hit.position for hit in ranking.hits})])


def cell_questions(shown: Sequence[Shown], prepared: Benchmark, judge: Params) -> tuple[Asked, ...]:
    """Every question scored by the metrics and judged, strictly and generously."""
    groups = {history.id: history.group for history in prepared.histories}
    solver, name = role_solver("judge", judge), solver_name(judge)
    judged = [
        [
            record
            for some in by_subject(shown, lambda each: each.question.history_id)
            for record in judge_stored(*_questions_and_answers(some), solver, name, variant)
        ]
        for variant in VARIANTS
    ]
    found = []
    for place, each in enumerate(shown):
        group = groups[each.question.history_id]
        item = score_item(each.question, each.answer, group, [], "", [], prepared.name == "locomo")
        verdicts = [records[place].correct for records in judged]
        strict, generous = (None if one is None else float(one) for one in verdicts)
        found.append(
            asked_question(
                item,
                each.contexts,
                each.answer,
                verdicts=(strict, generous),
                summary=each.summary,
                summary_tokens=each.summary_tokens,
            )
        )
    return tuple(found)


def _questions_and_answers(shown: Sequence[Shown]) -> tuple[list[Question], list[Answer]]:
    return [each.question for each in shown], [each.answer for each in shown]
