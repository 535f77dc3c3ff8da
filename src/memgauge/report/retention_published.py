"""What paper C prints of its retention experiment (`retention` of published.json); never a result of ours."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import msgspec

from memgauge.datasets.retention.wording import VARIANTS, Variant

READERS = ("Qwen", "Mistral")
RIGHT = "right"  # full-source states of 64 a cell


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One printed number of `n`; `most` is what it would be, were a failed request right.

    `verdict`: exact (follows from other printed numbers), design (follows from how stimuli and arms are made),
    draw (depends on which families were drawn) or reference (needs the paper's own replies). `reader`, `arm` and
    `variant` are "" where the number is of all.
    """

    what: str
    reader: str
    arm: str
    variant: str
    value: float
    most: float | None
    n: int
    verdict: str
    remark: str


@dataclass(frozen=True, slots=True)
class PublishedRetention:
    """The whole part of the file."""

    source: str
    unit: str
    rows: tuple[PublishedRow, ...]


@dataclass(frozen=True, slots=True)
class _File:
    retention: PublishedRetention


@cache
def published_retention() -> PublishedRetention:
    """The published numbers, checked against their types."""
    text = files("memgauge.report").joinpath("published.json").read_bytes()
    return msgspec.json.decode(text, type=_File).retention


def published_arms() -> list[str]:
    """The arms that the paper prints, in its order."""
    return list(dict.fromkeys(each.arm for each in published_retention().rows if each.what == RIGHT))


def published_count(arm: str, variant: Variant, reader: str = READERS[0]) -> str:
    """A reader's count as the paper prints it, "" for an arm that it does not have.

    >>> published_count("user_history", "reference"), published_count("full_history", "direct", "Mistral")
    ('2-3', '1')
    """
    for each in published_retention().rows:
        if (each.what, each.reader, each.arm, each.variant) == (RIGHT, reader, arm, variant):
            return f"{each.value:.0f}" if each.most is None else f"{each.value:.0f}-{each.most:.0f}"
    return ""


def published_counts(arm: str) -> list[str]:
    """An arm's counts: direct and reference of one reader, then of the other."""
    return [published_count(arm, variant, reader) for reader in READERS for variant in VARIANTS]
