"""How far other weights move a system (paper A, "Utility weight sensitivity")."""

from dataclasses import dataclass

from memgauge.experiments.significance import Experiment
from memgauge.records import PRIMARY


@dataclass(frozen=True, slots=True)
class Spread:
    """Lowest and highest CSM of the whole system and its arms, the arm that costs most, and its change of CSM.

    `below_reference` names arms whose CSM is below the reference system's.
    """

    low: float
    high: float
    most_harmful: str | None
    largest_drop: float | None
    below_reference: tuple[str, ...]


def spread(found: Experiment, reference: str) -> Spread | None:
    """The spread over all arms but the reference; None when no arm has the primary metric.

    Ties go to the first arm. `most_harmful` is None when no arm lies below the base.
    """
    stored = {arm.name: arm.cell.metrics[PRIMARY].gaps.csm.value for arm in found.arms if PRIMARY in arm.cell.metrics}
    values = {name: value for name, value in stored.items() if value is not None}
    compared = values.pop(reference, None)
    drops = {
        arm.name: arm.change.csm.value
        for arm in found.arms
        if arm.name in values and arm.change is not None and arm.change.csm.value is not None
    }
    if not values:
        return None
    worst = min(drops, key=lambda name: drops[name], default=None)
    harmful = worst if worst is not None and drops[worst] < 0 else None
    return Spread(
        low=min(values.values()),
        high=max(values.values()),
        most_harmful=harmful,
        largest_drop=None if harmful is None else drops[harmful],
        below_reference=_below(values, compared),
    )


def _below(values: dict[str, float], compared: float | None) -> tuple[str, ...]:
    return tuple(name for name, value in values.items() if compared is not None and value < compared)
