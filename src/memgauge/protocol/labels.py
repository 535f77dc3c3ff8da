"""The label of the larger gap, decided on exact fractions, and how often bootstrap draws give each label."""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Label = Literal["write", "retrieval", "mixed"]
LABELS: tuple[Label, ...] = ("write", "retrieval", "mixed")
MARGINS: tuple[float, ...] = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05)


@lru_cache(maxsize=65536)
def as_fraction(value: float) -> Fraction:
    """The simplest fraction with this floating-point value: scores are ratios of small counts.

    >>> as_fraction(0.02), as_fraction(2 / 3), as_fraction(1.0)
    (Fraction(1, 50), Fraction(2, 3), Fraction(1, 1))
    """
    simple = Fraction(value).limit_denominator(1_000_000)
    return simple if float(simple) == value else Fraction(value)


def exact_mean(values: Iterable[float]) -> Fraction:
    """The mean as a fraction; of at least one value.

    >>> exact_mean([1.0, 0.0, 1 / 3])
    Fraction(4, 9)
    """
    counts = Counter(values)  # few distinct scores: far fewer fractions to add
    total = sum((as_fraction(value) * count for value, count in counts.items()), Fraction(0))
    return total / counts.total()


def label_of(write: Fraction, retrieval: Fraction, margin: float) -> Label:
    """Which gap is larger by strictly more than the margin (paper A, section 3).

    Binary floating point would call the second example "write".

    >>> label_of(Fraction(4, 100), Fraction(7, 100), 0.02)
    'retrieval'
    >>> label_of(Fraction(53, 100) - Fraction(43, 100), Fraction(43, 100) - Fraction(35, 100), 0.02)
    'mixed'
    """
    if write > retrieval + as_fraction(margin):
        return "write"
    if retrieval > write + as_fraction(margin):
        return "retrieval"
    return "mixed"


def label_shares(
    leads: NDArray[np.float64], counts: NDArray[np.float64], units: int, margin: float
) -> dict[Label, float] | None:
    """The share of draws that give each label; None when fewer than two units were resampled.

    `leads` are each draw's summed (write - retrieval) over its `counts` questions. The rule is compared in
    whole multiples, which stay exact for 0/1 scores: lead / count > a / b becomes lead * b > a * count.

    >>> label_shares(np.array([2.0, 1.0, -2.0, 9.0]), np.array([50.0, 50.0, 50.0, 50.0]), 9, 0.02)
    {'write': 0.5, 'retrieval': 0.25, 'mixed': 0.25}
    """
    kept = counts > 0
    if units < 2 or not kept.any():
        return None
    rule = as_fraction(margin)
    lead, allowed = leads[kept] * rule.denominator, counts[kept] * rule.numerator
    write, retrieval = float(np.mean(lead > allowed)), float(np.mean(-lead > allowed))
    mixed = float(np.mean(np.abs(lead) <= allowed))
    return {"write": write, "retrieval": retrieval, "mixed": mixed}


def labels_by_margin(write: Fraction, retrieval: Fraction) -> dict[str, Label]:
    """The label at every margin from 0 to .05.

    >>> labels_by_margin(Fraction(4, 100), Fraction(7, 100))["0.03"]
    'mixed'
    """
    return {f"{margin:.2f}": label_of(write, retrieval, margin) for margin in MARGINS}
