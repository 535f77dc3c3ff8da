"""What the benchmark readers share: JSON with helpful errors, typed records, options, evidence order."""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from memgauge.errors import InputError

Kind = TypeVar("Kind")
Scalar = str | int | float | bool


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

    >>> parse_json('["\\\\ud83d!"]', "x.json", Counter()) == ["\\ufffd!"]
    True
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is not valid JSON: {error}; fetch it again") from error
    return _without_surrogates(value, quirks) if "\\ud" in text.lower() else value


def load_json(path: Path, quirks: Counter[str]) -> Any:
    """Read and parse one JSON file, plain or gzipped."""
    return parse_json(read_text(path), path, quirks)


def _without_surrogates(value: Any, quirks: Counter[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without_surrogates(item, quirks) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item, quirks) for item in value]
    if not isinstance(value, str):
        return value
    repaired = "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in value)
    if repaired != value:
        quirks["lone_surrogates_replaced"] += 1
    return repaired


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
