"""When a failed call is tried again, after how long, and when a whole batch stops.

Knows no HTTP client: a failure is a record, waiting and clocks are passed in.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

import numpy as np

from memgauge.errors import MemgaugeError

FIRST_BACKOFF_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 60.0

FailureKind = Literal[
    "passing", "unreachable", "quota", "key", "model", "address", "parameter", "context", "filtered", "cut", "refused"
]
"""passing: a rate limit, a server error, a timeout, a cut connection. unreachable: no connection was made.
quota: money or allowance is used up. key, model, address: the endpoint takes no call of ours. parameter: this model
does not take one parameter. context: the prompt is too long. filtered: refused for its content. cut: all tokens went
before an answer began. refused: anything else that trying again cannot cure."""
AGAIN: frozenset[FailureKind] = frozenset({"passing", "unreachable"})
STOPS: frozenset[FailureKind] = frozenset({"unreachable", "quota", "key", "model", "address"})


class StoppedError(MemgaugeError):
    """A batch that ended early for a reason that all its calls share; the same command goes on from there."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One call without a reply. `asked_seconds` is the wait that the server asked for, None where it asked for none.

    `parameter` is the refused one; `detail` says what went wrong, with no key in it.
    """

    kind: FailureKind
    detail: str
    asked_seconds: float | None = None
    parameter: str | None = None


def utc_now() -> datetime:
    """The date and time, with its zone."""
    return datetime.now(UTC)


def any_chance() -> float:
    """A number in [0, 1) that no seed decides.

    Processes that were refused together must not come back together, and no output depends on it.
    """
    return float(np.random.default_rng().random())


@dataclass(frozen=True, slots=True)
class Pace:
    """The clocks and the chance that retries need: sleep and monotonic clock in seconds, the date, a number in [0, 1).

    The defaults are functions of modules, so that a chat model can be sent to another process.
    """

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = utc_now
    chance: Callable[[], float] = any_chance


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """At most `max_attempts` attempts of one call, and `max_wait_seconds` of wall time from its first failure on."""

    max_attempts: int
    max_wait_seconds: float

    def too_long(self, failure: Failure) -> bool:
        """Whether the server asks for a longer wait than a call may take in all.

        >>> RetryPolicy(5, 60).too_long(Failure("passing", "rate limit", asked_seconds=3600))
        True
        """
        return failure.asked_seconds is not None and failure.asked_seconds > self.max_wait_seconds

    def wait_seconds(self, failure: Failure, attempts: int, spent_seconds: float, chance: float) -> float | None:
        """Seconds until the next attempt, None when there is to be none.

        `attempts` were made, `spent_seconds` have gone since the first one failed. The wait is what the server
        asked for plus a random part (`chance`, in [0, 1)) of a limit that doubles with each attempt, so that
        calls refused together do not come back together; the random part never passes the time left.

        >>> RetryPolicy(3, 60).wait_seconds(Failure("passing", "busy"), 2, 0.0, 0.5)
        0.75
        """
        left = self.max_wait_seconds - spent_seconds
        asked = failure.asked_seconds or 0.0
        if failure.kind not in AGAIN or attempts >= self.max_attempts or left <= 0 or asked > left:
            return None
        limit = min(FIRST_BACKOFF_SECONDS * 2.0 ** (attempts - 1), LONGEST_BACKOFF_SECONDS)
        return asked + min(limit * (1 + chance) / 2, left - asked)


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """The wait that a Retry-After header asks for, in seconds or as an HTTP date; None if absent or unreadable.

    A date is compared with the server's own Date header where there is one, so that clocks may differ.

    >>> retry_after_seconds({"Retry-After": "2"}, datetime.now(UTC))
    2.0
    """
    lowered = {name.lower(): value for name, value in headers.items()}
    asked = lowered.get("retry-after", "").strip()
    if asked.replace(".", "", 1).isdecimal():
        return float(asked)
    until = _http_date(asked)
    if until is None:
        return None
    return max((until - (_http_date(lowered.get("date", "")) or now)).total_seconds(), 0.0)


def _http_date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
