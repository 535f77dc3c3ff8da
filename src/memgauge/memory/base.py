"""The contract between a memory system and the harness.

A system decides what to keep and how to rank it; the harness owns both budgets, the clock and the solvers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from memgauge.records import Context, Entry, History, Store
from memgauge.tasks.base import Solver


class Encoder(Protocol):
    """A sentence encoder."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (texts, dimensions); an empty text gives a zero vector."""
        ...


@dataclass(frozen=True, slots=True)
class Tools:
    """The collaborators the harness lends to a system for one call."""

    solver: Solver
    encoder: Encoder


@dataclass(frozen=True, slots=True)
class Written:
    """What a system's write returns: entries in store order and counts of what it dropped or failed at.

    `probes` are the questions it guessed and chose by, where it does so, each once; they are not part of the store's
    text and cost nothing of the budget.
    """

    entries: tuple[Entry, ...]
    counts: dict[str, int] = field(default_factory=dict)
    probes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """All a system may know of a question."""

    text: str
    date: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked entry: its position in the store and its score (higher is better)."""

    position: int
    score: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """One query's entries, best first; `counts` says what ranking them took: calls, tokens, failures."""

    hits: tuple[Hit, ...]
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Summarised:
    """The text made of one query's entries (condition SM); `counts` says what making it took, as for a ranking."""

    text: str
    counts: dict[str, int] = field(default_factory=dict)


class Summariser(Protocol):
    """What turns the entries retrieved for a query into a text for that query alone, at query time."""

    def summarise(
        self, store: Store, queries: Sequence[Query], retrieved: Sequence[Context], tools: Tools
    ) -> list[Summarised]:
        """One text a query; `retrieved` are their contexts of condition RM. The harness cuts it to the read budget."""
        ...


class MemorySystem(Protocol):
    """A frozen dataclass whose fields are its hyperparameters; the constructor only stores them.

    `card` says where each hyperparameter's default comes from: a paper, its released code, or us.
    """

    name: ClassVar[str]
    card: ClassVar[dict[str, str]]

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """Keep at most `budget_tokens` of the history (cl100k_base, counted by `text.render.entry_tokens`)."""
        ...

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """For each query the whole ranking, best first, ties by store position; the harness cuts it."""
        ...
