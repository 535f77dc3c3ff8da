"""Atomic JSON and JSONL: a file is either whole or absent, and a malformed one names its line."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from memgauge.errors import InputError

Record = TypeVar("Record")


def write_bytes(path: Path, blocks: Iterable[bytes]) -> None:
    """Write blocks to a temporary neighbour, flush to disk, then rename over `path`.

    Raises InputError when the disk or the folder refuses; nothing half-written stays behind.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; free space or choose another folder") from error
    try:
        with os.fdopen(handle, "wb") as stream:
            for block in blocks:
                stream.write(block)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        os.unlink(temporary)
        raise InputError(f"cannot write {path}: {error.strerror}; free space and run again") from error
    except BaseException:
        os.unlink(temporary)
        raise


def write_text(path: Path, text: str) -> None:
    """Atomically write UTF-8 text."""
    write_bytes(path, [text.encode("utf-8")])


def write_json(path: Path, value: Any) -> None:
    """Atomically write indented JSON with sorted keys; floats that are not finite become null (msgspec)."""
    encoded = msgspec.json.encode(value, order="sorted")
    write_bytes(path, [msgspec.json.format(encoded, indent=2), b"\n"])


def write_jsonl(path: Path, records: Iterable[Any]) -> None:
    """Atomically write one record a line, in the order given."""
    encoder = msgspec.json.Encoder()
    write_bytes(path, (encoder.encode(record) + b"\n" for record in records))


def read_json(path: Path) -> Any:
    """Read JSON; raises InputError with the file's name and the place of the fault."""
    try:
        return msgspec.json.decode(read_bytes(path))
    except msgspec.DecodeError as error:
        raise InputError(f"{path} is not valid JSON: {error}; fetch or write it again") from error


def read_bytes(path: Path) -> bytes:
    """Read a whole file; raises InputError when it is absent or unreadable."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; run the stage that makes it") from error


def read_jsonl(path: Path, kind: type[Record]) -> Iterator[Record]:
    """Stream records of one kind; raises InputError naming file, line and field of the first bad one."""
    decoder = msgspec.json.Decoder(kind)
    try:
        stream = path.open("rb")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; run the stage that makes it") from error
    with stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                yield decoder.decode(line)
            except msgspec.DecodeError as error:
                raise InputError(f"{path} line {number}: {error}; fix or delete that line") from error
