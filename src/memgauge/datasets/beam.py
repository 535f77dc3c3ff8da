"""BEAM (chats/TIER/N/): long chats of one user with an assistant, 20 probing questions each.

A batch is a session; its date stands on its first message only. Of the two chat files the truncated one is
read where it exists, as the benchmark's own inference does. Every chat is in the test split.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from memgauge.datasets import raw
from memgauge.datasets.beam_chat import chat_sessions, evidence, turn_index
from memgauge.datasets.pins import FOLDER
from memgauge.errors import InputError
from memgauge.records import History, Question

TIERS = ("100K", "500K", "1M", "10M")
GOLD_FIELDS = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")
TRUNCATED = "chat_trunecated.json"  # spelled so by its publisher
QUESTIONS = Path("probing_questions") / "probing_questions.json"

Pair = tuple[History, tuple[Question, ...]]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to read.

    `tiers`: folders below chats; `chat_file`: auto (truncated where there is one) or a file's name;
    `strip_markers`: drop the annotators' ` ->-> batch,bullet` at the end of a message; `groups`: a file of
    history id, tab, group, else the shipped one; `allow_unpinned` serves `fetch`.
    """

    tiers: tuple[str, ...] = ("100K", "500K")
    chat_file: str = "auto"
    strip_markers: bool = True
    groups: str | None = None
    allow_unpinned: bool = False


class RawQuestion(msgspec.Struct, frozen=True):
    """The fields of a probing question that all abilities share."""

    question: str
    rubric: list[str]
    source_chat_ids: Any = None


def read(folder: Path, quirks: Counter[str], **options: object) -> Iterator[Pair]:
    """Histories by tier and chat number, streaming; raises InputError naming file, record and field."""
    chosen = raw.options("beam", Options, options)
    if unknown := sorted(set(chosen.tiers) - set(TIERS)):
        raise InputError(f"benchmark.beam.source.tiers: {unknown[0]!r} is no tier; choose from {', '.join(TIERS)}")
    return _read(folder, chosen, quirks)


def _read(folder: Path, chosen: Options, quirks: Counter[str]) -> Iterator[Pair]:
    groups = _groups(Path(chosen.groups) if chosen.groups else FOLDER / "beam_groups.tsv")
    chats = next((path for path in (folder / "chats", folder / "beam" / "chats") if path.is_dir()), folder / "chats")
    for tier in chosen.tiers:
        numbers = sorted(int(path.name) for path in (chats / tier).glob("*") if path.name.isdigit())
        if not numbers:
            raise InputError(
                f"{chats / tier} holds no chats; run `fetch`, or drop {tier} from benchmark.beam.source.tiers"
            )
        for number in numbers:
            name = f"beam-{tier}-{number:02d}"
            yield _pair(chats / tier / str(number), name, groups.get(name, name), chosen, quirks)


def _pair(folder: Path, name: str, group: str, chosen: Options, quirks: Counter[str]) -> Pair:
    path = _chat_path(folder, chosen.chat_file)
    chat = raw.load_json(path, quirks)
    sessions, ids = chat_sessions(chat, chosen.strip_markers, str(path), quirks)
    history = History(name, group, "test", sessions)
    position = {turn.id: number for number, (_, turn) in enumerate(history.turns())}
    index = turn_index(ids)
    path = _stored(folder / QUESTIONS) or folder / QUESTIONS
    questions = []
    for number, (ability, value) in enumerate(_questions(path, quirks)):
        place = f"{path} {ability} question {number}"
        item = raw.convert(value, RawQuestion, place)
        found, unresolved = evidence(item.source_chat_ids, index, place)
        quirks["questions_without_source_ids"] += not found and not unresolved
        quirks["evidence_unresolved"] += len(unresolved)
        abstention = ability == "abstention"
        gold = gold_text(value, place, quirks)
        questions.append(
            Question(
                id=f"{name}-q{number:02d}",
                history_id=name,
                text=item.question,
                type=ability,
                golds=() if abstention else (gold,),
                evidence=raw.in_history_order(found, position, quirks),
                unresolved=unresolved,
                abstention=abstention,
                rubric=tuple(item.rubric),
            )
        )
    return history, tuple(questions)


def _stored(path: Path) -> Path | None:
    """The plain file, else its gzipped twin, else None."""
    return next((found for found in (path, path.with_name(path.name + ".gz")) if found.is_file()), None)


def _chat_path(folder: Path, chat_file: str) -> Path:
    names = {"auto": (TRUNCATED, "chat.json"), "chat.json": ("chat.json",), TRUNCATED: (TRUNCATED,)}
    if chat_file not in names:
        raise InputError(f"benchmark.beam.source.chat_file: {chat_file!r} is not one of {', '.join(names)}")
    for name in names[chat_file]:
        if found := _stored(folder / name):
            return found
    raise InputError(f"{folder} holds no {' or '.join(names[chat_file])}, plain or .gz; run `fetch` again")


def _questions(path: Path, quirks: Counter[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Ability and question, file order (abilities alphabetical, two questions each)."""
    table = raw.convert(
        parse_questions(raw.read_text(path), str(path), quirks), dict[str, list[dict[str, Any]]], str(path)
    )
    for ability, items in table.items():
        for item in items:
            yield ability, item


def parse_questions(text: str, place: str, quirks: Counter[str]) -> Any:
    """JSON, else the Python literal that the hub's column holds; code is never run.

    >>> parse_questions("{'abstention': [{'question': 'What\\\\'s it?'}]}", "x", Counter())
    {'abstention': [{'question': "What's it?"}]}
    """
    try:
        return raw.parse_json(text, place, quirks)
    except InputError as fault:
        try:
            value = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise fault from None
    quirks["question_files_as_python_literal"] += 1
    return value


def gold_text(question: dict[str, Any], place: str, quirks: Counter[str]) -> str:
    """The gold, whose field's name depends on the ability."""
    for name in GOLD_FIELDS:
        if question.get(name) not in (None, ""):
            return raw.as_text(raw.convert(question[name], raw.Scalar, f"{place} {name}"), quirks)  # type: ignore[arg-type]
    raise InputError(f"{place}: none of the fields {', '.join(GOLD_FIELDS)} holds a gold; correct that question")


def _groups(path: Path) -> dict[str, str]:
    rows = [line.split("\t") for line in raw.read_text(path).splitlines() if line.strip() and not line.startswith("#")]
    for row in rows:
        if len(row) != 2:
            raise InputError(f"{path}: {row} is not a history id, a tab and a group; correct that line")
    return {row[0]: row[1] for row in rows}
