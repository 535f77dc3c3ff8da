"""LightMem's sleep: which newer entries an older one is held against, and what a decision does to it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from memgauge.memory.shared import count_result
from memgauge.records import Entry, Result
from memgauge.tasks.base import Solver
from memgauge.tasks.decide_update import DecideUpdate, Update


def newer_lookalikes(
    vectors: NDArray[np.float32], neighbours: int, queue: int, similarity: float
) -> dict[int, list[int]]:
    """For each entry that any newer one is like enough: those newer ones, the likest first, ties to the older.

    `vectors` are unit rows in the order of time, shape (entries, dimensions). A newer entry counts if the older
    one is among the first `queue` of the `neighbours` entries before it that it is likest, at `similarity` or more.
    """
    found: dict[int, list[tuple[float, int]]] = {}
    for newer in range(1, len(vectors)):
        cosines = np.round(vectors[:newer] @ vectors[newer], 6)
        nearest = np.argsort(-cosines, kind="stable")[: min(neighbours, queue)].tolist()
        for older in nearest:
            if cosines[older] >= similarity:
                found.setdefault(older, []).append((-float(cosines[older]), newer))
    return {older: [newer for _, newer in sorted(pairs)] for older, pairs in sorted(found.items())}


def consolidate(
    entries: Sequence[Entry], lookalikes: dict[int, list[int]], solver: Solver, counts: Counter[str]
) -> list[Entry]:
    """The entries after every decision, all asked for in one call and made on the entries as they were.

    A failed decision leaves its entry alone and is counted.
    """
    tasks = [
        DecideUpdate(_note(entries[older]), tuple(_note(entries[newer]) for newer in newers))
        for older, newers in lookalikes.items()
    ]
    kept: list[Entry | None] = list(entries)
    counts["updates_asked"] += len(tasks)
    for (older, newers), result in zip(lookalikes.items(), solver.solve(tasks) if tasks else [], strict=True):
        count_result(result, counts)
        kept[older] = _decided(entries[older], [entries[newer] for newer in newers], result, counts)
    return [entry for entry in kept if entry is not None]


def _decided(entry: Entry, newer: Sequence[Entry], result: Result[Update], counts: Counter[str]) -> Entry | None:
    if result.output is None:
        counts["updates_failed"] += 1
        return entry
    counts[f"entries_{_DONE[result.output.action]}"] += 1
    if result.output.action == "delete":
        return None
    return entry if result.output.text is None else _reworded(entry, newer, result.output.text)


_DONE = {"update": "updated", "delete": "deleted", "ignore": "left_alone"}


def _reworded(entry: Entry, newer: Sequence[Entry], text: str) -> Entry:
    """The entry with its new text, from all turns behind it; undated where these are of several dates."""
    sources = dict.fromkeys(source for one in (entry, *newer) for source in one.sources)
    date = entry.date if all(one.date == entry.date for one in newer) else None
    return replace(entry, text=text, sources=tuple(sources), date=date)


def _note(entry: Entry) -> tuple[str | None, str]:
    return entry.date, entry.text
