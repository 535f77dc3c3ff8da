"""The solver without a language model: each task solved by ranking and cutting its own inputs."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from math import isfinite
from typing import Any, TypeVar

from memgauge.errors import InputError, unknown_name
from memgauge.records import Result
from memgauge.solvers.extractive.answer import answer_questions
from memgauge.solvers.extractive.choices import choose_children, choose_pages
from memgauge.solvers.extractive.criteria import score_criteria
from memgauge.solvers.extractive.episodes import merge_episodes, write_episodes
from memgauge.solvers.extractive.fact_lists import decide_updates, list_facts, profile_users
from memgauge.solvers.extractive.facts import extract_facts
from memgauge.solvers.extractive.find import find_evidence
from memgauge.solvers.extractive.gist import write_gists
from memgauge.solvers.extractive.importance import rate_importances
from memgauge.solvers.extractive.judge import judge_answers
from memgauge.solvers.extractive.manage import manage_memories, note_facts
from memgauge.solvers.extractive.pages import describe_chains, judge_continuities, name_themes, pick_keywords
from memgauge.solvers.extractive.probes import propose_questions
from memgauge.solvers.extractive.question_notes import summarise_for_questions
from memgauge.solvers.extractive.ranking import Encoder, Vectors, Weights
from memgauge.solvers.extractive.reasons import Reasoned
from memgauge.solvers.extractive.records import select_evidence
from memgauge.solvers.extractive.refine import refine_summaries
from memgauge.solvers.extractive.relevance import extract_relations, score_relevance
from memgauge.solvers.extractive.segments import segment_batches
from memgauge.solvers.extractive.selected import answer_with_selection
from memgauge.solvers.extractive.summary import summarise_sessions
from memgauge.solvers.extractive.track_state import track_states
from memgauge.tasks.base import Task

Output = TypeVar("Output")
Method = Callable[[Sequence[Any], Vectors, Weights], Sequence[Any]]
METHODS: dict[str, Method] = {
    "answer_question": answer_questions,
    "summarise_session": summarise_sessions,
    "refine_summary": refine_summaries,
    "propose_questions": propose_questions,
    "select_evidence": select_evidence,
    "write_gist": write_gists,
    "rate_importance": rate_importances,
    "choose_child": choose_children,
    "choose_pages": choose_pages,
    "find_evidence": find_evidence,
    "judge_answer": judge_answers,
    "score_rubric_item": score_criteria,
    "track_state": track_states,
    "list_facts": list_facts,
    "decide_update": decide_updates,
    "judge_continuity": judge_continuities,
    "describe_chain": describe_chains,
    "name_themes": name_themes,
    "profile_user": profile_users,
    "pick_keywords": pick_keywords,
    "segment_batch": segment_batches,
    "write_episode": write_episodes,
    "merge_episodes": merge_episodes,
    "extract_facts": extract_facts,
    "summarise_for_question": summarise_for_questions,
    "note_facts": note_facts,
    "manage_memories": manage_memories,
    "answer_with_selection": answer_with_selection,
    "score_relevance": score_relevance,
    "extract_relations": extract_relations,
}


def _check(name: str, value: object) -> None:
    if name in ("phrase", "item") and not (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        raise InputError(f"threshold {name} is {value!r}; it must be a whole number of at least 1")
    if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value):
        raise InputError(f"threshold {name} is {value!r}; it must be a finite number")


class ExtractiveSolver:
    """Solves tasks with embeddings, BM25, names, dates and numbers; `thresholds` are fields of `Weights`.

    Deterministic; no output is ever missing, so every status is ok and every usage zero. Texts already encoded
    stay encoded for the life of the solver. Raises InputError for an unknown threshold.
    """

    def __init__(self, encoder: Encoder, **thresholds: Any) -> None:
        known = [one.name for one in fields(Weights)]
        for name in thresholds:
            if name not in known:
                raise unknown_name("threshold of the extractive solver", name, known)
            _check(name, thresholds[name])
        self._weights = Weights(**thresholds)
        self._vectors = Vectors(encoder)

    def solve(self, tasks: Sequence[Task[Output]]) -> list[Result[Output]]:
        """Results in the order of the tasks. Raises InputError for a task it has no method for."""
        by_name: dict[str, list[int]] = {}
        for position, task in enumerate(tasks):
            by_name.setdefault(task.name, []).append(position)
        outputs: dict[int, Any] = {}
        for name, positions in by_name.items():
            if name not in METHODS:
                raise unknown_name("task of the extractive solver", name, sorted(METHODS))
            solved = METHODS[name]([tasks[position] for position in positions], self._vectors, self._weights)
            outputs.update(zip(positions, solved, strict=True))
        return [_result(task, outputs[position]) for position, task in enumerate(tasks)]


def _result(task: Any, solved: Any) -> Result[Any]:
    """A method that gives its reason also leaves the reply that a model would learn to give."""
    if isinstance(solved, Reasoned):
        return Result(solved.output, "ok", reply=task.reply_of(solved.reason, solved.output))
    return Result(solved, "ok")
