"""Prepared benchmarks on disk: histories.jsonl, questions.jsonl and quirks.json, written in one pass."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from memgauge.errors import InputError
from memgauge.files import read_json, read_jsonl, write_json, write_jsonl
from memgauge.records import Benchmark, History, Question

HISTORIES, QUESTIONS, QUIRKS = "histories.jsonl", "questions.jsonl", "quirks.json"

Pair = tuple[History, tuple[Question, ...]]


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What of a benchmark is kept; a field that is null keeps everything.

    `splits` and `histories` choose histories (the first N, or these ids), `types` question types, `per_type`
    keeps the first N questions of every type, `per_history` the first N of every history.
    Histories left without a question are left out and counted.
    Reading stops as soon as no further history can count, so quirks speak of what was read.
    """

    histories: int | list[str] | None = None
    per_type: int | None = None
    per_history: int | None = None
    types: list[str] | None = None
    splits: list[str] | None = None


def write_prepared(
    folder: Path, pairs: Iterable[Pair], quirks: Counter[str], limits: Mapping[str, Any] | None = None
) -> None:
    """Write what `limits` keep of a benchmark; raises InputError for broken ids or an empty selection."""
    chosen = _limits(limits or {})
    questions: list[Question] = []
    kept = _histories(_checked(pairs), chosen, questions, quirks)
    write_jsonl(folder / HISTORIES, _some(kept, chosen))
    write_jsonl(folder / QUESTIONS, questions)
    write_json(folder / QUIRKS, dict(+quirks))


def read_prepared(folder: Path) -> Benchmark:
    """A prepared benchmark, named after its folder."""
    return Benchmark(
        name=folder.name,
        histories=tuple(read_jsonl(folder / HISTORIES, History)),
        questions=tuple(read_jsonl(folder / QUESTIONS, Question)),
        quirks=read_json(folder / QUIRKS),
    )


def stream_prepared(folder: Path) -> Iterator[Pair]:
    """Each history with its questions, one history in memory at a time; both files list histories in one order."""
    questions = read_jsonl(folder / QUESTIONS, Question)
    waiting = next(questions, None)
    for history in read_jsonl(folder / HISTORIES, History):
        own: list[Question] = []
        while waiting is not None and waiting.history_id == history.id:
            own.append(waiting)
            waiting = next(questions, None)
        yield history, tuple(own)
    if waiting is not None:
        raise InputError(
            f"{folder / QUESTIONS}: question {waiting.id!r} is about history {waiting.history_id!r}, "
            f"which {HISTORIES} does not hold at its place; make both files again"
        )


def _some(histories: Iterator[History], chosen: Limits) -> Iterator[History]:
    """The same histories; raises InputError at the end of none, so that an earlier file stays."""
    empty = True
    for history in histories:
        empty = False
        yield history
    if empty:
        raise InputError(f"nothing is left of the benchmark after selecting {_shown(chosen)}; widen `select`")


def _limits(given: Mapping[str, Any]) -> Limits:
    try:
        chosen = msgspec.convert(dict(given), Limits)
    except msgspec.ValidationError as error:
        raise InputError(f"select: {error}; keys are {', '.join(Limits.__struct_fields__)}") from error
    numbers = {name: getattr(chosen, name) for name in ("histories", "per_type", "per_history")}
    for name, number in numbers.items():
        if isinstance(number, int) and number < 1:
            raise InputError(f"select.{name} is {number}; it must be at least 1, or null for no limit")
    return chosen


def _shown(chosen: Limits) -> str:
    fields = {name: value for name, value in msgspec.structs.asdict(chosen).items() if value is not None}
    return ", ".join(f"{name}={value}" for name, value in fields.items()) or "everything"


def _histories(
    pairs: Iterator[Pair], chosen: Limits, questions: list[Question], quirks: Counter[str]
) -> Iterator[History]:
    """Kept histories; their kept questions are appended to `questions` on the way."""
    kept_per_type: Counter[str] = Counter()
    seen_types: set[str] = set()
    kept_histories: list[str] = []
    for history, asked in pairs:
        seen_types |= {question.type for question in asked}
        if not _wanted(history, chosen):
            continue
        kept_histories.append(history.id)
        wanted = (question for question in asked if _take(question, chosen, kept_per_type))
        kept = list(islice(wanted, chosen.per_history))
        questions += kept
        quirks["histories_without_kept_questions"] += not kept
        if kept:
            yield history
        if _complete(chosen, kept_histories, kept_per_type):
            return
    _refuse_unknown("types", chosen.types, seen_types)
    if isinstance(chosen.histories, list):
        _refuse_unknown("histories", chosen.histories, set(kept_histories))


def _wanted(history: History, chosen: Limits) -> bool:
    if chosen.splits is not None and history.split not in chosen.splits:
        return False
    return not isinstance(chosen.histories, list) or history.id in chosen.histories


def _take(question: Question, chosen: Limits, kept_per_type: Counter[str]) -> bool:
    if chosen.types is not None and question.type not in chosen.types:
        return False
    if chosen.per_type is not None and kept_per_type[question.type] >= chosen.per_type:
        return False
    kept_per_type[question.type] += 1
    return True


def _complete(chosen: Limits, kept_histories: list[str], kept_per_type: Counter[str]) -> bool:
    """Whether no later history can be kept."""
    if isinstance(chosen.histories, int):
        return len(kept_histories) >= chosen.histories
    if isinstance(chosen.histories, list):
        return set(kept_histories) >= set(chosen.histories)
    if chosen.per_type is not None and chosen.types is not None:
        return all(kept_per_type[name] >= chosen.per_type for name in chosen.types)
    return False


def _refuse_unknown(field: str, asked: list[str] | None, known: set[str]) -> None:
    for name in asked or ():
        if name not in known:
            raise InputError(f"select.{field}: {name!r} does not occur; choose from {', '.join(sorted(known))}")


def _checked(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """The same pairs; raises InputError unless ids are unique and every reference leads somewhere."""
    histories: set[str] = set()
    questions: set[str] = set()
    for history, asked in pairs:
        _refuse_repeated("history", history.id, histories)
        turns: set[str] = set()
        for _, turn in history.turns():
            _refuse_repeated(f"history {history.id!r}: turn", turn.id, turns)
        for question in asked:
            _refuse_repeated("question", question.id, questions)
            lost = [turn_id for turn_id in question.evidence if turn_id not in turns]
            if lost or question.history_id != history.id:
                raise InputError(f"question {question.id!r} points to {lost or question.history_id!r}; mend its reader")
        yield history, asked


def _refuse_repeated(kind: str, name: str, seen: set[str]) -> None:
    if name in seen:
        raise InputError(f"{kind} id {name!r} occurs twice; make it unique in the raw file")
    seen.add(name)
