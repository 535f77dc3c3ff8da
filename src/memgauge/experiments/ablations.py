"""One system with parts taken out or weights changed, beside the whole system and one reference system."""

from collections.abc import Mapping, Sequence

from memgauge.errors import InputError
from memgauge.protocol.variants import Kept, Variant

FULL = "full"


def ablation_variants(
    system: str,
    arms: Mapping[str, Mapping[str, object]],
    reference: str,
    options: Mapping[str, Mapping[str, object]],
    write_budget_tokens: int,
) -> list[Variant]:
    """The whole system under the name "full", its arms in order, and the reference under its own name.

    `options` are the systems' own; an arm's options replace those of its system. Raises InputError for an arm
    that is named like the whole system or the reference.

    >>> [each.options for each in ablation_variants("a", {"no b": {"b": 0}}, "c", {"a": {"b": 1}, "c": {}}, 9)]
    [{'b': 1}, {'b': 0}, {}]
    """
    for name in (FULL, reference):
        if name in arms:
            raise InputError(f"an arm is named {name!r}, as the system it is compared with; rename the arm")
    whole = dict(options[system])
    return [
        Variant(FULL, system, whole, write_budget_tokens),
        *(Variant(name, system, {**whole, **changed}, write_budget_tokens) for name, changed in arms.items()),
        Variant(reference, reference, dict(options[reference]), write_budget_tokens),
    ]


def changed_stores(kept: Sequence[Kept]) -> dict[str, tuple[int, int]]:
    """By arm, how many histories have another store than under the first of `kept`, and how many there are.

    An arm that changes no store says nothing about its part: at that budget the part decides nothing.
    """
    first, *others = kept
    found = {}
    for each in others:
        changed = sum(store.entries != first.stores[key].entries for key, store in each.stores.items())
        found[each.name] = (changed, len(each.stores))
    return found
