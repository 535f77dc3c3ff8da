"""Retention policies: which messages of a conversation are kept, told from the messages alone.

A policy is a frozen dataclass with `name`, `matched` and `keep`. One of ours goes by its name, a user's own by
`module:Name`, where the module can be imported.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Protocol

from memgauge.datasets.retention.events import Speaker
from memgauge.errors import InputError, unknown_name


@dataclass(frozen=True, slots=True)
class Line:
    """One message as a policy sees it: who says it, its line as a reader would see it, and that line's tokens."""

    speaker: Speaker
    text: str
    tokens: int


class RetentionPolicy(Protocol):
    """Chooses messages to keep; `matched` says that its prompt is brought to the length of user history's."""

    name: ClassVar[str]
    matched: ClassVar[bool]

    def keep(self, lines: Sequence[Line], budget_tokens: int) -> Sequence[int]:
        """Positions to keep, growing. The budget is what user history takes; only a matched policy minds it."""
        ...


@dataclass(frozen=True, slots=True)
class FullHistory:
    """Every message."""

    name: ClassVar[str] = "full_history"
    matched: ClassVar[bool] = False

    def keep(self, lines: Sequence[Line], budget_tokens: int) -> list[int]:
        """All positions."""
        return list(range(len(lines)))


@dataclass(frozen=True, slots=True)
class UserHistory:
    """The user's messages and the last `recent` of anyone (paper C: three)."""

    name: ClassVar[str] = "user_history"
    matched: ClassVar[bool] = False
    recent: int = 3

    def keep(self, lines: Sequence[Line], budget_tokens: int) -> list[int]:
        """Positions of the user's messages and of the last ones."""
        first_recent = len(lines) - self.recent
        return [place for place, line in enumerate(lines) if line.speaker == "user" or place >= first_recent]


@dataclass(frozen=True, slots=True)
class Recency:
    """The longest run of last messages, whole and whoever says them, within the budget (paper C)."""

    name: ClassVar[str] = "recency"
    matched: ClassVar[bool] = True

    def keep(self, lines: Sequence[Line], budget_tokens: int) -> list[int]:
        """Positions of the longest suffix of at most `budget_tokens`.

        >>> Recency().keep([Line("user", "a", 5), Line("user", "b", 3), Line("assistant", "c", 4)], 8)
        [1, 2]
        """
        start, used = len(lines), 0
        while start and used + lines[start - 1].tokens <= budget_tokens:
            start -= 1
            used += lines[start].tokens
        return list(range(start, len(lines)))


@dataclass(frozen=True, slots=True)
class ReferenceFollowing:
    """User history, and with it every message that a kept message of the user names by number.

    Ours: unlike paper C's oracle it looks at nothing but the kept text, so it could be deployed.
    """

    name: ClassVar[str] = "reference_following"
    matched: ClassVar[bool] = False
    recent: int = 3

    def keep(self, lines: Sequence[Line], budget_tokens: int) -> list[int]:
        """Positions of user history and of what it refers to.

        >>> offer, other = Line("assistant", "e1: I can offer tram", 5), Line("assistant", "e2: or bus", 5)
        >>> ReferenceFollowing(recent=0).keep([offer, other, Line("user", "e3: I take the one of e1", 5)], 0)
        [0, 2]
        """
        numbers = [_numbers(line.text) for line in lines]
        places = {own[0]: place for place, own in enumerate(numbers) if own}
        kept = set(UserHistory(self.recent).keep(lines, budget_tokens))
        spoken = [place for place in kept if lines[place].speaker == "user"]
        named = {places[each] for place in spoken for each in numbers[place][1:] if each in places}
        return sorted(kept | named)


_NUMBER = re.compile(r"\be\d+\b")


def _numbers(text: str) -> list[str]:
    """A message's own number, then those it names."""
    return _NUMBER.findall(text)


POLICIES: dict[str, RetentionPolicy] = {
    policy.name: policy for policy in (FullHistory(), UserHistory(), Recency(), ReferenceFollowing())
}


def make_policy(name: str) -> RetentionPolicy:
    """One of POLICIES by name, or `Name()` of a module by `module:Name`; InputError when there is none or no policy.

    >>> make_policy("user_history")
    UserHistory(recent=3)
    """
    if name in POLICIES:
        return POLICIES[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        raise unknown_name("retention policy", name, [*POLICIES, "module:Name"])
    try:
        policy: Any = getattr(import_module(module), attribute)()
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"retention policy {name!r} cannot be found: {error}; give `module:Name`") from error
    missing = [each for each in ("name", "matched", "keep") if not hasattr(policy, each)]
    if missing:
        raise InputError(
            f"retention policy {name!r} has no {', '.join(missing)}; see experiments/retention_policies.py"
        )
    made: RetentionPolicy = policy
    return made


def kept_positions(policy: RetentionPolicy, lines: Sequence[Line], budget_tokens: int) -> tuple[int, ...]:
    """What a policy keeps; InputError when it is not a growing run of the conversation's positions."""
    kept = tuple(policy.keep(lines, budget_tokens))
    if list(kept) != sorted(set(kept)) or any(not 0 <= place < len(lines) for place in kept):
        raise InputError(
            f"retention policy {policy.name!r} keeps {kept} of {len(lines)} messages; positions must grow and exist"
        )
    return kept
