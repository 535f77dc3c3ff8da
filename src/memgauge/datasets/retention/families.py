"""The schedule that renderings of a family share: who sets or offers which slot when, which values are equal."""

from dataclasses import dataclass

from memgauge.datasets.retention.events import EventKind
from memgauge.datasets.synthetic.draws import Draws
from memgauge.tasks.track_state import SLOTS, Slot

VALUES = 8  # different values of a slot; equal numbers are equal values in every vocabulary
LATER = (6, 18)  # updates and offers after the three first assignments (paper C)
TRAILING = (3, 7)  # offers after the acceptance (paper C)
UPDATE_PERCENT = 50  # of the later events; the paper prints no share
MOST_MINUTES = 45  # between two messages


@dataclass(frozen=True, slots=True)
class Step:
    """One event before it has words; `number` says which of its slot's values it sets, offers or accepts."""

    kind: EventKind
    slot: Slot
    number: int


@dataclass(frozen=True, slots=True)
class Family:
    """An ordered schedule with one acceptance, of the item that step `offered` offers; `minutes` from its start."""

    number: int
    steps: tuple[Step, ...]
    offered: int
    minutes: tuple[int, ...]

    @property
    def accepted(self) -> int:
        """The step that accepts; the direct variant sets the value there instead."""
        return self.offered + 1


def draw_family(seed: int, number: int) -> Family:
    """Family `number` of a seed: three assignments, 6-18 updates and offers, offer, acceptance, 3-7 offers.

    An update changes its slot, and so does the acceptance: a reader that takes no notice of it is wrong.
    """
    draws = Draws(seed, "retention", "family", str(number))
    steps = [Step("assign", slot, draws.below(VALUES)) for slot in draws.several(SLOTS, len(SLOTS))]
    held = {step.slot: step.number for step in steps}
    for _ in range(draws.between(*LATER)):
        slot = draws.pick(SLOTS)
        if draws.chance(UPDATE_PERCENT):
            held[slot] = _another(draws, held[slot])
            steps.append(Step("update", slot, held[slot]))
        else:
            steps.append(Step("offer", slot, draws.below(VALUES)))
    offered, value = len(steps), _another(draws, held["item"])
    steps += [Step("offer", "item", value), Step("accept", "item", value)]
    steps += [Step("offer", draws.pick(SLOTS), draws.below(VALUES)) for _ in range(draws.between(*TRAILING))]
    return Family(number, tuple(steps), offered, _minutes(draws, len(steps)))


def _another(draws: Draws, number: int) -> int:
    """Any value but this one."""
    return (number + 1 + draws.below(VALUES - 1)) % VALUES


def _minutes(draws: Draws, count: int) -> tuple[int, ...]:
    passed = [0]
    for _ in range(count - 1):
        passed.append(passed[-1] + draws.between(1, MOST_MINUTES))
    return tuple(passed)
