"""LongMemEval in its official schema: every question has a haystack of its own, read one instance at a time.

A session id may occur several times in one haystack, so turn ids are positions in the file. Sessions are
sorted by time (the published order is not always chronological), each with its own date and id.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ijson
import msgspec

from memgauge.datasets import raw, stamps
from memgauge.errors import InputError
from memgauge.records import History, Question, Session, Split, Turn

ABSTENTION_SUFFIX = "_abs"
DEFAULT_FILE = "longmemeval_sample.json"

Pair = tuple[History, tuple[Question, ...]]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`file`: name in the folder; `as_of`: hide sessions after the question; the others serve `fetch`."""

    file: str | None = None
    as_of: bool = False
    sha256: str | None = None
    url: str | None = None


class RawTurn(msgspec.Struct, frozen=True):
    """One message as published; a missing `has_answer` means false."""

    role: str
    content: str
    has_answer: bool | None = False


class RawInstance(msgspec.Struct, frozen=True):
    """One question with its haystack as published."""

    question_id: str
    question_type: str
    question: str
    answer: raw.Scalar
    haystack_sessions: list[list[RawTurn]]
    haystack_session_ids: list[str]
    haystack_dates: list[str]
    question_date: str | None = None
    answer_session_ids: list[str] = []


class DatedSession(msgspec.Struct, frozen=True):
    """A session, its date and the turn ids that its annotators marked."""

    date: str
    session: Session
    marked: tuple[str, ...]
    marked_user: bool


def read(folder: Path, quirks: Counter[str], **options: object) -> Iterator[Pair]:
    """One history and one question per instance, streaming; raises InputError naming record and field."""
    chosen = raw.options("longmemeval", Options, options)
    path = folder / (chosen.file or _only_file(folder))
    return (
        _pair(
            raw.convert(value, RawInstance, f"{path} record {number}"),
            chosen.as_of,
            f"{path} record {number}",
            quirks,
        )
        for number, value in enumerate(_instances(path, quirks))
    )


def _only_file(folder: Path) -> str:
    names = sorted(path.name for path in folder.glob("longmemeval_*.json"))
    if DEFAULT_FILE in names:
        return DEFAULT_FILE
    if len(names) != 1:
        raise InputError(
            f"{folder} holds {', '.join(names) or 'no file'} of the pattern longmemeval_*.json; "
            "name one by benchmark.longmemeval.source.file"
        )
    return names[0]


def _instances(path: Path, quirks: Counter[str]) -> Iterator[Any]:
    """Items of the file's list one by one: the largest published file is 2.7 GB."""
    try:
        with path.open("rb") as stream:
            if stream.read(3) != b"\xef\xbb\xbf":
                stream.seek(0)
            count = 0
            for value in ijson.items(raw.RepairedStream(stream, quirks), "item", use_float=True):
                count += 1
                yield value
            if not count:
                raise InputError(f"{path} is not a list of instances; fetch it again")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; run `fetch` again") from error
    except ijson.JSONError as error:
        raise InputError(f"{path} is not valid JSON: {error}; fetch it again") from error


def _pair(instance: RawInstance, as_of: bool, place: str, quirks: Counter[str]) -> Pair:
    place = f"{place} ({instance.question_id})"
    asked = None
    if instance.question_date is not None:
        asked = stamps.iso(instance.question_date, stamps.LONGMEMEVAL, f"{place} question_date")
    everything = _sessions(instance, place, quirks)
    later = [part for part in everything if asked and part.date > asked]
    quirks["sessions_after_question"] += len(later)
    quirks["questions_before_some_session"] += bool(later)
    shown = [part for part in everything if not (asked and part.date > asked)] if as_of else everything
    hidden = tuple(turn_id for part in later for turn_id in part.marked) if as_of else ()
    if hidden:
        quirks["questions_with_evidence_hidden_by_as_of"] += 1
        quirks[f"evidence_hidden_by_as_of: {instance.question_id}"] += len(hidden)
    name = instance.question_id
    history = History(name, name, split_of(name), tuple(part.session for part in shown))
    return history, (_question(instance, asked, shown, hidden, quirks),)


def _sessions(instance: RawInstance, place: str, quirks: Counter[str]) -> list[DatedSession]:
    """Date, id and turns of every session, sorted together by time; equal times keep file order."""
    try:
        rows = list(
            zip(
                instance.haystack_dates,
                instance.haystack_session_ids,
                instance.haystack_sessions,
                strict=True,
            )
        )
    except ValueError as error:
        raise InputError(
            f"{place}: haystack_dates, _session_ids and _sessions differ in length; cut them alike"
        ) from error
    parts = []
    for number, (stamp, session_id, turns) in enumerate(rows):
        if not turns:
            quirks["sessions_empty"] += 1
            continue
        date = stamps.iso(stamp, stamps.LONGMEMEVAL, f"{place} haystack_dates[{number}]")
        parts.append(_session(number, date, session_id, turns, quirks))
    quirks["session_ids_repeated"] += len(parts) - len({part.session.id for part in parts})
    ordered = sorted(parts, key=lambda part: part.date)
    quirks["haystacks_out_of_date_order"] += ordered != parts
    absent = set(instance.answer_session_ids) - {part.session.id for part in parts}
    quirks["answer_sessions_absent"] += len(absent)
    return ordered


def _session(number: int, date: str, session_id: str, turns: list[RawTurn], quirks: Counter[str]) -> DatedSession:
    quirks["turns_without_text"] += sum(not turn.content.strip() for turn in turns)
    ids = [f"s{number}t{position}" for position in range(len(turns))]
    kept = tuple(Turn(turn_id, turn.role, turn.content) for turn_id, turn in zip(ids, turns, strict=True))
    marked = tuple(turn_id for turn_id, turn in zip(ids, turns, strict=True) if turn.has_answer)
    marked_user = any(turn.has_answer and turn.role == "user" for turn in turns)
    return DatedSession(date, Session(session_id, date, kept), marked, marked_user)


def _question(
    instance: RawInstance,
    asked: str | None,
    shown: list[DatedSession],
    hidden: tuple[str, ...],
    quirks: Counter[str],
) -> Question:
    """Abstention is known by the id alone; what the annotator calls the answer then becomes the rubric."""
    abstention = instance.question_id.endswith(ABSTENTION_SUFFIX)
    quirks["abstention_questions"] += abstention
    quirks["answerable_questions_without_user_evidence"] += not abstention and not any(p.marked_user for p in shown)
    answer = raw.as_text(instance.answer, quirks)
    return Question(
        id=instance.question_id,
        history_id=instance.question_id,
        text=instance.question,
        type=instance.question_type,
        golds=() if abstention else (answer,),
        date=asked,
        evidence=tuple(turn_id for part in shown for turn_id in part.marked),
        unresolved=hidden,
        abstention=abstention,
        rubric=(answer,) if abstention else (),
    )


def split_of(question_id: str) -> Split:
    """A frozen rule: SHA-256 of the id, first 8 bytes modulo 10; 0 and 1 train, 2 val, 3 to 9 test.

    >>> [split_of(name) for name in ("852ce960", "ba358f49", "6a1eabeb")]
    ['test', 'test', 'test']
    """
    bucket = int.from_bytes(hashlib.sha256(question_id.encode("utf-8")).digest()[:8], "big") % 10
    return "train" if bucket < 2 else "val" if bucket == 2 else "test"
