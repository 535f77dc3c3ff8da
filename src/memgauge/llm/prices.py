"""What tokens cost: a table of prices per model, exact names only, sums in whole pico-dollars (1e-12 USD)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from memgauge.errors import InputError

UNIT = "USD per 1M tokens"
PICO = 10**12  # pico-dollars in a dollar: a price with six decimals is a whole number of them per token
_DATED = re.compile(r"(?P<base>.+)-(?P<year>20\d\d)(?P<dash>-?)(?P<month>\d\d)(?P=dash)(?P<day>\d\d)", re.ASCII)
_MOST = 1_000_000
_FIELDS = ("input", "output", "cached_input")


@dataclass(frozen=True, slots=True)
class PriceRow:
    """One model's prices in USD per 1,000,000 tokens; without `cached_input`, cached tokens cost as others do."""

    model: str
    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None

    def cost(self, input_tokens: int, cached_input_tokens: int, output_tokens: int) -> int:
        """Pico-dollars of one call, exact. Cached tokens are part of the input, reasoning part of the output.

        >>> PriceRow("m", Decimal("0.15"), Decimal("0.6"), Decimal("0.075")).cost(1000, 400, 10)
        126000000
        """
        cached = min(cached_input_tokens, input_tokens)  # a provider may report more than it counted as input
        cached_price = self.input if self.cached_input is None else self.cached_input
        usd = (input_tokens - cached) * self.input + cached * cached_price + output_tokens * self.output
        return int(usd * (PICO // 1_000_000))


FREE = PriceRow("in this process", Decimal(0), Decimal(0))


def find_price(rows: Mapping[str, PriceRow], model: str) -> PriceRow | None:
    """The row of a model by its exact name, or of a dated snapshot by its exact base name; else None: unknown.

    >>> rows = {"gpt-4o": PriceRow("gpt-4o", Decimal("2.5"), Decimal(10))}
    >>> find_price(rows, "gpt-4o-2024-08-06") == rows["gpt-4o"], find_price(rows, "gpt-4o-mini-2024-07-18")
    (True, None)
    """
    if model in rows:
        return rows[model]
    dated = _DATED.fullmatch(model)
    if dated is None or dated["base"] not in rows:
        return None
    try:
        date(int(dated["year"]), int(dated["month"]), int(dated["day"]))
    except ValueError:
        return None
    return rows[dated["base"]]


def check_prices(tree: Any) -> dict[str, PriceRow]:
    """The rows of `prices` in params.yaml by model; raises InputError naming key, value and rule.

    >>> check_prices({"unit": "USD per 1K", "models": {}})
    Traceback (most recent call last):
    memgauge.errors.InputError: params.yaml: prices.unit is 'USD per 1K'; it must be 'USD per 1M tokens': convert it
    """
    place = "params.yaml: prices"
    table = _mapping(place, tree, ("unit", "models"), ())
    if table["unit"] != UNIT:
        raise InputError(f"{place}.unit is {table['unit']!r}; it must be {UNIT!r}: convert it")
    if not isinstance(table["models"], Mapping):
        raise InputError(f"{place}.models is {table['models']!r}; it must be a mapping from model names to prices")
    return {model: _row(f"{place}.models", model, row) for model, row in table["models"].items()}


def _row(models: str, model: Any, tree: Any) -> PriceRow:
    if not isinstance(model, str):
        raise InputError(f"{models} names a model {model!r}; it must be text: put it in quotes")
    place = f"{models}.{model}"
    row = _mapping(place, tree, _FIELDS[:2], _FIELDS[2:])
    found = {name: _price(f"{place}.{name}", value) for name, value in row.items()}
    if found.get("cached_input", found["input"]) > found["input"]:
        raise InputError(
            f"{place}.cached_input is {found['cached_input']}; it must not exceed input ({found['input']})"
        )
    return PriceRow(model, **found)


def _mapping(place: str, tree: Any, needed: tuple[str, ...], optional: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(tree, Mapping):
        raise InputError(f"{place} is {tree!r}; it must be a mapping with {', '.join(needed)}")
    for name in needed:
        if name not in tree:
            raise InputError(f"{place} has no {name}; add it")
    for name in tree:
        if name not in (*needed, *optional):
            raise InputError(f"{place} has an unknown key {name!r}; choose from {', '.join((*needed, *optional))}")
    return tree


def _price(place: str, value: Any) -> Decimal:
    """A price as written: the shortest decimal of a float, so that 0.15 is 0.15."""
    rule = f"{place} is {value!r}; it must be a number of {UNIT}, from 0 to {_MOST:,}, with at most six decimals"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(rule)
    price = Decimal(str(value))
    if not price.is_finite() or not 0 <= price <= _MOST or price * 1_000_000 % 1:
        raise InputError(rule)
    return price
