"""LoCoMo (locomo10.json): ten long dialogues of two friends with 1,986 questions.

Category numbers follow the benchmark's scorer, not the order of its paper. Questions with category 5 have no
true answer: they are abstention questions, and what an annotator offered as their answer is a trap.
The search string behind a picture (`query`) is never read: it would leak answers that no turn contains.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from memgauge.datasets import raw, stamps
from memgauge.datasets.pins import pins
from memgauge.errors import InputError
from memgauge.records import History, Question, Session, Split, Turn

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
PUBLISHED_COUNTS = {1: 282, 2: 321, 3: 96, 4: 841, 5: 446}
TEST_HISTORIES = frozenset({"conv-49", "conv-50"})  # paper B: 314 questions of categories 1 to 4
EVIDENCE_ID = re.compile(r"D:?(\d+):(\d+)")
SESSION_KEY = re.compile(r"session_(\d+)")
DATE_KEY = re.compile(r"session_(\d+)_date_time")

Pair = tuple[History, tuple[Question, ...]]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`file`: the file's name in the folder; the others serve `fetch` when it is not the pinned one."""

    file: str = "locomo10.json"
    sha256: str | None = None
    url: str | None = None


class RawTurn(msgspec.Struct, frozen=True):
    """One message as published, without `query`."""

    speaker: str
    dia_id: str
    text: str
    blip_caption: str | None = None
    img_url: Any = None


class RawQuestion(msgspec.Struct, frozen=True):
    """One question as published; 444 of the adversarial ones have no `answer`."""

    question: str
    category: int
    answer: raw.Scalar | None = None
    adversarial_answer: raw.Scalar | None = None
    evidence: list[str] = []


class RawSample(msgspec.Struct, frozen=True):
    """One dialogue as published."""

    sample_id: str
    conversation: dict[str, Any]
    qa: list[RawQuestion]


def read(folder: Path, quirks: Counter[str], **options: object) -> Iterator[Pair]:
    """All ten histories with all their questions, file order; raises InputError naming record and field."""
    chosen = raw.options("locomo", Options, options)
    return _read(folder / chosen.file, quirks)


def _read(path: Path, quirks: Counter[str]) -> Iterator[Pair]:
    text = raw.read_text(path)
    samples = raw.convert(raw.parse_json(text, path, quirks), list[Any], str(path))
    pinned = hashlib.sha256(text.encode("utf-8")).hexdigest() == pins("locomo")["locomo10.json"].sha256
    quirks["file_not_the_pinned_one"] += not pinned
    counts: Counter[int] = Counter()
    for number, value in enumerate(samples):
        sample = raw.convert(value, RawSample, f"{path} record {number}")
        counts.update(question.category for question in sample.qa)
        yield _pair(sample, f"{path} record {number} ({sample.sample_id})", quirks)
    if pinned and counts != PUBLISHED_COUNTS:
        raise InputError(f"{path}: questions per category are {dict(counts)}, not {PUBLISHED_COUNTS}; mend the reader")


def _pair(sample: RawSample, place: str, quirks: Counter[str]) -> Pair:
    split: Split = "test" if sample.sample_id in TEST_HISTORIES else "train"
    sessions = tuple(_sessions(sample.conversation, place, quirks))
    history = History(sample.sample_id, sample.sample_id, split, sessions)
    position = {turn.id: number for number, (_, turn) in enumerate(history.turns())}
    questions = tuple(
        _question(question, f"{sample.sample_id}-q{index}", sample.sample_id, position, place, quirks)
        for index, question in enumerate(sample.qa)
    )
    quirks["questions_repeated"] += len(questions) - len({(question.text, question.type) for question in questions})
    return history, questions


def _sessions(conversation: Mapping[str, Any], place: str, quirks: Counter[str]) -> Iterator[Session]:
    """Sessions by number (as text, 10 would come before 2); dates of absent sessions are counted."""
    numbers = sorted(int(match[1]) for key in conversation if (match := SESSION_KEY.fullmatch(key)))
    dated = {int(match[1]) for key in conversation if (match := DATE_KEY.fullmatch(key))}
    quirks["dates_without_session"] += len(dated - set(numbers))
    for number in numbers:
        key = f"session_{number}"
        turns = raw.convert(conversation[key], list[RawTurn], f"{place} {key}")
        if not turns:
            quirks["sessions_empty"] += 1
            continue
        stamp = raw.convert(conversation.get(f"{key}_date_time"), str | None, f"{place} {key}_date_time")  # type: ignore[arg-type]
        quirks["sessions_without_date"] += stamp is None
        date = None if stamp is None else stamps.iso(stamp, stamps.LOCOMO, f"{place} {key}_date_time")
        yield Session(key, date, tuple(_turn(turn, quirks) for turn in turns))


def _turn(turn: RawTurn, quirks: Counter[str]) -> Turn:
    quirks["turns_without_text"] += not turn.text.strip()
    quirks["captions_without_picture_address"] += turn.blip_caption is not None and not turn.img_url
    return Turn(turn.dia_id, turn.speaker, turn.text, turn.blip_caption)


def _question(
    question: RawQuestion,
    name: str,
    history: str,
    position: Mapping[str, int],
    place: str,
    quirks: Counter[str],
) -> Question:
    if question.category not in CATEGORIES:
        raise InputError(f"{place} {name}: category {question.category} is not one of 1 to 5; correct it")
    abstention = CATEGORIES[question.category] == "adversarial"
    evidence, unresolved = _evidence(question.evidence, position, quirks)
    return Question(
        id=name,
        history_id=history,
        text=question.question,
        type=CATEGORIES[question.category],
        golds=_golds(question, abstention, f"{place} {name}", quirks),
        evidence=evidence,
        unresolved=unresolved,
        abstention=abstention,
        trap=None if question.adversarial_answer is None else str(question.adversarial_answer),
    )


def _golds(question: RawQuestion, abstention: bool, place: str, quirks: Counter[str]) -> tuple[str, ...]:
    if abstention:
        quirks["adversarial_with_answer"] += question.answer is not None
        return ()
    if question.answer is None:
        raise InputError(f"{place}: field `answer` is missing; only category 5 may lack it")
    return (raw.as_text(question.answer, quirks),)


def split_evidence(strings: Iterable[str]) -> list[str]:
    """Turn ids as the annotators meant them: several in one string, leading zeros, a stray colon.

    >>> split_evidence(["D8:6; D9:17", "D30:05", "D:11:26", "D"])
    ['D8:6', 'D9:17', 'D30:5', 'D11:26', 'D']
    """
    pieces = [piece for string in strings for piece in re.split(r"[;,\s]+", string) if piece]
    return [_tidy(piece) for piece in pieces]


def _tidy(piece: str) -> str:
    match = EVIDENCE_ID.fullmatch(piece)
    return f"D{int(match[1])}:{int(match[2])}" if match else piece


def _evidence(
    strings: list[str], position: Mapping[str, int], quirks: Counter[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    ids = split_evidence(strings)
    found = [turn_id for turn_id in ids if turn_id in position]
    unresolved = tuple(turn_id for turn_id in ids if turn_id not in position)
    quirks["evidence_strings_not_a_turn_id"] += sum(string not in position for string in strings)
    quirks["evidence_unresolved"] += len(unresolved)
    return raw.in_history_order(found, position, quirks), unresolved
