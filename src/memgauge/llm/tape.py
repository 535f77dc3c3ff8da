"""Tapes: the calls that results rest on, in one checked file from which they can be replayed without a model.

A tape is JSON lines in one zstandard frame: a first line that names the format, one line per call in key order
with its own checksum, a last line with the number of calls and the checksum of all before it. The same calls
give the same bytes, whenever and however fast they were made. What a reply took (time, attempts) is left out.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from memgauge.errors import InputError
from memgauge.files import write_bytes
from memgauge.llm.chat import ChatReply
from memgauge.llm.store import Call, ResponseStore, canonical, key, read_reply, usable

_FORMAT = {"format": "memgauge tape", "version": 1}
_FORGOTTEN = ("latency_seconds", "attempts", "origin", "detail")  # differ between recordings of the same call
_WINDOW = 25  # log2 of bytes: contexts asked about again lie within 32 MB
_BLOCK = 1 << 20  # bytes read at once
_CREDENTIALS = re.compile(r"://[^/\s\"]*@")
_PERSONAL = frozenset({"api_key", "authorization", "extra_headers", "headers", "organization", "user"})
_CURE = "fetch it again, or save it anew from the response store"


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    key: str
    sample: int
    payload: dict[str, Any]
    reply: dict[str, Any]
    sum: str


class _End(msgspec.Struct, forbid_unknown_fields=True):
    calls: int
    adaptations: dict[str, dict[str, Any]]
    sum: str


@dataclass(frozen=True, slots=True)
class TapeSummary:
    """What a tape holds: calls, how many of them are failures, calls by model, tokens."""

    calls: int
    failures: int
    models: dict[str, int]
    input_tokens: int
    output_tokens: int


def save_tape(path: Path, store: ResponseStore, keys: Iterable[str], private: Sequence[str] = ()) -> int:
    """Write the calls of these keys to `path` (atomically) and return their number.

    `private` are texts that no tape may hold, such as keys of endpoints and the home folder. Raises InputError
    when a call was never finished, or when one holds a private text, credentials in an address, or a field that
    names a person; the text itself is not shown.
    """
    wanted = set(keys)
    calls = 0

    def checked() -> Iterator[Call]:
        nonlocal calls
        for call in store.calls(wanted):
            calls += 1
            yield call
        if calls < len(wanted):
            raise InputError(f"{len(wanted) - calls} of {len(wanted)} calls are not in {store}; run their stages again")

    write_bytes(path, _compressed(_lines(checked(), store.adaptations(), private)))
    return calls


def _compressed(lines: Iterable[bytes]) -> Iterator[bytes]:
    level = zstandard.ZstdCompressionParameters.from_level(
        10, window_log=_WINDOW, enable_ldm=True, write_checksum=True, write_content_size=False
    )
    compressor = zstandard.ZstdCompressor(compression_params=level).compressobj()
    for line in lines:
        yield compressor.compress(line)
    yield compressor.flush()


def _lines(calls: Iterable[Call], adaptations: Mapping[str, dict[str, Any]], private: Sequence[str]) -> Iterator[bytes]:
    total, count = sha256(), -1  # the first line is no call
    models: set[str] = set()
    for line in _body(calls, private, models):
        count += 1
        total.update(line)
        yield line
    # An endpoint's adaptations are in the payloads, so a replay must know those of the models on this tape.
    kept = {name: change for name, change in adaptations.items() if any(model in name for model in models)}
    end = {"calls": count, "adaptations": kept}
    total.update(canonical(end).encode())
    text = canonical({**end, "sum": total.hexdigest()})
    _refuse_private(text, {}, private)
    yield text.encode() + b"\n"


def _body(calls: Iterable[Call], private: Sequence[str], models: set[str]) -> Iterator[bytes]:
    yield canonical(_FORMAT).encode() + b"\n"
    for call in calls:
        models.add(_model(call.payload))
        reply = {name: value for name, value in asdict(call.reply).items() if name not in _FORGOTTEN}
        line = {"key": call.key, "sample": call.sample, "payload": call.payload, "reply": reply}
        text = canonical({**line, "sum": _checksum(line)})
        _refuse_private(text, call.payload, private)
        yield text.encode() + b"\n"


def _model(payload: Mapping[str, Any]) -> str:
    return str(payload.get("model", "unnamed"))


def _checksum(line: Mapping[str, Any]) -> str:
    return sha256(canonical(line).encode()).hexdigest()[:16]


def _refuse_private(text: str, payload: Mapping[str, Any], private: Sequence[str]) -> None:
    place = f"a call of {_model(payload)}"
    for number, secret in enumerate(private, 1):
        if secret and json.dumps(secret)[1:-1] in text:
            raise InputError(f"{place} holds private text {number} of {len(private)}; no tape is written: remove it")
    settings = {name: value for name, value in payload.items() if name != "messages"}
    if _CREDENTIALS.search(canonical(settings)):
        raise InputError("an endpoint's address holds credentials; give the key by the environment and run again")
    if personal := sorted(_PERSONAL & {name.lower() for name in settings}):
        raise InputError(f"{place} sends {', '.join(personal)}, which no tape may hold; remove it and run again")


def read_tape(path: Path) -> tuple[dict[str, Call], dict[str, dict[str, Any]]]:
    """All calls by key, and the adaptations of their endpoints.

    Raises InputError, naming file and line, for the first line that is cut, changed, foreign, repeated or missing.
    """
    lines = _decompressed(path)
    calls: dict[str, Call] = {}
    total, number, last = sha256(), 1, ""
    first = next(lines, b"")
    if first != canonical(_FORMAT).encode() + b"\n":
        raise InputError(f"{path} is no tape of this version: its first line is not {canonical(_FORMAT)}; {_CURE}")
    total.update(first)
    for number, line in enumerate(lines, 2):
        entry = _parse(f"{path} line {number}", line)
        if isinstance(entry, _End):
            total.update(canonical({"calls": entry.calls, "adaptations": entry.adaptations}).encode())
            _check_end(path, entry, len(calls), total.hexdigest(), next(lines, b""))
            return calls, entry.adaptations
        if entry.key <= last:
            fault = "repeats a call" if entry.key in calls else "is out of order"
            raise InputError(f"{path} line {number} {fault}; {_CURE}")
        last = entry.key
        calls[last] = Call(last, entry.sample, entry.payload, read_reply(json.dumps(entry.reply), "tape"))
        total.update(line)
    raise InputError(f"{path} is cut after line {number}: its last line is missing; {_CURE}")


def _decompressed(path: Path) -> Iterator[bytes]:
    """The lines of a file that is one whole frame."""
    reader, rest = zstandard.ZstdDecompressor().decompressobj(), b""
    try:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                *lines, rest = (rest + reader.decompress(block)).split(b"\n")
                yield from (line + b"\n" for line in lines)
                if reader.unused_data or (reader.eof and stream.peek(1)):
                    raise InputError(f"{path} goes on after its last line; {_CURE}")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; fetch the tape or correct its name") from error
    except zstandard.ZstdError as error:
        raise InputError(f"{path} is not a whole zstandard file ({error}); {_CURE}") from error
    if rest:
        yield rest
    if not reader.eof:
        raise InputError(f"{path} is cut: its zstandard frame does not end; {_CURE}")


def _parse(place: str, text: bytes) -> _Line | _End:
    if not text.endswith(b"\n"):
        raise InputError(f"{place} is cut; {_CURE}")
    try:
        value = json.loads(text)
        if isinstance(value, dict) and "calls" in value:
            return msgspec.convert(value, _End)
        line = msgspec.convert(value, _Line)
        msgspec.convert(line.reply, ChatReply)
        found = _checksum({name: value[name] for name in value if name != "sum"})
    except (ValueError, RecursionError, InputError) as error:
        raise InputError(f"{place} is no line of a tape ({error}); {_CURE}") from error
    if line.sum != found:
        raise InputError(f"{place} has another checksum: it was changed; {_CURE}")
    if line.key != key(line.payload, line.sample):
        raise InputError(f"{place} has a key that is not its payload's; {_CURE}")
    return line


def _check_end(path: Path, end: _End, calls: int, total: str, after: bytes) -> None:
    if after:
        raise InputError(f"{path} goes on after its last line; {_CURE}")
    if end.calls != calls:
        raise InputError(f"{path} holds {calls} calls, but was written with {end.calls}; {_CURE}")
    if end.sum != total:
        raise InputError(f"{path} has another checksum as a whole: lines were exchanged; {_CURE}")


def verify_tape(path: Path) -> TapeSummary:
    """Read a whole tape and say what it holds; raises InputError as `read_tape` does."""
    calls, _ = read_tape(path)
    replies = [call.reply for call in calls.values()]
    return TapeSummary(
        len(calls),
        sum(not usable(reply) for reply in replies),
        dict(sorted(Counter(_model(call.payload) for call in calls.values()).items())),
        sum(reply.input_tokens for reply in replies),
        sum(reply.output_tokens for reply in replies),
    )
