"""A group of params.yaml as the dataclass that takes it."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

from memgauge.errors import InputError, unknown_name

Options = TypeVar("Options")


def options_as(kind: type[Options], what: str, given: Mapping[str, Any], beside: Sequence[str] = ()) -> Options:
    """`kind(**given)`, a mapping for a field that is a dataclass itself made into that one, a list into a tuple.

    Raises InputError for a name that it has no field for, and as `kind` does. `what` says in the error whose
    options they are, `beside` which further ones its group may hold.
    """
    known = [each.name for each in fields(kind)]  # type: ignore[arg-type]  # no type says "a dataclass"
    kinds = get_type_hints(kind)
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise unknown_name(what, name, [*beside, *known])
        if is_dataclass(kinds[name]) and isinstance(kinds[name], type):
            if not isinstance(value, Mapping):
                raise InputError(f"{what} {name} is {value!r}; it must be a mapping of its own options")
            value = options_as(kinds[name], f"{what} {name}:", value)
        values[name] = tuple(value) if isinstance(value, list) else value
    return kind(**values)
