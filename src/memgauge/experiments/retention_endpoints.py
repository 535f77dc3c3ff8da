"""What retention outcomes come to: right states, what the text supports, and the bounds that missing replies leave."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memgauge.datasets.retention.wording import VARIANTS, Variant
from memgauge.experiments.retention import Outcome
from memgauge.tasks.track_state import SLOTS, Slot, State

Group = Literal["full match", "null item, rest right", "null item, rest wrong", "other", "missing"]
GROUPS: tuple[Group, ...] = ("full match", "null item, rest right", "null item, rest wrong", "other", "missing")
SlotFate = Literal["match", "null", "other value", "missing"]
FATES: tuple[SlotFate, ...] = ("match", "null", "other value", "missing")
Support = Literal["supported", "unsupported", "unresolved", "missing"]
SUPPORTS: tuple[Support, ...] = ("supported", "unsupported", "unresolved", "missing")


@dataclass(frozen=True, slots=True)
class Tally:
    """One arm and variant: counts of `n` requests.

    `correct` of them gave the full source's state in all slots, `missing` gave no usable reply; were those right,
    `correct` + `missing` would be. `sufficient` says in how many the retained text settles that state at all.
    """

    arm: str
    variant: Variant
    n: int
    families: int
    correct: int
    missing: int
    sufficient: int
    groups: dict[Group, int]
    slots: dict[Slot, dict[SlotFate, int]]
    support: dict[Support, int]
    prompt_tokens: int
    kept: int
    messages: int

    @property
    def slots_matched(self) -> float | None:
        """Partial match: the mean share of slots that match, over the replies that came; None without any."""
        replies = self.n - self.missing
        matched = sum(fates["match"] for fates in self.slots.values())
        return matched / (len(SLOTS) * replies) if replies else None


@dataclass(frozen=True, slots=True)
class Contest:
    """Families in which the first arm has more, as many or fewer right states than the second."""

    first: str
    second: str
    variant: Variant
    more: int
    equal: int
    fewer: int


def tallies(outcomes: Sequence[Outcome]) -> list[Tally]:
    """One tally an arm and variant, arms in the order asked."""
    arms = list(dict.fromkeys(each.arm for each in outcomes))
    chosen = [
        [each for each in outcomes if (each.arm, each.variant) == (arm, variant)]
        for arm in arms
        for variant in VARIANTS
    ]
    return [_tally(each) for each in chosen if each]


def contest(outcomes: Sequence[Outcome], first: str, second: str) -> list[Contest]:
    """Two arms by family; a missing reply counts as not right, as in the paper's counts."""
    found = []
    for variant in VARIANTS:
        scores: dict[int, int] = {}
        for each in outcomes:
            if each.variant == variant and each.arm in (first, second):
                sign = 1 if each.arm == first else -1
                scores[each.family] = scores.get(each.family, 0) + sign * is_correct(each)
        signs = Counter((score > 0) - (score < 0) for score in scores.values())
        found.append(Contest(first, second, variant, signs[1], signs[0], signs[-1]))
    return found


def is_correct(outcome: Outcome) -> bool:
    """Whether all three slots match the full source's state in a reply that came."""
    return outcome.response is not None and all(
        same(outcome.response.value(slot), outcome.target.value(slot)) for slot in SLOTS
    )


def is_sufficient(outcome: Outcome) -> bool:
    """Whether the retained text settles the full source's state; says nothing of the reader."""
    return outcome.visible == outcome.target


def same(given: str | None, wanted: str | None) -> bool:
    """Equal but for case and blanks around; null equals only null.

    >>> same(" West", "west"), same(None, "west"), same("", None)
    (True, False, False)
    """
    if given is None or wanted is None:
        return given is wanted
    return given.strip().casefold() == wanted.strip().casefold()


def support_of(outcome: Outcome) -> Support:
    """Whether the reply says what the retained text says; unresolved where that text names an absent offer."""
    if outcome.response is None:
        return "missing"
    if outcome.unresolved:
        return "unresolved"
    agrees = all(same(outcome.response.value(slot), outcome.visible.value(slot)) for slot in SLOTS)
    return "supported" if agrees else "unsupported"


def group_of(outcome: Outcome) -> Group:
    """Which of five exclusive groups a reply falls into (paper C, figure 6A)."""
    response = outcome.response
    if response is None:
        return "missing"
    if is_correct(outcome):
        return "full match"
    if response.item is not None:
        return "other"
    rest = (same(response.value(slot), outcome.target.value(slot)) for slot in SLOTS if slot != "item")
    return "null item, rest right" if all(rest) else "null item, rest wrong"


def fate_of(response: State | None, target: State, slot: Slot) -> SlotFate:
    """What became of one slot (paper C, figure 6B)."""
    if response is None:
        return "missing"
    if same(response.value(slot), target.value(slot)):
        return "match"
    return "null" if response.value(slot) is None else "other value"


def _tally(outcomes: Sequence[Outcome]) -> Tally:
    first = outcomes[0]
    groups = Counter(group_of(each) for each in outcomes)
    support = Counter(support_of(each) for each in outcomes)
    fates = {slot: Counter(fate_of(each.response, each.target, slot) for each in outcomes) for slot in SLOTS}
    return Tally(
        first.arm,
        first.variant,
        n=len(outcomes),
        families=len({each.family for each in outcomes}),
        correct=groups["full match"],
        missing=groups["missing"],
        sufficient=sum(is_sufficient(each) for each in outcomes),
        groups={group: groups[group] for group in GROUPS},
        slots={slot: {fate: fates[slot][fate] for fate in FATES} for slot in SLOTS},
        support={kind: support[kind] for kind in SUPPORTS},
        prompt_tokens=sum(each.prompt_tokens for each in outcomes),
        kept=sum(each.kept for each in outcomes),
        messages=sum(each.messages for each in outcomes),
    )
