"""The ledger: every call's tokens and cost, appended once and never changed; totals over the whole run id.

Costs are whole pico-dollars (1e-12 USD), so that sums are exact. The file is shared by processes; a killed run
finds what it has spent.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from memgauge.errors import InputError
from memgauge.llm.chat import ChatReply, Origin
from memgauge.llm.database import WAIT_SECONDS, Database
from memgauge.llm.prices import PICO, PriceRow

By = Literal["run", "role", "cell", "model", "subject"]
_BY = ("run", "role", "cell", "model", "subject")
_CURE = "move it elsewhere to begin a new one; a limit of --max-usd then no longer counts what was spent before"
_COLUMNS = (
    "run TEXT, time TEXT, role TEXT, cell TEXT, subject TEXT, model TEXT, origin TEXT, status TEXT,"
    " input INTEGER, cached INTEGER, output INTEGER, reasoning INTEGER, estimated INTEGER,"
    " price TEXT, cost INTEGER, saved INTEGER"
)
_SCHEMA = (
    f"CREATE TABLE calls (id INTEGER PRIMARY KEY AUTOINCREMENT, {_COLUMNS})",
    "CREATE INDEX calls_of_run ON calls (run, id)",
    "CREATE TRIGGER no_change BEFORE UPDATE ON calls BEGIN SELECT RAISE(ABORT, 'the ledger is only added to'); END",
    "CREATE TRIGGER no_delete BEFORE DELETE ON calls BEGIN SELECT RAISE(ABORT, 'the ledger is only added to'); END",
)
_SUMS = (
    "sum(origin = 'model'), sum(origin <> 'model'), sum(input * paid), sum(cached * paid), sum(output * paid),"
    " sum(reasoning * paid), sum(estimated * paid), sum(cost), sum(saved), sum(paid AND cost IS NULL)"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One reply on the ledger. `cell` is a DVC stage instance, `subject` a history or question id or empty.

    Tokens as in ChatReply. `cost` and `saved` in pico-dollars, None where the price is unknown; a reply from a
    store or a tape costs 0 and saves what it would have cost.
    """

    run: str
    time: datetime
    role: str
    cell: str
    subject: str
    model: str
    origin: Origin
    status: str
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    estimated: bool
    price: PriceRow | None
    cost: int | None
    saved: int | None


@dataclass(frozen=True, slots=True)
class Total:
    """A sum of lines: `paid` calls with their tokens, calls `from_store`, pico-dollars.

    `unpriced` paid calls have no known price: with any, the cost is only a lower bound.
    """

    paid: int = 0
    from_store: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: int = 0
    cost: int = 0
    saved: int = 0
    unpriced: int = 0


def make_line(
    reply: ChatReply,
    price: PriceRow | None,
    *,
    run: str,
    time: datetime,
    role: str,
    cell: str,
    subject: str,
    model: str,
) -> Line:
    """The line of a reply; a failed call costs the tokens that its provider reported."""
    amount = None
    if price is not None:
        amount = price.cost(reply.input_tokens, reply.cached_input_tokens, reply.output_tokens)
    paid = reply.origin == "model"
    return Line(
        run,
        time,
        role,
        cell,
        subject,
        model,
        reply.origin,
        reply.status,
        reply.input_tokens,
        reply.cached_input_tokens,
        reply.output_tokens,
        reply.reasoning_tokens,
        not reply.measured,
        price,
        cost=amount if paid else 0,
        saved=0 if paid else amount,
    )


def was_sent(reply: ChatReply) -> bool:
    """Whether a reply's request ever left: one refused for its length did not, one cut by its server did."""
    return reply.status != "context_truncated" or reply.output_tokens > 0


def usd(amount: int, at_least: bool = False) -> str:
    """Pico-dollars as text, rounded to a hundredth of a cent.

    >>> usd(1_234_560_000), usd(2_500_000_000_000, at_least=True), usd(3)
    ('0.0012 USD', 'at least 2.5000 USD', 'under 0.0001 USD')
    """
    text = f"{Decimal(amount) / PICO:.4f} USD"
    if 0 < amount < PICO // 10_000:
        text = "under 0.0001 USD"
    return f"at least {text}" if at_least else text


@dataclass(slots=True, eq=False)
class Ledger:
    """One file of lines. Errors: InputError for every fault of the file."""

    file: Path
    wait_seconds: float = WAIT_SECONDS
    _database: Database = field(init=False, repr=False)
    _spent: dict[str, tuple[int, int, int]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._database = Database(self.file, "ledger", _CURE, 0x6D67_0101, _SCHEMA, self.wait_seconds)

    def __reduce__(self) -> tuple[type["Ledger"], tuple[Path, float]]:
        return Ledger, (self.file, self.wait_seconds)  # a worker opens the file itself

    def add(self, lines: Sequence[Line]) -> None:
        """Append lines, all or none, and commit them."""
        marks = ",".join("?" * len(_COLUMNS.split(",")))
        with self._database.transaction() as connection:
            connection.executemany(f"INSERT INTO calls VALUES (NULL, {marks})", [_row(line) for line in lines])

    def spent(self, run: str) -> tuple[int, int]:
        """Pico-dollars of a whole run id, by all its processes so far, and its calls without a known price."""
        last, cost, unpriced = self._spent.get(run, (0, 0, 0))
        query = "SELECT max(id), sum(cost), sum(cost IS NULL) FROM calls WHERE run = ? AND id > ?"  # only what is new
        with self._database.transaction(write=False) as connection:
            newest, more, unknown = connection.execute(query, (run, last)).fetchone()
        if newest is not None:
            last, cost, unpriced = newest, cost + (more or 0), unpriced + unknown
            self._spent[run] = last, cost, unpriced
        return cost, unpriced

    def totals(self, by: Iterable[By], run: str | None = None) -> dict[tuple[str, ...], Total]:
        """Sums by the named columns, in order of their values; over one run id, or over all.

        Without names one sum, under (). Raises InputError for a column that is not one of `By`.
        """
        names = list(by)
        if not set(names) <= set(_BY):
            raise InputError(f"cannot sum by {names}; choose from {', '.join(_BY)}")
        columns = ", ".join(names) or "''"
        where, values = ("WHERE run = ?", (run,)) if run is not None else ("", ())
        source = f"(SELECT *, origin = 'model' AS paid FROM calls {where})"
        query = f"SELECT {_SUMS}, {columns} FROM {source} GROUP BY {columns} ORDER BY {columns}"
        with self._database.transaction(write=False) as connection:
            rows = connection.execute(query, values).fetchall()
        width = len(Total.__dataclass_fields__)
        found = {tuple(row[width:]) if names else (): Total(*(value or 0 for value in row[:width])) for row in rows}
        return found if found or names else {(): Total()}


def _row(line: Line) -> tuple[Any, ...]:
    """In the order of the columns."""
    return (
        line.run,
        line.time.isoformat(timespec="seconds"),
        line.role,
        line.cell,
        line.subject,
        line.model,
        line.origin,
        line.status,
        line.input_tokens,
        line.cached_input_tokens,
        line.output_tokens,
        line.reasoning_tokens,
        line.estimated,
        None if line.price is None else _price_text(line.price),
        line.cost,
        line.saved,
    )


def _price_text(price: PriceRow) -> str:
    cached = None if price.cached_input is None else str(price.cached_input)
    row = {"model": price.model, "input": str(price.input), "cached_input": cached, "output": str(price.output)}
    return json.dumps(row)
