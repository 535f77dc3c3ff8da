"""The write budget varied under one read budget (paper A, "Budget Sensitivity")."""

from collections.abc import Mapping, Sequence

from memgauge.errors import InputError
from memgauge.protocol.variants import Variant


def sweep_variants(
    systems: Sequence[str], budgets: Sequence[int], options: Mapping[str, Mapping[str, object]]
) -> list[Variant]:
    """One variant a system and write budget (tokens), budgets ascending, each named by `arm_name`.

    Raises InputError for a budget that occurs twice.
    """
    if len(set(budgets)) < len(budgets):
        raise InputError(f"the budgets to sweep are {list(budgets)}; each must occur once")
    return [
        Variant(arm_name(system, budget), system, options[system], budget)
        for budget in sorted(budgets)
        for system in systems
    ]


def arm_name(system: str, budget_tokens: int) -> str:
    """The name of a system at a budget.

    >>> arm_name("summary", 2000)
    'summary at 2000'
    """
    return f"{system} at {budget_tokens}"
