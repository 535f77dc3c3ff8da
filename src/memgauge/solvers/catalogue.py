"""The solvers a role can name, and how a role's options make one; what a role does not name is not loaded."""

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import msgspec

from memgauge.errors import InputError, unknown_name
from memgauge.llm.chat import ChatModel
from memgauge.tasks.base import Solver
from memgauge.text.tokens import count_tokens

# The encoder is `memory.base.Encoder`; that layer is above this one, so it is passed on without its type.
EncoderMaker = Callable[[], Any]
# Given a chat model, its name and the row of the price table it is paid by (None: nothing, it runs here).
Around = Callable[[ChatModel, str, str | None], ChatModel]

DECODING = ("temperature", "seed")
NOT_PARAMETERS = ("count_tokens", "adaptations", "pace", "constrain", "folder")  # arguments that no YAML can give
NAMES = ("model", "endpoint", "price_as", "adapter")  # options that hold a text, or null for none
CHARACTERS_PER_TOKEN = 4


def bare(model: ChatModel, name: str, price: str | None) -> ChatModel:
    """The `around` of a caller that keeps and counts nothing."""
    return model


def make_solver(role: Mapping[str, object], encoder: EncoderMaker, around: Around = bare) -> Solver:
    """The solver of a role such as `{"solver": "language_model", "model": "models/smollm2"}`.

    `encoder` is called only by solvers that use one, `around` only for those with a chat model, which it wraps.
    Raises InputError for an unknown solver, an unknown option or a value of the wrong kind.
    """
    options = dict(role)
    name = options.pop("solver", None)
    maker = MAKERS.get(str(name))
    if maker is None:
        raise unknown_name("solver", name, sorted(MAKERS))
    return maker(options, encoder, around)


def _extractive(options: dict[str, Any], encoder: EncoderMaker, around: Around) -> Solver:
    kind = _load("memgauge.solvers.extractive.solver:ExtractiveSolver")
    solver: Solver = _make(kind, (encoder(),), options)
    return solver


def _language_model(options: dict[str, Any], encoder: EncoderMaker, around: Around) -> Solver:
    """A model behind `endpoint`, else one in this process from the folder `model`, with an `adapter` if named."""
    for option in NAMES:
        _check(option, options.get(option), str | None)
    decoding = {name: options.pop(name) for name in DECODING if name in options}
    name, endpoint, price = options.pop("model", None), options.pop("endpoint", None), options.pop("price_as", None)
    if not name:
        raise InputError("a language_model role names no model; give it `model: FOLDER` (or NAME) in params.yaml")
    if endpoint:
        remote = _load("memgauge.llm.remote:RemoteChatModel")
        model = _make(remote, (name, endpoint), options, count_tokens=about_tokens)
        price = price or name
    else:
        if adapter := options.get("adapter"):
            options["adapter"] = Path(adapter)
        model = _make(_load("memgauge.llm.local:LocalChatModel"), (Path(name),), options)
    solver_kind = _load("memgauge.solvers.language_model:LanguageModelSolver")
    solver: Solver = _make(solver_kind, (around(model, name, price),), decoding)
    return solver


def about_tokens(text: str) -> int:
    """Tokens that any model's vocabulary has about as many of: a prompt of which far fewer were read was cut.

    cl100k_base counts English as other vocabularies do, but other scripts up to three times too high; there a
    token for four characters is a count that none falls much below.
    """
    return min(count_tokens(text), -(-len(text) // CHARACTERS_PER_TOKEN))


def _load(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def _make(kind: Any, given: tuple[object, ...], options: dict[str, Any], **more: object) -> Any:
    """`kind(*given, **options, **more)`, or an InputError that names what fits; open options check themselves."""
    parameters = list(signature(kind).parameters.values())[len(given) :]
    is_open = any(each.kind is each.VAR_KEYWORD for each in parameters)
    choices = [each.name for each in parameters if each.name not in NOT_PARAMETERS]
    for option in options:
        if not is_open and option not in choices:
            raise unknown_name(f"option of {kind.__name__}", option, choices)
        if not (is_open or isinstance(options[option], Path)):
            _check(option, options[option], signature(kind).parameters[option].annotation)
    return kind(*given, **options, **more)


def _check(option: str, value: object, hint: Any) -> None:
    try:
        msgspec.convert(value, hint)
    except msgspec.ValidationError as error:
        rule = str(error)
        raise InputError(f"{option} is {value!r}; {rule[0].lower()}{rule[1:]}; correct it") from error


MAKERS: dict[str, Callable[[dict[str, Any], EncoderMaker, Around], Solver]] = {
    "extractive": _extractive,
    "language_model": _language_model,
}
