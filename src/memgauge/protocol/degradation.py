"""Damage of a known kind, to test the instrument (paper A, "Protocol Validation via Controlled Degradation").

Write damage drops entries of a finished store, retrieval damage spoils a finished ranking; two oracles do their
link as well as it can be done. They need the evidence, so they are no memory systems and live here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import ClassVar

import numpy as np

from memgauge.errors import InputError
from memgauge.memory.base import Query, Ranking, Tools, Written
from memgauge.protocol.conditions import write_store
from memgauge.protocol.labels import as_fraction
from memgauge.records import Entry, History, Question, Store
from memgauge.text.render import entry_tokens, render_turn

NO_TOOLS = Tools(solver=None, encoder=None)  # type: ignore[arg-type]  # nothing here solves or encodes


@dataclass(frozen=True, slots=True)
class _Ready:
    """Entries that are already written, handed to the harness so that budget, sources and counts are its own."""

    entries: tuple[Entry, ...]
    counts: dict[str, int]
    name: ClassVar[str] = "ready"
    card: ClassVar[dict[str, str]] = {}

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        return Written(self.entries, self.counts)

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        raise NotImplementedError("entries that are already written are ranked by the system that wrote them")


def drop_entries(store: Store, history: History, share: float, generator: np.random.Generator) -> Store:
    """The store without a random `share` of its entries (rounded up), the rest in store order.

    With equal generators a larger share drops what a smaller one drops, and more.
    """
    dropped = set(generator.permutation(len(store.entries))[: _damaged(share, len(store.entries))].tolist())
    kept = tuple(entry for place, entry in enumerate(store.entries) if place not in dropped)
    return rewritten(store, history, kept)


def rewritten(store: Store, history: History, entries: Sequence[Entry]) -> Store:
    """A store of `entries` that the harness accepts in place of `store`: same system, same budget."""
    new = write_store(_Ready(tuple(entries), {}), history, store.budget_tokens, NO_TOOLS)
    counts = {**store.counts, **new.counts, "entries_damaged": len(store.entries) - len(new.entries)}
    return replace(new, system=store.system, counts=counts, probes=store.probes)


def spoil_ranking(ranking: Ranking, share: float, generator: np.random.Generator) -> Ranking:
    """Replace the first hits by those of the bottom `share` of the ranking, in random order.

    The bottom `share` (rounded up, never more than half of the hits) takes as many first places as it has
    hits; the hits it displaces vanish, those between keep their places. The paper names the share of the list
    that replacements come from, not how many first hits are replaced: here as many as there are replacements.
    """
    bottom = min(_damaged(share, len(ranking.hits)), len(ranking.hits) // 2)
    middle = ranking.hits[bottom : len(ranking.hits) - bottom]
    order = generator.permutation(bottom).tolist()
    last = ranking.hits[len(ranking.hits) - bottom :]
    return Ranking((*(last[place] for place in order), *middle), ranking.counts)


def oracle_entries(history: History, questions: Sequence[Question]) -> tuple[Entry, ...]:
    """The evidence turns of all `questions` as entries, one a turn, in history order."""
    wanted = {turn_id for question in questions for turn_id in question.evidence}
    return tuple(
        Entry(turn.id, render_turn(turn), (turn.id,), session.date)
        for session, turn in history.turns()
        if turn.id in wanted
    )


def oracle_store(history: History, questions: Sequence[Question], system: str = "oracle") -> Store:
    """A store of the evidence and nothing else, whatever it takes: a write link that loses nothing."""
    entries = oracle_entries(history, questions)
    budget_tokens = max(sum(map(entry_tokens, entries)), 1)
    return replace(write_store(_Ready(entries, {}), history, budget_tokens, NO_TOOLS), system=system)


def oracle_ranking(ranking: Ranking, store: Store, question: Question) -> Ranking:
    """Hits whose entries cover evidence of the question first, most evidence turns first, otherwise as ranked."""
    evidence = set(question.evidence)
    covered = {hit.position: len(evidence & set(store.entries[hit.position].sources)) for hit in ranking.hits}
    return Ranking(tuple(sorted(ranking.hits, key=lambda hit: -covered[hit.position])), ranking.counts)


def _damaged(share: float, count: int) -> int:
    """How many of `count` a share is, rounded up; exact, since 0.07 * 100 is a little above 7 in floating point."""
    if not 0 <= share <= 1:
        raise InputError(f"a share of damage is {share}; it must lie between 0 and 1")
    return ceil(as_fraction(share) * count)
