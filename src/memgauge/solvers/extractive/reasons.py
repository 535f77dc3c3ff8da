"""An output with the reason for it: what a solver that records its rationale returns, in words a student can learn."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Reasoned:
    """The output of one task, and one short sentence that says why."""

    output: Any
    reason: str


def listed(parts: Iterable[str], most: int = 4) -> str:
    """The first distinct parts, as a list in words.

    >>> listed(["Oslo", "7 May 2023", "Oslo"])
    'Oslo, 7 May 2023'
    """
    return ", ".join(list(dict.fromkeys(parts))[:most])
