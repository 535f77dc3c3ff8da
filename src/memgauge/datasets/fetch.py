"""Bring one benchmark's published files into a folder, from a local copy or by download; SHA-256 decides."""

import gzip
import hashlib
import http.client
import os
import shutil
import urllib.request
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, cast

from tqdm import tqdm

from memgauge.datasets.pins import Pin, pins
from memgauge.errors import AssetError, InputError, unknown_name
from memgauge.files import write_bytes

BENCHMARKS = ("beam", "locomo", "longmemeval")
BLOCK_BYTES = 1 << 20
TIMEOUT_SECONDS = 60.0
UNREADABLE = (OSError, EOFError, zlib.error, http.client.HTTPException)

OpenUrl = Callable[[str], IO[bytes]]


def open_https(url: str) -> IO[bytes]:
    """A download as a binary stream; only https addresses are opened."""
    if not url.startswith("https://"):
        raise InputError(f"{url} is not an https address; give one that is")
    return urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS)  # type: ignore[no-any-return]


def fetch(
    name: str,
    target: Path,
    source: Path | None,
    options: Mapping[str, object],
    open_url: OpenUrl = open_https,
) -> None:
    """Fill `target` with the benchmark's files; `source` (MEMGAUGE_DATA) is looked at before the network.

    The files gather beside `target` and take its place when all are there, so that no reader meets half of them;
    a second try keeps what a broken one left. Raises AssetError when a file is absent, unreachable or has another
    checksum; `target` then stays as it was. Nothing is brought again when `target` holds just these files.
    """
    if name not in BENCHMARKS:
        raise unknown_name("benchmark to fetch", name, list(BENCHMARKS))
    wanted = _beam_pins(source, options) if name == "beam" else [_single_pin(name, source, options)]
    if _holds(target, wanted):
        return
    gathering = target.with_name(f".{target.name}.partial")
    for pin in wanted:
        if not _is_whole(gathering / pin.path, pin):
            write_bytes(gathering / pin.path, _checked(_blocks(name, pin, source, open_url), pin))
    if target.exists():
        shutil.rmtree(target)
    os.replace(gathering, target)


def _holds(target: Path, wanted: Sequence[Pin]) -> bool:
    """Whether the folder holds the wanted files, whole, and no others."""
    there = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    return there == {pin.path for pin in wanted} and all(_is_whole(target / pin.path, pin) for pin in wanted)


def _is_whole(file: Path, pin: Pin) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == pin.sha256


def _beam_pins(source: Path | None, options: Mapping[str, object]) -> list[Pin]:
    """The pinned files of the chosen tiers; an unpinned tier only from a local copy, if allowed."""
    tiers = options.get("tiers") or ("100K", "500K")
    if not isinstance(tiers, list | tuple):
        raise InputError(f"benchmark.beam.source.tiers: {tiers!r} is not a list of tiers such as [100K]")
    wanted: list[Pin] = []
    for tier in tiers:
        found = [pin for path, pin in pins("beam").items() if path.startswith(f"chats/{tier}/")]
        if not found and options.get("allow_unpinned"):
            found = _unpinned(source, str(tier))
        if not found:
            raise AssetError(
                f"BEAM tier {tier!r} has no pinned checksums; put its folders below "
                f"$MEMGAUGE_DATA/beam/chats/{tier} and set benchmark.beam.source.allow_unpinned, "
                "or choose from 100K, 500K"
            )
        wanted += found
    return wanted


def _unpinned(source: Path | None, tier: str) -> list[Pin]:
    """Pins made up from what lies in the local copy: chats and probing questions."""
    if source is None:
        return []
    root = next((path for path in (source / "beam", source) if (path / "chats" / tier).is_dir()), source)
    files = sorted(path for path in (root / "chats" / tier).glob("*/**/*.json*") if _is_read(path.name))
    names = sorted({str(path.relative_to(root)).removesuffix(".gz") for path in files})
    return [_measured(source, "beam", name) for name in names]


def _is_read(name: str) -> bool:
    return name.removesuffix(".gz") in ("chat.json", "chat_trunecated.json", "probing_questions.json")


def _single_pin(name: str, source: Path | None, options: Mapping[str, object]) -> Pin:
    """The pin of the one file a benchmark consists of: ours, or the checksum the user gave."""
    file = options.get("file") or next(iter(pins(name)))
    pinned = pins(name).get(str(file))
    if pinned is not None:
        return pinned
    sha256, url = options.get("sha256"), options.get("url")
    if not sha256:
        found = _local(source, name, str(file)) and _measured(source, name, str(file)).sha256
        cure = f"the copy found has {found}" if found else "no local copy was found to read it from"
        raise AssetError(f"{file} is not pinned: set benchmark.{name}.source.sha256 to the checksum you trust ({cure})")
    return Pin(str(file), 0, str(sha256), str(url) if url else None)


def _measured(source: Path | None, name: str, path: str) -> Pin:
    digest = hashlib.sha256()
    pin = Pin(path, 0, "", None)
    for block in _blocks(name, pin, source, open_https):
        digest.update(block)
    return Pin(path, 0, digest.hexdigest(), None)


def _local(source: Path | None, name: str, path: str) -> Path | None:
    """The local copy of a file, plain or gzipped, below `source` or its folder named after the benchmark."""
    if source is None:
        return None
    places = [folder / (path + suffix) for folder in (source, source / name) for suffix in ("", ".gz")]
    return next((place for place in places if place.is_file()), None)


def _blocks(name: str, pin: Pin, source: Path | None, open_url: OpenUrl) -> Iterator[bytes]:
    """The unpacked content of one file, block by block."""
    local = _local(source, name, pin.path)
    if local is None and pin.url is None:
        where = source if source else "MEMGAUGE_DATA (not set)"
        raise AssetError(f"{pin.path} is not in {where} and has no download address; {_cure(pin)}")
    try:
        bar = tqdm(total=pin.bytes or None, desc=f"fetch {pin.path}", unit="B", unit_scale=True, delay=2)
        with bar, _open(local, pin, open_url) as stream:
            while block := stream.read(BLOCK_BYTES):
                bar.update(len(block))
                yield block
    except UNREADABLE as error:
        raise AssetError(f"cannot read {local or pin.url}: {error}; {_cure(pin)}") from error


def _open(local: Path | None, pin: Pin, open_url: OpenUrl) -> IO[bytes]:
    if local is None:
        return open_url(str(pin.url))
    return cast(IO[bytes], gzip.open(local, "rb") if local.suffix == ".gz" else local.open("rb"))


def _checked(blocks: Iterator[bytes], pin: Pin) -> Iterator[bytes]:
    """The same blocks; raises at the end unless their SHA-256 is the expected one: nothing is kept."""
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
        yield block
    if digest.hexdigest() != pin.sha256:
        raise AssetError(f"{pin.path} has SHA-256 {digest.hexdigest()}, not {pin.sha256}; {_cure(pin)}")


def _cure(pin: Pin) -> str:
    expected = f"a copy with SHA-256 {pin.sha256}" if pin.sha256 else "a copy"
    origin = f" (published at {pin.url})" if pin.url else ""
    return f"put {expected}{origin} into a folder as {pin.path} and set MEMGAUGE_DATA to that folder"
