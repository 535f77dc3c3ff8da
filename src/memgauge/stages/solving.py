"""Makes the solver of a role for one stage instance, on the run's account: replies kept, calls counted, money limited.

Where calls are kept, what they cost and how they are replayed (`llm` and `prices` of params.yaml, MEMGAUGE_RUN,
MEMGAUGE_MAX_USD) changes no output, so no stage declares it and none runs again for it.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from memgauge.errors import InputError, unknown_name
from memgauge.llm.chat import ChatModel
from memgauge.llm.ledger import Ledger
from memgauge.llm.metered import Account, account_for
from memgauge.llm.prices import FREE, PriceRow, check_prices, find_price
from memgauge.llm.remote import RemoteChatModel
from memgauge.llm.replay import TapeStore
from memgauge.llm.store import ResponseStore
from memgauge.params import load
from memgauge.solvers.catalogue import Around, bare, make_solver
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.layout import ledger_file, replies_file, tape_file
from memgauge.tasks.base import Solver

# What wraps chat models in place of the run's account, when a walk only notes what would be asked.
INSTEAD: ContextVar["Callable[..., ChatModel] | None"] = ContextVar("instead", default=None)
SUBJECT: ContextVar[str] = ContextVar("subject", default="")  # the history a stage works on, for the ledger
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its id, the stage instance at work, where its replies come from, what it may spend."""

    id: str
    cell: str
    replies: ResponseStore | TapeStore
    ledger: Ledger
    prices: Mapping[str, Any]
    max_usd: Decimal | None

    def around(self, model: ChatModel, name: str, price: str | None, *, role: str) -> ChatModel:
        """A role's model on this run's account."""
        if isinstance(model, RemoteChatModel):
            model = replace(model, adaptations=self.replies)
        row = price_row(self.prices, name, price)
        account = Account(
            self.ledger, self.id, role, self.cell, name, row, _now, self.max_usd, lambda request: SUBJECT.get()
        )
        return account_for(model, self.replies, account, "replay" if isinstance(self.replies, TapeStore) else "live")


def by_subject(items: Iterable[Item], subject: Callable[[Item], str]) -> Iterator[list[Item]]:
    """Neighbours of one subject together, in order; while they are worked on, it stands on the ledger's lines.

    >>> [(some, SUBJECT.get()) for some in by_subject(["a1", "a2", "b1"], lambda item: item[0])], SUBJECT.get()
    ([(['a1', 'a2'], 'a'), (['b1'], 'b')], '')
    """
    for name, some in groupby(items, subject):
        SUBJECT.set(name)
        yield list(some)
    SUBJECT.set("")


def role_solver(role: str, options: Mapping[str, object]) -> Solver:
    """The solver of `role` ("writer", "reader.smollm2"); a role without a language model touches no store.

    Raises InputError naming the role for options that make no solver, before the run's files are touched.
    """
    solver = _make(role, options)
    if options.get("solver") != "language_model":
        return solver
    around = INSTEAD.get() or current_run().around
    return _make(role, options, partial(around, role=role))


def _make(role: str, options: Mapping[str, Any], around: Around = bare) -> Solver:
    try:
        if not isinstance(options.get("ask") or {}, Mapping):
            raise InputError(f"ask is {options['ask']!r}; it must be a mapping with histories, per_history or both")
        return make_solver(solver_options(options), sentence_encoder, around)
    except InputError as error:
        raise InputError(f"params.yaml: role.{role}: {error}") from error


def price_row(prices: Mapping[str, PriceRow], model: str, price: str | None) -> PriceRow | None:
    """What a model's tokens cost, None if that is unknown; InputError for a `price_as` that has no row."""
    row = FREE if price is None else find_price(prices, price)
    if row is None and price != model:
        raise InputError(f"price_as of {model} is {price!r}, which prices.models does not have; add or correct it")
    return row


