"""What one system's writing and retrieving took and failed at, added up from the counts of its stores and contexts."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from memgauge.records import Context, Store


@dataclass(frozen=True, slots=True)
class Effort:
    """Sums over the stores of one system and over the RM contexts of its questions.

    `entries` and `store_tokens` are what the stores hold, `shown` and `read_tokens` what was really read: entries and
    tokens (cl100k_base). `writing` and `choosing` are the counts that stores and contexts carry, added up by name.
    """

    system: str
    histories: int
    entries: int
    store_tokens: int
    writing: dict[str, int]
    questions: int
    shown: int
    read_tokens: int
    choosing: dict[str, int]


def effort(system: str, stores: Iterable[Store], contexts: Iterable[Context]) -> Effort:
    """Add up; contexts under other conditions than RM are left out."""
    kept = list(stores)
    read = [context for context in contexts if context.condition == "RM"]
    writing: Counter[str] = Counter()
    for store in kept:
        writing.update(store.counts)
    choosing: Counter[str] = Counter()
    for context in read:
        choosing.update(context.counts)
    return Effort(
        system=system,
        histories=len(kept),
        entries=sum(len(store.entries) for store in kept),
        store_tokens=sum(store.tokens for store in kept),
        writing=dict(sorted(writing.items())),
        questions=len(read),
        shown=sum(len(context.entry_ids) for context in read),
        read_tokens=sum(context.tokens for context in read),
        choosing=dict(sorted(choosing.items())),
    )
