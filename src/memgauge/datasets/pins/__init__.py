"""Pinned files of each benchmark: path, bytes, SHA-256 of the unpacked content, and where it is published."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Pin:
    """One published file. `url` is None where no pinned address exists."""

    path: str
    bytes: int
    sha256: str
    url: str | None


@cache
def pins(benchmark: str) -> dict[str, Pin]:
    """Pins of one benchmark by path, file order.

    >>> pins("locomo")["locomo10.json"].bytes
    2805274
    """
    base: str | None = None
    table: dict[str, Pin] = {}
    for line in (FOLDER / f"{benchmark}.tsv").read_text("utf-8").splitlines():
        if line.startswith("#"):
            label, _, value = line[1:].strip().partition(" ")
            base = value if label == "base_url" else base
            continue
        path, size, sha256 = line.split("\t")
        table[path] = Pin(path, int(size), sha256, base + path if base else None)
    return table
