"""Forgetting in dialogue time: days between sessions, what later talk recalls, how much is retained."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


def dialogue_days(dates: Sequence[str | None]) -> list[float]:
    """The moment of each session in days; an undated one counts as held with the last dated one before it.

    Undated sessions before any dated one count as held with the first; where none is dated no time passes.

    >>> days = dialogue_days([None, "2023-05-08T12:00", None, "2023-05-10"])
    >>> [day - days[0] for day in days]
    [0.0, 0.0, 0.0, 1.5]
    """
    known = [_days(date) for date in dates if date is not None]
    latest = known[0] if known else 0.0
    days = []
    for date in dates:
        latest = latest if date is None else _days(date)
        days.append(latest)
    return days


def _days(date: str) -> float:
    return float(np.datetime64(date, "m").astype(np.int64)) / 1440


@dataclass(frozen=True, slots=True)
class Strength:
    """How firmly something is held: 1 plus the times it was recalled, and the day of the last time."""

    recalls: int
    day: float

    def log_retention(self, now: float, decay_days: float, as_released: bool = False) -> float:
        """ln R of R = exp(-t / (c * S)); t = days since the last recall, S = 1 + recalls, c = `decay_days`.

        The logarithm, because R itself is 0 in floating point after some years. `as_released` gives the released
        code's exp(-t / c * S), in which what is recalled more fades faster.

        >>> Strength(1, 0.0).log_retention(10.0, 5.0), Strength(1, 0.0).log_retention(10.0, 5.0, as_released=True)
        (-1.0, -4.0)
        """
        days, strength = max(now - self.day, 0.0), 1 + self.recalls
        return -days / decay_days * strength if as_released else -days / (decay_days * strength)


def strengths(
    vectors: NDArray[np.float32], sessions: Sequence[int], days: Sequence[float], threshold: float
) -> list[Strength]:
    """What is held of each unit after all later ones were said.

    `vectors` are unit rows in the order said, shape (units, dimensions); `sessions` their session numbers, not
    falling; `days` the moment of each session. A unit recalls the likest unit (cosine, the first of equals) of
    earlier sessions when that is at least `threshold` alike: within a session nothing has been away long enough.
    """
    held = [Strength(0, days[session]) for session in sessions]
    numbers = np.asarray(sessions)
    for session in sorted(set(sessions)):
        start = int(np.searchsorted(numbers, session))
        end = int(np.searchsorted(numbers, session, side="right"))
        if not start:
            continue
        cosines = np.round(vectors[start:end] @ vectors[:start].T, 6)
        for nearest, cosine in zip(cosines.argmax(axis=1).tolist(), cosines.max(axis=1).tolist(), strict=True):
            if cosine >= threshold:
                held[nearest] = Strength(held[nearest].recalls + 1, max(days[session], held[nearest].day))
    return held
