"""The grid's scored items as stages compare them: by reader and system, with the mean of readers."""

from collections.abc import Mapping, Sequence

from memgauge.files import read_jsonl
from memgauge.metrics.scoring import ScoredItem
from memgauge.protocol.comparison import average_readers
from memgauge.stages.layout import REFERENCES, SCORES

Items = dict[str, dict[str, list[ScoredItem]]]  # reader -> arm or system -> items of all five conditions
MEAN = "mean of readers"


def cell_items(benchmark: str, readers: Sequence[str], systems: Sequence[str]) -> Items:
    """The grid's own scores; with several readers also their mean."""
    items: Items = {}
    for reader in readers:
        shared = reference_items(benchmark, reader)
        folder = SCORES / benchmark / reader
        items[reader] = {
            system: shared + list(read_jsonl(folder / f"{system}.jsonl", ScoredItem)) for system in systems
        }
    return with_mean(items)


def reference_items(benchmark: str, reader: str) -> list[ScoredItem]:
    """One reader's items under the conditions all systems share."""
    return list(read_jsonl(SCORES / benchmark / reader / f"{REFERENCES}.jsonl", ScoredItem))


def with_mean(items: Items) -> Items:
    """The items with those of the mean of readers, where several answered the same questions."""
    readers = list(items)
    asked_questions = {frozenset(_questions(arms)) for arms in items.values()}
    if len(readers) < 2 or len(asked_questions) > 1:
        return items
    names = items[readers[0]]
    mean = {name: average_readers({reader: items[reader][name] for reader in readers}) for name in names}
    return {**items, MEAN: mean}


def _questions(arms: Mapping[str, Sequence[ScoredItem]]) -> set[str]:
    return {item.question_id for items in arms.values() for item in items}
