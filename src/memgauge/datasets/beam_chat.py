"""The nesting of a BEAM chat: batches of turns of messages, and in the 10M tier plans of batches."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from memgauge.datasets import raw, stamps
from memgauge.errors import InputError
from memgauge.records import Session, Turn

MARKER = re.compile(r"\s*->->\s*\d+\s*,\s*(?:\d+|N/A)(?:\s*,\s*\d+)*\)?\s*\Z")
MARKER_SIGN = "->->"


class RawMessage(msgspec.Struct, frozen=True):
    """One message as published."""

    role: str
    id: int | str
    content: str
    time_anchor: str | None = None


class RawBatch(msgspec.Struct, frozen=True):
    """One batch as published; `turns` holds groups of messages, a message may lack its partner."""

    batch_number: int
    turns: list[list[RawMessage]]
    time_anchor: str | None = None


def chat_sessions(
    chat: Any, strip_markers: bool, place: str, quirks: Counter[str]
) -> tuple[tuple[Session, ...], list[tuple[str, str]]]:
    """The sessions of one chat, and (published message id, turn id) of every message in order.

    A turn id is the message id, in the 10M tier plan/batch/id since message ids start again with every plan.
    """
    sessions = []
    ids: list[tuple[str, str]] = []
    for plan, batch in _batches(chat, place):
        prefix = f"{plan}/" if plan else ""
        messages = [message for group in batch.turns for message in group]
        quirks["messages_without_partner"] += sum(len(group) % 2 for group in batch.turns)
        if not messages:
            quirks["sessions_empty"] += 1
            continue
        turns = []
        for message in messages:
            turn_id = f"{prefix}{batch.batch_number}/{message.id}" if plan else str(message.id)
            ids.append((str(message.id), turn_id))
            turns.append(Turn(turn_id, message.role, _content(message.content, strip_markers, quirks)))
        date = _date(batch, messages, place, quirks)
        sessions.append(Session(f"{prefix}batch-{batch.batch_number}", date, tuple(turns)))
    return tuple(sessions), ids


def _batches(chat: Any, place: str) -> Iterator[tuple[str | None, RawBatch]]:
    """(plan, batch) in file order; plan is None where the chat is a plain list of batches."""
    for number, item in enumerate(raw.convert(chat, list[dict[str, Any]], place)):
        if "turns" in item or "batch_number" in item:
            yield None, raw.convert(item, RawBatch, f"{place} record {number}")
            continue
        for plan, batches in item.items():
            if batches is None:  # a hub export fills the other plans' columns with null
                continue
            for batch in raw.convert(batches, list[RawBatch], f"{place} record {number} ({plan})"):
                yield plan, batch


def _date(batch: RawBatch, messages: Sequence[RawMessage], place: str, quirks: Counter[str]) -> str | None:
    """The batch's date, read from the first message that has one."""
    stamp = next((message.time_anchor for message in messages if message.time_anchor), batch.time_anchor)
    if stamp is None:
        quirks["sessions_without_date"] += 1
        return None
    return stamps.iso(stamp, stamps.BEAM, f"{place} batch {batch.batch_number} time_anchor")


def _content(content: str, strip_markers: bool, quirks: Counter[str]) -> str:
    stripped = MARKER.sub("", content) if strip_markers else content
    quirks["markers_stripped"] += stripped != content
    quirks["texts_with_a_marker_left"] += MARKER_SIGN in stripped
    quirks["turns_without_text"] += not stripped.strip()
    return stripped


def turn_index(ids: Sequence[tuple[str, str]]) -> dict[str, str | None]:
    """Turn id by published message id; None where several messages carry that id: no guessing."""
    index: dict[str, str | None] = {}
    for message_id, turn_id in ids:
        index[message_id] = None if message_id in index else turn_id
        index.setdefault(turn_id, turn_id)
    return index


def evidence(source: Any, index: Mapping[str, str | None], place: str) -> tuple[list[str], tuple[str, ...]]:
    """Turn ids and unresolved ids of `source_chat_ids`: null, a list, a list of lists, or a dict of lists.

    >>> evidence({"first": [2], "second": [[0, 9]]}, {"0": "0", "2": "2"}, "x")
    (['2', '0'], ('9',))
    """
    named = [str(item) for item in _flat(source, place)]
    turns = [(name, index.get(name)) for name in named]
    return [turn for _, turn in turns if turn is not None], tuple(name for name, turn in turns if turn is None)


def _flat(value: Any, place: str) -> Iterator[int | str]:
    if value is None:
        return
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _flat(item, place)
    elif isinstance(value, int | str) and not isinstance(value, bool):
        yield value
    else:
        raise InputError(f"{place}: source_chat_ids holds {value!r}, which is no message id; correct that question")
