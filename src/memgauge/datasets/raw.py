"""What the benchmark readers share: JSON with helpful errors, typed records, options, evidence order."""

import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from memgauge.errors import InputError

Kind = TypeVar("Kind")
Scalar = str | int | float | bool

_SURROGATE = re.compile("[\ud800-\udfff]")
# An escaped backslash and a whole pair are matched too, to be left alone. All start with the literal: fast.
_SURROGATE_ESCAPE = re.compile(
    rb"\\(?:\\|u[dD](?:[89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>[89a-fA-F][0-9a-fA-F]{2})))"
)
# At the end of a read: a run of backslashes, part of an escape, or a first half whose second may follow.
_CUT_ESCAPE = re.compile(
    rb"(?<!\\)\\+(?:u(?:[0-9a-fA-F]{0,3}|[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?))?\Z"
)


def read_text(path: Path) -> str:
    """A UTF-8 file, `.gz` unpacked, byte-order mark dropped; raises InputError when that is impossible."""
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}; run `fetch` again") from error


def parse_json(text: str, place: object, quirks: Counter[str]) -> Any:
    """JSON of one file; halves of a surrogate pair that stand alone become U+FFFD and are counted.

    Raises InputError naming the file for anything else than JSON, NaN and Infinity included.

    >>> parse_json('["\\\\ud83d!"]', "x.json", Counter()) == ["\\ufffd!"]
    True
    """
    try:
        value = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is not valid JSON: {error}; fetch it again") from error
    return _without_surrogates(value, quirks) if "\\ud" in text.lower() else value


def load_json(path: Path, quirks: Counter[str]) -> Any:
    """Read and parse one JSON file, plain or gzipped."""
    return parse_json(read_text(path), path, quirks)


def _no_number(name: str) -> None:
    """Refuse what Python reads beyond JSON; a NaN would become the gold "nan"."""
    raise ValueError(f"{name} is not a JSON value")


def _without_surrogates(value: Any, quirks: Counter[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without_surrogates(item, quirks) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item, quirks) for item in value]
    if not isinstance(value, str):
        return value
    repaired, count = _SURROGATE.subn("\ufffd", value)
    if count:
        quirks["lone_surrogates_replaced"] += count
    return repaired


class RepairedStream:
    """A binary JSON stream in which the escape of a lone surrogate reads as that of U+FFFD, and is counted.

    For parsers of bytes, which turn such an escape into "?" without a word. Escapes that a read cuts are
    held back until the next one; `\\\\ud83d`, an escaped backslash, stays as it is.

    >>> import io
    >>> RepairedStream(io.BytesIO(b'"\\\\ud83d!"'), Counter()).read()
    b'"\\\\ufffd!"'
    """

    def __init__(self, stream: BinaryIO, quirks: Counter[str]) -> None:
        self._stream, self._quirks, self._held = stream, quirks, b""

    def read(self, size: int = -1) -> bytes:
        """The next bytes, about `size` of them (what was held back comes on top); empty at the end only."""
        if size == 0:
            return b""
        while True:
            fresh = self._stream.read(size)
            content = self._held + fresh
            end = _whole_escapes(content) if fresh and size > 0 else len(content)
            self._held = content[end:]
            if end or not fresh:
                whole = content[:end]
                suspect = b"\\ud" in whole or b"\\uD" in whole
                return _SURROGATE_ESCAPE.sub(self._repair, whole) if suspect else whole

    def _repair(self, match: re.Match[bytes]) -> bytes:
        if match["lone"] is None:
            return match[0]
        self._quirks["lone_surrogates_replaced"] += 1
        return b"\\ufffd"


def _whole_escapes(content: bytes) -> int:
    """The length of `content` without an escape cut at its end: at most 11 bytes or a run of backslashes."""
    start = len(content[:-11].rstrip(b"\\"))
    cut = _CUT_ESCAPE.search(content[start:])
    return start + cut.start() if cut else len(content)


def convert(value: Any, kind: type[Kind], place: str) -> Kind:
    """`value` as a typed record; raises InputError naming file, record (`place`) and field.

    >>> convert([1, "b"], list[int], "x.json record 3")
    Traceback (most recent call last):
    memgauge.errors.InputError: x.json record 3: Expected `int`, got `str` - at `$[1]`; correct that field
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise InputError(f"{place}: {error}; correct that field") from error


def options(benchmark: str, kind: type[Kind], given: Mapping[str, object]) -> Kind:
    """The typed options of one reader; raises InputError for an unknown name or a wrong type."""
    try:
        return msgspec.convert(dict(given), kind)
    except msgspec.ValidationError as error:
        known = ", ".join(field.name for field in msgspec.structs.fields(kind))  # type: ignore[arg-type]
        raise InputError(f"benchmark.{benchmark}.source: {error}; options are {known}") from error


def as_text(answer: Scalar, quirks: Counter[str]) -> str:
    """A gold as text; numbers are converted and counted.

    >>> as_text(2022, Counter())
    '2022'
    """
    if not isinstance(answer, str):
        quirks["answers_not_text"] += 1
    return str(answer)


def in_history_order(found: list[str], position: Mapping[str, int], quirks: Counter[str]) -> tuple[str, ...]:
    """Turn ids once each, in history order; repeats are counted."""
    distinct = set(found)
    quirks["evidence_repeated"] += len(found) - len(distinct)
    return tuple(sorted(distinct, key=position.__getitem__))
