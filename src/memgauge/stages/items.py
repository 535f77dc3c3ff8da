"""The grid's scored items as stages compare them: by reader and system, with the mean of readers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memgauge.files import read_jsonl
from memgauge.metrics.scoring import ScoredItem
from memgauge.protocol.comparison import Ranking, average_readers, rank_systems
from memgauge.records import PRIMARY
from memgauge.stages.layout import ARMS, REFERENCES, SCORES

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


def rank_all(benchmark: str, items: Items, draws: int, seed: int) -> list[Ranking]:
    """Systems compared by reader under CSM and under RM; one without a score there has no rank there."""
    rankings = []
    for reader, by_system in items.items():
        for condition in ("CSM", "RM"):
            chosen = {system: scored for system, scored in by_system.items() if _has_score(scored, condition)}
            if chosen:
                rankings.append(rank_systems(benchmark, reader, chosen, condition, PRIMARY, draws, seed))
    return rankings


def _has_score(items: Sequence[ScoredItem], condition: str) -> bool:
    return any(item.condition == condition and item.contains_match is not None for item in items)


def _questions(arms: Mapping[str, Sequence[ScoredItem]]) -> set[str]:
    return {item.question_id for items in arms.values() for item in items}


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm of an experiment: its scored items, and how many of its stores differ from the first arm's."""

    name: str
    changed_stores: int
    stores: int
    items: tuple[ScoredItem, ...]


def arms_path(experiment: str, benchmark: str, reader: str, system: str | None = None) -> Path:
    """Where one experiment's arms lie: in one file, or in one for each system."""
    cell = ARMS / experiment / f"{benchmark}-{reader}"
    return cell / f"{system}.jsonl" if system else cell.with_name(f"{cell.name}.jsonl")


def read_arms(experiment: str, benchmark: str, reader: str, system: str | None = None) -> list[Arm]:
    """The arms in the order they were run; the first is what the others are compared with."""
    return list(read_jsonl(arms_path(experiment, benchmark, reader, system), Arm))


def arm_items(arms: Sequence[Arm]) -> dict[str, list[ScoredItem]]:
    """Items by arm."""
    return {each.name: list(each.items) for each in arms}