def solver_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """A role's options as its solver takes them: a reader's `ask` limits its questions (`stages.shared.asked`).

    >>> solver_options({"solver": "extractive", "ask": {"histories": 2}})
    {'solver': 'extractive'}
    """
    return {name: value for name, value in options.items() if name != "ask"}


def role_options(tree: Mapping[str, Any], role: str) -> dict[str, Any]:
    """The options of a role, or of a reader by its name; InputError for one that params.yaml does not have."""
    roles = {name: options for name, options in tree["role"].items() if name != "reader"}
    found = roles.get(role) or tree["role"]["reader"].get(role)
    if found is None:
        raise unknown_name("role", role, sorted([*roles, *tree["role"]["reader"]]))
    return dict(found)


def roles_in_use(tree: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Every role, the readers of the grid and those of the retention experiment, with their solvers' options."""
    return {name: solver_options(options) for name, options in _roles(tree).items()}


def _roles(tree: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    roles = {name: options for name, options in tree["role"].items() if name != "reader"}
    readers = dict.fromkeys([*tree["readers"], *tree["retention"]["readers"]])
    return roles | {f"reader.{name}": role_options(tree, name) for name in readers}


def check_roles(tree: Mapping[str, Any]) -> None:
    """Raises InputError, naming the role, for the first in use whose options make no solver; no model is loaded."""
    prices = check_prices(tree["prices"])
    for role, options in _roles(tree).items():
        if options.get("solver") != "extractive":  # that one loads its encoder
            _make(role, options, partial(_priced, prices))


def _priced(prices: Mapping[str, PriceRow], model: ChatModel, name: str, price: str | None) -> ChatModel:
    price_row(prices, name, price)
    return model


def solver_name(options: Mapping[str, Any]) -> str:
    """What tables call a solver: its model, with adapter and endpoint, or its kind.

    >>> solver_name({"solver": "language_model", "model": "models/smollm2", "adapter": "models/tuned"})
    'models/smollm2 + models/tuned'
    """
    if options.get("solver") != "language_model":
        return str(options.get("solver"))
    parts = [str(options.get("model"))]
    parts += [f"+ {options['adapter']}"] if options.get("adapter") else []
    parts += [f"at {options['endpoint']}"] if options.get("endpoint") else []
    return " ".join(parts)


@cache
def current_run() -> Run:
    """The run that this process belongs to: MEMGAUGE_RUN, else the experiment's name, else "workspace"."""
    tree = load(Path("params.yaml"))
    run, cell = run_id(), os.environ.get("DVC_STAGE", "by hand")
    replies, ledger = replies_of(tree.get("llm") or {}), Ledger(ledger_file())
    ledger.spent(run)  # a ledger that cannot be used is told before a call is paid
    if isinstance(replies, ResponseStore):
        replies.start_use(run, cell)
    return Run(run, cell, replies, ledger, check_prices(tree.get("prices")), max_usd())


def run_id() -> str:
    """Whose spending this is; an id lives on over resumed runs."""
    return os.environ.get("MEMGAUGE_RUN") or os.environ.get("DVC_EXP_NAME") or "workspace"


def max_usd() -> Decimal | None:
    """The run's limit of money; None without one. Raises InputError for what is no amount."""
    text = os.environ.get("MEMGAUGE_MAX_USD")
    if not text:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("nan")
    if not amount.is_finite() or amount < 0:
        raise InputError(f"MEMGAUGE_MAX_USD is {text!r}; it must be an amount in USD, such as 2.50")
    return amount


def replies_of(options: Mapping[str, Any]) -> ResponseStore | TapeStore:
    """Where replies come from, by `llm` of params.yaml."""
    if options.get("mode") != "replay":
        return ResponseStore(replies_file())
    if not options.get("tape"):
        raise InputError("llm.mode is replay but llm.tape names no tape; set llm.tape to one of data/tapes")
    return TapeStore(tape_file(str(options["tape"])))


def _now() -> datetime:
    return datetime.now(UTC)
