"""The solvers a role can name, and how a role's options make one; what a role does not name is not loaded."""

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from memgauge.errors import InputError, unknown_name
from memgauge.tasks.base import Solver

# The encoder is `memory.base.Encoder`; that layer is above this one, so it is passed on without its type.
EncoderMaker = Callable[[], Any]


def make_solver(role: Mapping[str, object], encoder: EncoderMaker) -> Solver:
    """The solver of a role such as `{"solver": "language_model", "model": "models/smollm2"}`.

    `encoder` is called only by solvers that use one. Raises InputError for an unknown solver or option.
    """
    options = dict(role)
    name = options.pop("solver", None)
    maker = MAKERS.get(str(name))
    if maker is None:
        raise unknown_name("solver", name, sorted(MAKERS))
    return maker(options, encoder)


def _extractive(options: dict[str, Any], encoder: EncoderMaker) -> Solver:
    kind = _load("memgauge.solvers.extractive.solver:ExtractiveSolver")
    solver: Solver = _make(kind, encoder(), options)
    return solver


def _language_model(options: dict[str, Any], encoder: EncoderMaker) -> Solver:
    folder = options.pop("model", None)
    if not folder:
        raise InputError("a language_model role names no model; give it `model: FOLDER` in params.yaml")
    model = _make(_load("memgauge.llm.local:LocalChatModel"), Path(str(folder)), options)
    solver: Solver = _load("memgauge.solvers.language_model:LanguageModelSolver")(model)
    return solver


def _load(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def _make(kind: Any, first: object, options: dict[str, Any]) -> Any:
    """`kind(first, **options)`, or an InputError that names the options that fit; open options check themselves."""
    _, *parameters = signature(kind).parameters.values()
    is_open = any(each.kind is each.VAR_KEYWORD for each in parameters)
    choices = [each.name for each in parameters]
    for option in options:
        if not is_open and option not in choices:
            raise unknown_name(f"option of {kind.__name__}", option, choices)
    return kind(first, **options)


MAKERS: dict[str, Callable[[dict[str, Any], EncoderMaker], Solver]] = {
    "extractive": _extractive,
    "language_model": _language_model,
}
