"""BudgetMem's pipeline at query time: filter, then entity, temporal and topic side by side, then the summary.

A chooser says for every module and question at which tier it runs; it sees what the module sees, as vectors. All
questions go through a module together, so that what the High tier asks is one call a module.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np

from memgauge.memory.base import Encoder, Tools
from memgauge.memory.budgetmem_modules import (
    TIERS,
    Asked,
    Notes,
    Settings,
    Tier,
    Vectors,
    concatenated,
    context_of,
    keyword_shares,
    listed,
    mixed_shares,
    passing,
    ranked,
    sectioned,
)
from memgauge.memory.shared import count_result
from memgauge.records import Entry
from memgauge.tasks.base import Solver, Task, solve_all
from memgauge.tasks.extract_relations import ASPECTS, Aspect, ExtractRelations
from memgauge.tasks.score_relevance import ScoreRelevance
from memgauge.tasks.summarise_for_question import SummariseForQuestion
from memgauge.text.tokens import truncate

Module = Literal["filter", "entity", "temporal", "topic", "summary"]
# What the router is told of each module: it serves all five with one policy.
MODULES: dict[Module, str] = {
    "filter": "Decide which of the passages found have to do with the question and drop the others.",
    "entity": "Find people, places and things in the passages, and how they are tied together.",
    "temporal": "Find out when things happened, and in which order.",
    "topic": "Find out what is talked about, and what was said about it.",
    "summary": "Write the short text from which the question will be answered.",
}
ROLE = "summariser"
_ONE_WORD = 1e-9  # any share of the question's words passes the Low filter


class Chooser(Protocol):
    """Who decides how much a module may cost."""

    def choose(self, module: Module, states: Vectors) -> Sequence[int]:
        """One place in TIERS for each question; `states` has a row for each: question vector, then pooled vector."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """Every module at one tier."""

    tier: Tier

    def choose(self, module: Module, states: Vectors) -> list[int]:
        """The same tier for every question."""
        return [TIERS.index(self.tier)] * len(states)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The text made for one question, the tier of each module (places in TIERS, in the order of MODULES), counts.

    Counts hold the role `summariser`'s tasks, calls and tokens, and every failure: a module whose High tier failed
    has passed on its input (filter, summary) or nothing (relations).
    """

    text: str
    tiers: tuple[int, ...]
    counts: dict[str, int]


def run(asked: Sequence[Asked], tools: Tools, settings: Settings, chooser: Chooser) -> list[Outcome]:
    """One outcome a question, in order; a question without passages gets the empty text and asks nothing."""
    if not asked:
        return []
    work = _Work(list(asked), tools, settings, chooser)
    work.filter()
    notes = work.relate()
    texts = work.summarise(notes)
    return [
        Outcome(text, tuple(tiers), dict(sorted((+counts).items())))
        for text, tiers, counts in zip(texts, work.tiers, work.counts, strict=True)
    ]


