"""Silver evidence: a solver finds the turns that support each known answer, in the place of an annotator.

The answer goes to the finder only. What a reader is later shown are the turns found, never the answer. How far
the diagnosis moves with silver in the place of gold evidence is `silver_comparison`'s question.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from memgauge.errors import InputError
from memgauge.memory.base import Encoder
from memgauge.memory.shared import count_result, turn_text
from memgauge.metrics.lexical import unusable
from memgauge.records import History, Question, Result, Session, Status, Turn
from memgauge.retrieval.bm25 import Bm25Index
from memgauge.retrieval.dense import rank_dense
from memgauge.retrieval.fusion import fuse
from memgauge.tasks.base import ParseFailure, Solver, solve_all
from memgauge.tasks.find_evidence import MADE_UP, Candidate, FindEvidence
from memgauge.text.render import render_turn
from memgauge.text.tokens import count_many, count_tokens, truncate


@dataclass(frozen=True, slots=True)
class Silver:
    """The turns found for one question, ids in history order, none unless `status` is ok.

    An abstention question has no evidence to find: it is ok without a turn and without a task. Where the finder
    names no turn, or there is no answer to look for, the status is empty. `counts` says what the task took.
    """

    question_id: str
    turns: tuple[str, ...]
    status: Status
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Narrowing:
    """How much of a history a finder sees for one question: at most so many turns of so many tokens in all."""

    candidates: int
    candidate_tokens: int

    def __post_init__(self) -> None:
        for name, value in (("candidates", self.candidates), ("candidate_tokens", self.candidate_tokens)):
            if value < 1:
                raise InputError(f"find_evidence.{name} is {value}; it must be at least 1")


class HistoryIndex:
    """The turns of one history, indexed once for all of its questions."""

    def __init__(self, history: History, encoder: Encoder) -> None:
        self.turns: list[tuple[Session, Turn]] = list(history.turns())
        self._encoder = encoder
        texts = [render_turn(turn) for _, turn in self.turns]
        self._words = Bm25Index(texts)
        self._vectors: NDArray[np.float32] = encoder.encode(texts)
        self._tokens = count_many(texts)

    def rank(self, queries: Sequence[str]) -> list[list[int]]:
        """For each query every turn, best first: BM25 and cosine fused by rank, ties by history order."""
        places = range(len(self.turns))
        dense = rank_dense(self._vectors, self._encoder.encode(list(queries)))
        ranked = []
        for query, near in zip(queries, dense, strict=True):
            lexical = [each.position for each in self._words.search(query)]
            fused = fuse([lexical, [each.position for each in near]], corpus=places)
            ranked.append([int(each.id) for each in fused])
        return ranked

    def narrow(self, ranked: Sequence[int], limits: Narrowing) -> list[int]:
        """The best turns that fit, in history order; one that does not fit is passed over.

        The best turn is always among them, whatever its length.
        """
        chosen: list[int] = []
        left = limits.candidate_tokens
        for place in ranked:
            if len(chosen) == limits.candidates:
                break
            if self._tokens[place] <= left or not chosen:
                chosen.append(place)
                left -= self._tokens[place]
        return sorted(chosen)

    def candidate(self, place: int, limits: Narrowing) -> Candidate:
        """One turn as a finder sees it; of a turn longer than the limit only the start."""
        session, turn = self.turns[place]
        text = turn_text(turn)
        if count_tokens(text) > limits.candidate_tokens:
            text = truncate(text, limits.candidate_tokens)
        return Candidate(turn.speaker, text, session.date)


def find_silver(
    history: History, questions: Sequence[Question], solver: Solver, encoder: Encoder, limits: Narrowing
) -> list[Silver]:
    """Silver evidence of one history's questions, in their order.

    Raises MemgaugeError when the solver does not return one result a task.
    """
    asked = [question for question in questions if answers_of(question)]
    index = HistoryIndex(history, encoder) if asked else None
    found: dict[str, Silver] = {}
    if index is not None and index.turns:
        shown = _candidates(index, asked, limits)
        tasks = [_task(question, index, places, limits) for question, places in zip(asked, shown, strict=True)]
        results = solve_all(solver, tasks)
        for question, places, task, result in zip(asked, shown, tasks, results, strict=True):
            ids = [index.turns[place][1].id for place in places]
            found[question.id] = _silver(question, ids, task, result)
    return [found.get(question.id) or _without_task(question) for question in questions]


def answers_of(question: Question) -> tuple[str, ...]:
    """The answers a finder may look for: golds that say something, none for an abstention question."""
    return () if question.abstention else tuple(gold for gold in question.golds if gold.strip() and not unusable(gold))


def with_evidence(question: Question, silver: Silver) -> Question:
    """The question with silver in the place of gold evidence."""
    return replace(question, evidence=silver.turns, unresolved=())


def _candidates(index: HistoryIndex, questions: Sequence[Question], limits: Narrowing) -> list[list[int]]:
    """Each question's candidates: rankings for the question, its first answer, and both together, merged."""
    rankings: list[list[list[int]]] = [[] for _ in questions]
    answers = [answers_of(question)[0] for question in questions]
    asked = [question.text for question in questions]
    for queries in (asked, [f"{one} {other}" for one, other in zip(asked, answers, strict=True)], answers):
        for own, ranked in zip(rankings, index.rank(queries), strict=True):
            own.append(ranked)
    places = range(len(index.turns))
    merged = ([int(each.id) for each in fuse(own, corpus=places)] for own in rankings)
    return [index.narrow(ranked, limits) for ranked in merged]


def _task(question: Question, index: HistoryIndex, places: Sequence[int], limits: Narrowing) -> FindEvidence:
    turns = tuple(index.candidate(place, limits) for place in places)
    return FindEvidence(question.text, answers_of(question), turns, question.date)


def _silver(question: Question, ids: Sequence[str], task: FindEvidence, result: Result[tuple[int, ...]]) -> Silver:
    counts: Counter[str] = Counter(candidates=len(ids))
    count_result(result, counts, "finder")
    if result.status == "parse_error":
        failure = task.parse(result.reply)
        counts["made_up_turns"] += int(isinstance(failure, ParseFailure) and failure.reason == MADE_UP)
    named = result.output if result.status == "ok" else None
    turns = tuple(ids[position] for position in sorted(set(named or ())))
    status: Status = "empty" if result.status == "ok" and not turns else result.status
    return Silver(question.id, turns, status, dict(sorted(counts.items())))


def _without_task(question: Question) -> Silver:
    """A question that no finder was asked about."""
    return Silver(question.id, (), "ok" if question.abstention else "empty")
