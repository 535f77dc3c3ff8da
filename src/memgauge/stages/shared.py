"""What several stages do alike: group questions by history, read stores, render evidence."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from memgauge.errors import InputError, unknown_name
from memgauge.files import read_jsonl
from memgauge.protocol.questions import by_history
from memgauge.records import Benchmark, Question, Store
from memgauge.stages.layout import STORES


def asked(options: Mapping[str, Any], questions: tuple[Question, ...]) -> dict[str, list[Question]]:
    """The questions that a reader answers, grouped by history: all, or what its option `ask` limits them to.

    `ask: {histories: 2, per_history: 8}` keeps the first two histories and the first eight questions of each, for
    readers that are slow. Raises InputError for another key or a number below 1.

    >>> questions = tuple(Question(f"{h}{n}", h, "?", "t") for h in "ab" for n in range(3))
    >>> [each.id for group in asked({"ask": {"per_history": 1}}, questions).values() for each in group]
    ['a0', 'b0']
    """
    ask = options.get("ask") or {}
    for name, most in ask.items():
        if name not in ("histories", "per_history"):
            raise unknown_name("option of ask", name, ["histories", "per_history"])
        if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 1):
            raise InputError(f"ask.{name} is {most!r}; it must be a whole number of at least 1, or null for all")
    groups = list(by_history(questions).items())[: ask.get("histories")]
    return {history_id: group[: ask.get("per_history")] for history_id, group in groups}


def first_histories(prepared: Benchmark, count: int | None) -> Benchmark:
    """The first `count` histories with their questions; all of them for None."""
    histories = prepared.histories[:count]
    kept = {history.id for history in histories}
    questions = tuple(question for question in prepared.questions if question.history_id in kept)
    return replace(prepared, histories=histories, questions=questions)


def stores_path(benchmark: str, system: str) -> Path:
    """Where one system's stores of one benchmark lie."""
    return STORES / benchmark / f"{system}.jsonl"


def read_stores(benchmark: str, system: str, needed: Iterable[str] = ()) -> dict[str, Store]:
    """Stores by history id; raises InputError when a history occurs twice or a needed one has no store."""
    stores: dict[str, Store] = {}
    for store in read_jsonl(stores_path(benchmark, system), Store):
        if store.history_id in stores:
            raise InputError(f"{stores_path(benchmark, system)} holds {store.history_id!r} twice; repeat `write`")
        stores[store.history_id] = store
    if absent := [history_id for history_id in needed if history_id not in stores]:
        raise InputError(f"{stores_path(benchmark, system)} has no store of history {absent[0]!r}; repeat `write`")
    return stores