class _Work:
    """The state of one run: each question with what is left of its passages, its tiers so far, its counts."""

    def __init__(self, asked: list[Asked], tools: Tools, settings: Settings, chooser: Chooser) -> None:
        self.asked, self.settings, self.chooser = asked, settings, chooser
        self.solver: Solver = tools.solver
        self.encoder: Encoder = tools.encoder
        self.queries = tools.encoder.encode([one.query.text for one in asked])
        self.tiers: list[list[int]] = [[] for _ in asked]
        self.counts: list[Counter[str]] = [Counter() for _ in asked]

    def filter(self) -> None:
        """M1: fewer passages."""
        chosen = self._choose("filter", [one.passages for one in self.asked])
        scores = self._ask(
            {
                at: ScoreRelevance(one.query.text, one.shown(), one.query.date)
                for at, one in enumerate(self.asked)
                if chosen[at] == "high" and one.passages
            }
        )
        for at, one in enumerate(self.asked):
            self.asked[at] = replace(one, passages=self._kept(one, chosen[at], scores.get(at)))
            self.counts[at]["passages_filtered"] += len(one.passages) - len(self.asked[at].passages)

    def _kept(self, one: Asked, tier: Tier, scores: Sequence[int] | None) -> tuple[Entry, ...]:
        if tier == "low":
            return passing(one, keyword_shares(one), _ONE_WORD)
        if tier == "mid":
            return passing(one, mixed_shares(one, self.encoder, self.settings), self.settings.threshold)
        return one.passages if scores is None else passing(one, scores, self.settings.least_score)

    def relate(self) -> list[Notes]:
        """M2, M3 and M5: notes on each aspect, from the same passages."""
        passages = [one.passages for one in self.asked]
        chosen = {aspect: self._choose(aspect, passages) for aspect in ASPECTS}
        tasks = {
            (at, aspect): ExtractRelations(aspect, one.query.text, one.shown(), self.settings.notes, one.query.date)
            for aspect in ASPECTS
            for at, one in enumerate(self.asked)
            if chosen[aspect][at] == "high" and one.passages
        }
        lines = self._ask(tasks)
        return [
            {aspect: self._noted(one, aspect, chosen[aspect][at], lines.get((at, aspect))) for aspect in ASPECTS}
            for at, one in enumerate(self.asked)
        ]

    def _noted(self, one: Asked, aspect: Aspect, tier: Tier, lines: Sequence[str] | None) -> tuple[Entry, ...]:
        if tier == "low":
            return listed(aspect, one.passages)
        if tier == "mid":
            return ranked(aspect, one, self.encoder, self.settings.notes)
        return tuple(Entry("", line, ()) for line in lines or ())

    def summarise(self, notes: Sequence[Notes]) -> list[str]:
        """M4: the text shown to the reader."""
        chosen = self._choose("summary", [tuple(entry for some in one.values() for entry in some) for one in notes])
        settings = self.settings
        contexts = [
            context_of(noted, one.passages, settings.as_released) for one, noted in zip(self.asked, notes, strict=True)
        ]
        tasks = {
            at: SummariseForQuestion(one.query.text, contexts[at], one.query.date, settings.summary_tokens)
            for at, one in enumerate(self.asked)
            if chosen[at] == "high" and one.passages
        }
        summaries = self._ask(tasks)
        return [
            self._text(one, noted, chosen[at], summaries.get(at))
            for at, (one, noted) in enumerate(zip(self.asked, notes, strict=True))
        ]

    def _text(self, one: Asked, notes: Notes, tier: Tier, summary: str | None) -> str:
        if not one.passages:
            return ""
        if tier == "mid":
            return sectioned(notes, one, self.encoder, self.settings.summary_tokens)
        if tier == "low" or summary is None:
            return concatenated(notes, one.passages)
        return truncate(summary, self.settings.summary_tokens)  # the task only asks for a limit

    def _choose(self, module: Module, texts: Sequence[Sequence[Entry]]) -> list[Tier]:
        """Each question's tier, from its own vector and the mean of its texts' vectors."""
        pooled = np.stack([self._mean([entry.text for entry in some]) for some in texts])
        places = list(self.chooser.choose(module, np.hstack([self.queries, pooled])))
        for tiers, place in zip(self.tiers, places, strict=True):
            tiers.append(place)
        return [TIERS[place] for place in places]

    def _mean(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros(self.queries.shape[1], dtype=np.float32)
        mean: Vectors = self.encoder.encode(texts).mean(axis=0).astype(np.float32)
        return mean

    def _ask(self, tasks: Mapping[Any, Task[Any]]) -> dict[Any, Any]:
        """The outputs by the tasks' keys (a question's place, alone or first), failures left out and counted."""
        outputs: dict[Any, Any] = {}
        for (key, task), result in zip(tasks.items(), solve_all(self.solver, list(tasks.values())), strict=True):
            counts = self.counts[key[0] if isinstance(key, tuple) else key]
            count_result(result, counts, ROLE)
            if result.output is None:
                counts[f"{task.name}_failed"] += 1
            else:
                outputs[key] = result.output
        return outputs
