"""Stage `rank_passages`: rank every question's passages over its whole history, once for all budgets and readers."""

import os
from collections.abc import Iterator, Sequence
from functools import partial

from tqdm import tqdm

from memgauge.datasets.prepared import stream_prepared
from memgauge.errors import InputError
from memgauge.experiments.passage_shown import Ranked, show_history
from memgauge.files import write_jsonl
from memgauge.params import Params
from memgauge.records import History, Question
from memgauge.stages.layout import PREPARED
from memgauge.stages.passage_paths import in_order, ranked_file
from memgauge.stages.table import HISTORY


def main(params: Params, benchmark: str) -> None:
    """Write `data/passages/ranked/BENCHMARK-history.jsonl`, one ranking a question, as long as the largest budget."""
    most = max(budgets_of(params))
    write_jsonl(ranked_file(benchmark, HISTORY), _ranked(benchmark, most, os.cpu_count() or 1))


def budgets_of(params: Params) -> list[int]:
    """The budgets in rising order; raises InputError for a list that is empty, repeats itself or holds no count."""
    given = params["passages.budgets"]
    whole = all(isinstance(each, int) and not isinstance(each, bool) and each >= 1 for each in given)
    if not given or not whole or len(set(given)) < len(given):
        raise InputError(f"passages.budgets is {given}; it must list different whole numbers of passages, at least 1")
    return sorted(given)


def _ranked(benchmark: str, most: int, processes: int) -> Iterator[Ranked]:
    pairs = tqdm(stream_prepared(PREPARED / benchmark), desc=f"rank_passages {benchmark}", unit="history", delay=2)
    for rankings in in_order(partial(_show, most), pairs, processes):
        yield from rankings


def _show(most: int, pair: tuple[History, Sequence[Question]]) -> tuple[Ranked, ...]:
    return show_history(*pair, most)
