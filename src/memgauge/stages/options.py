"""A group of params.yaml as the dataclass that takes it."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from memgauge.errors import unknown_name

Options = TypeVar("Options")


def options_as(kind: type[Options], what: str, given: Mapping[str, Any], beside: Sequence[str] = ()) -> Options:
    """`kind(**given)`; raises InputError for a name that it has no field for, and as `kind` does.

    `what` says in the error whose options they are, `beside` which further ones its group may hold.
    """
    known = [each.name for each in fields(kind)]  # type: ignore[arg-type]  # no type says "a dataclass"
    for name in given:
        if name not in known:
            raise unknown_name(what, name, [*beside, *known])
    return kind(**given)
