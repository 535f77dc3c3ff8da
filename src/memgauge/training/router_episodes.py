"""What the router plays: a question goes through BudgetMem's pipeline once and has a quality, a cost, a reward."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from memgauge.errors import InputError
from memgauge.llm.prices import PriceRow
from memgauge.memory.base import Query, Tools
from memgauge.memory.budgetmem import Budgetmem, asked_of
from memgauge.memory.budgetmem_modules import Asked
from memgauge.memory.budgetmem_pipeline import ROLE, Chooser, Outcome, run
from memgauge.metrics.cost import Tokens, cost, tokens_by_role
from memgauge.metrics.lexical import best, token_f1
from memgauge.protocol.conditions import retrieved, write_store
from memgauge.records import History, Question, Result, Split
from memgauge.tasks.answer_question import AnswerQuestion
from memgauge.tasks.base import Solver, Task, solve_all
from memgauge.text.tokens import count_tokens

Output = TypeVar("Output")
Pair = tuple[History, tuple[Question, ...]]
Quality = Callable[[Sequence[int], Sequence[str]], Sequence[float]]  # of each question (place) answered from a text
LOW, HIGH = 5, 95  # percentiles of past roots of costs


@dataclass(frozen=True, slots=True)
class Played:
    """One question played: the tier of each module (places in TIERS), the quality in 0 to 1, the cost in USD."""

    tiers: tuple[int, ...]
    quality: float
    usd: float


class Episodes(Protocol):
    """Questions that a chooser can play; it is asked once for each module, in the order of MODULES."""

    @property
    def questions(self) -> int:
        """How many there are."""
        ...

    def play(self, places: Sequence[int], chooser: Chooser) -> list[Played]:
        """Play the questions at these places together."""
        ...


@dataclass(frozen=True, slots=True)
class Seen:
    """The last `window` qualities and roots of costs, which scale rewards."""

    window: int
    roots: tuple[float, ...] = ()
    qualities: tuple[float, ...] = ()

    def with_played(self, played: Sequence[Played]) -> "Seen":
        """With these the newest."""
        roots = (*self.roots, *(float(np.sqrt(one.usd)) for one in played))[-self.window :]
        return Seen(self.window, roots, (*self.qualities, *(one.quality for one in played))[-self.window :])

    def scaled_costs(self, usd: Sequence[float]) -> NDArray[np.float64]:
        """clip((sqrt(c) - p5) / (p95 - p5), 0, 1), the percentiles of the roots seen; 0 where those are equal.

        >>> Seen(9, (0.0, 1.0), (0.0, 1.0)).scaled_costs([0.0, 0.25, 4.0]).round(6).tolist()
        [0.0, 0.5, 1.0]
        """
        low, high = np.percentile(self.roots, [LOW, HIGH])
        roots = np.sqrt(np.asarray(usd, dtype=np.float64))
        scaled: NDArray[np.float64] = np.clip((roots - low) / (high - low), 0, 1) if high > low else np.zeros(len(usd))
        return scaled

    def rewards(self, played: Sequence[Played], quality_weight: float, cost_weight: float) -> NDArray[np.float64]:
        """w_r * Q * (spread of C / spread of Q) + w_c * (1 - C), C the scaled costs (the paper's reward).

        The spreads are standard deviations over what was seen; their ratio is 1 where one of them is 0 (ours).
        """
        spread_cost = float(self.scaled_costs([root**2 for root in self.roots]).std())
        spread_quality = float(np.std(self.qualities))
        ratio = spread_cost / spread_quality if spread_cost > 0 and spread_quality > 0 else 1.0
        qualities = np.array([one.quality for one in played])
        costs = self.scaled_costs([one.usd for one in played])
        rewards: NDArray[np.float64] = quality_weight * qualities * ratio + cost_weight * (1 - costs)
        return rewards


@dataclass(frozen=True, slots=True)
class PipelineEpisodes:
    """Questions with their passages; `quality` scores the texts made for them, `price` what making one cost (USD)."""

    asked: tuple[Asked, ...]
    system: Budgetmem
    tools: Tools
    quality: Quality
    price: Callable[[Outcome], float]

    @property
    def questions(self) -> int:
        return len(self.asked)

    def play(self, places: Sequence[int], chooser: Chooser) -> list[Played]:
        outcomes = run([self.asked[at] for at in places], self.tools, self.system.settings, chooser)
        qualities = self.quality(places, [one.text for one in outcomes])
        return [Played(one.tiers, quality, self.price(one)) for one, quality in zip(outcomes, qualities, strict=True)]


@dataclass(frozen=True, slots=True)
class Cut:
    """How a store is written and a ranking cut: the write budget, then k, mode and read budget of the harness."""

    write_budget_tokens: int
    k: int
    mode: str
    read_budget_tokens: int


def pipeline_questions(
    pairs: Iterable[Pair], split: Split, system: Budgetmem, tools: Tools, cut: Cut
) -> tuple[tuple[Asked, ...], tuple[Question, ...]]:
    """Every question that can be scored, with the passages that RM would show for it; histories must be of `split`.

    Raises InputError for a history of another split: the router is never trained on what is evaluated.
    """
    asked: list[Asked] = []
    kept: list[Question] = []
    for history, questions in pairs:
        if history.split != split:
            raise InputError(f"history {history.id!r} is of the split {history.split}; give only {split} histories")
        answerable = [one for one in questions if best(token_f1, "", one.golds) is not None]
        store = write_store(system, history, cut.write_budget_tokens, tools)
        queries = [Query(question.text, question.date) for question in answerable]
        rankings = system.retrieve(store, queries, tools)
        contexts = [
            retrieved(question, store, ranking, cut.k, cut.mode, cut.read_budget_tokens)
            for question, ranking in zip(answerable, rankings, strict=True)
        ]
        asked += asked_of(store, queries, contexts, system.passages)
        kept += answerable
    return tuple(asked), tuple(kept)


def f1_of(questions: Sequence[Question], reader: Solver) -> Quality:
    """The token F1 of a reader's answer to each question from a text; an answer that failed has 0."""

    def quality(places: Sequence[int], texts: Sequence[str]) -> list[float]:
        chosen = [questions[at] for at in places]
        tasks = [AnswerQuestion(one.text, text, one.date) for one, text in zip(chosen, texts, strict=True)]
        return [
            best(token_f1, result.output or "", one.golds) or 0.0
            for one, result in zip(chosen, solve_all(reader, tasks), strict=True)
        ]

    return quality


def priced(summariser: PriceRow, reader: PriceRow) -> Callable[[Outcome], float]:
    """USD of an outcome: what its modules asked of a model, and the text as the reader's input."""

    def price(outcome: Outcome) -> float:
        asked = cost(tokens_by_role(outcome.counts).get(ROLE, Tokens()), summariser)
        if asked is None:
            raise InputError(
                "the modules' tokens were not counted; give them a solver that counts (metrics.cost.AsIfAsked)"
            )
        return float(asked + (cost(Tokens(input=count_tokens(outcome.text)), reader) or 0))

    return price


class Remembered:
    """A solver that is asked each task once: for deterministic solvers, whose answers serve every epoch again."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._known: dict[Task[Any], Result[Any]] = {}

    def solve(self, tasks: Sequence[Task[Output]]) -> list[Result[Output]]:
        """Results in the order of the tasks; a failure is not kept."""
        new = [task for task in dict.fromkeys(tasks) if task not in self._known]
        found = dict(zip(new, solve_all(self._solver, new), strict=True))
        self._known.update({task: result for task, result in found.items() if result.status == "ok"})
        return [found[task] if task in found else self._known[task] for task in tasks]
