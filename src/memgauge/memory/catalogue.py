"""The memory systems by name, and how one is made from its parameters."""

from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from math import isfinite
from typing import Any, cast, get_type_hints

from memgauge.errors import InputError, unknown_name
from memgauge.memory.base import MemorySystem

# name of the system and of its file: its class. Resolved when asked for, so that one system imports no other.
SYSTEMS = {
    "verbatim": "memgauge.memory.verbatim:Verbatim",
    "extractive": "memgauge.memory.extractive:Extractive",
    "summary": "memgauge.memory.summary:Summary",
    "two_pass": "memgauge.memory.two_pass:TwoPass",
    "epc": "memgauge.memory.epc:Epc",
    "memwalker": "memgauge.memory.memwalker:Memwalker",
    "readagent": "memgauge.memory.readagent:Readagent",
    "memorybank": "memgauge.memory.memorybank:Memorybank",
    "lightmem": "memgauge.memory.lightmem:Lightmem",
    "memoryos": "memgauge.memory.memoryos:Memoryos",
    "memory_r1": "memgauge.memory.memory_r1:MemoryR1",
    "budgetmem": "memgauge.memory.budgetmem:Budgetmem",
    "memorycpt": "memgauge.memory.memorycpt:MemoryCpt",
}


def make_system(name: str, options: Mapping[str, object]) -> MemorySystem:
    """A memory system with the given hyperparameters; the rest keep their defaults.

    Raises InputError for an unknown name or option, and for a value of the wrong kind or below its least.

    >>> make_system("verbatim", {"passage_tokens": 100})
    Verbatim(passage_tokens=100)
    """
    if name not in SYSTEMS:
        raise unknown_name("memory system", name, list(SYSTEMS))
    module, _, attribute = SYSTEMS[name].partition(":")
    system: Any = getattr(import_module(module), attribute)

    kinds = get_type_hints(system)
    known = [field.name for field in fields(system)]
    for option, value in options.items():
        if option not in known:
            raise unknown_name(f"option of memory system {name}:", option, known or ["(it has none)"])
        _check(f"memory.{name}.{option}", value, kinds[option])
    return cast(MemorySystem, system(**options))


def _check(key: str, value: object, kind: type) -> None:
    """Counts are whole and at least 1, weights finite and at least 0."""
    if kind is int and (not isinstance(value, int) or isinstance(value, bool)):
        raise InputError(f"{key} is {value!r}; it must be a whole number")
    if kind is int and cast(int, value) < 1:
        raise InputError(f"{key} is {value!r}; it must be at least 1")
    if kind is float and not (_is_number(value) and isfinite(cast(float, value)) and cast(float, value) >= 0):
        raise InputError(f"{key} is {value!r}; it must be a finite number of at least 0")
    if kind in (str, bool) and not isinstance(value, kind):
        raise InputError(f"{key} is {value!r}; it must be of kind {kind.__name__}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
