"""The baseline card: every memory system's hyperparameters with values and sources, and what it departs from."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from inspect import cleandoc
from typing import Any

from memgauge.memory.catalogue import make_system
from memgauge.report.markdown import markdown_table

PREAMBLE = """\
# Baseline card

Every memory system of this run: each hyperparameter, its value here, its default, and where the default comes from
(a paper, its released code, or ours); then the system's own account of its source and of what it does otherwise."""


def baseline_card(systems: Sequence[str], options: Mapping[str, Mapping[str, Any]]) -> str:
    """The card of `systems` under their `options` (memory.SYSTEM of params.yaml)."""
    made = [make_system(name, options[name]) for name in systems]
    rows = [row for system in made for row in _rows(system)]
    table = markdown_table(["system", "hyperparameter", "here", "default", "source of the default"], rows)
    accounts = [f"## {system.name}\n\n{_account(system)}" for system in made]
    return "\n\n".join([PREAMBLE, table, *accounts]) + "\n"


def _account(system: Any) -> str:
    """The docstring of the system's module."""
    return cleandoc(sys.modules[type(system).__module__].__doc__ or "")


def _rows(system: Any) -> list[list[str]]:
    """A row a hyperparameter; one row for a system that has none."""
    kind = type(system)
    found = [
        [kind.name, field.name, str(getattr(system, field.name)), str(field.default), kind.card[field.name]]
        for field in fields(kind)
    ]
    return found or [[kind.name, "(none beyond the write budget)", "", "", ""]]
