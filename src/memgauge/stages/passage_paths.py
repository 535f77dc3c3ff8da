"""Where the stages of passage budgets read and write, and the processes they rank with."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

from memgauge.stages.layout import METRICS

PASSAGES = Path("data/passages")
SOURCE_JUDGE = METRICS / "source_judge.json"
Item = TypeVar("Item")
Value = TypeVar("Value")


def ranked_file(benchmark: str, source: str) -> Path:
    """The passages of every question at the largest budget; `source` is the whole history or a memory system."""
    return PASSAGES / "ranked" / f"{benchmark}-{source}.jsonl"


def answers_file(benchmark: str, source: str, reader: str) -> Path:
    """One reader's answers at every budget."""
    return PASSAGES / "answers" / f"{benchmark}-{source}-{reader}.jsonl"


def scores_file(benchmark: str, source: str, reader: str) -> Path:
    """Those answers scored."""
    return PASSAGES / "scores" / f"{benchmark}-{source}-{reader}.jsonl"


def in_order(function: Callable[[Item], Value], items: Iterable[Item], processes: int) -> Iterator[Value]:
    """`map` over processes, results in the order of the items, with at most two items a process under way.

    `function` must be importable by name. One process means this one.
    """
    if processes < 2:
        yield from map(function, items)
        return
    with ProcessPoolExecutor(processes) as pool:
        waiting: deque[Future[Value]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= 2 * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
