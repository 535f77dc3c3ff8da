"""Prices: exact names, exact sums, cached and reasoning tokens counted once, every wrong table one error."""

from decimal import Decimal
from typing import Any

import pytest

from memgauge.errors import InputError
from memgauge.llm.prices import PICO, UNIT, PriceRow, check_prices, find_price

TABLE = {
    "unit": "USD per 1M tokens",
    "models": {
        "gpt-4o": {"input": 2.5, "cached_input": 1.25, "output": 10},
        "gpt-4o-mini": {"input": 0.15, "cached_input": 0.075, "output": 0.6},
        "gpt-5": {"input": 1.25, "output": 10.0},
    },
}


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("gpt-4o-mini", "gpt-4o-mini"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("gpt-4o-mini-20240718", "gpt-4o-mini"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-5.6-x", None),
        ("gpt-5-mini", None),
        ("gpt-4o-mini-0718", None),
        ("gpt-4o-mini-2024-0718", None),
        ("gpt-4o-mini-2024-13-18", None),
        ("gpt-4o-mini-20240230", None),
        ("gpt-4o-mini-12345678", None),
        ("gpt-4o-mini-2024-07-18-preview", None),
        ("GPT-4o", None),
        ("openai/gpt-4o", None),
        ("gpt", None),
        ("", None),
    ],
)
def test_exact_name_or_dated_snapshot_of_one(name: str, row: str | None) -> None:
    rows = check_prices(TABLE)
    assert find_price(rows, name) == (None if row is None else rows[row])


def test_snapshot_with_a_row_of_its_own_takes_that() -> None:
    rows = check_prices(TABLE) | {"gpt-4o-2024-05-13": PriceRow("gpt-4o-2024-05-13", Decimal(5), Decimal(15))}
    found = find_price(rows, "gpt-4o-2024-05-13")
    assert found is not None
    assert found.input == 5


@pytest.mark.parametrize(
    ("model", "tokens", "usd"),
    [
        ("gpt-4o-mini", (1_000_000, 0, 0), "0.15"),
        ("gpt-4o-mini", (1_000_000, 1_000_000, 1_000_000), "0.675"),
        ("gpt-4o-mini", (1, 0, 1), "0.00000075"),
        ("gpt-4o-mini", (3, 1, 0), "0.000000375"),
        ("gpt-5", (1_000_000, 600_000, 0), "1.25"),  # no price of its own: full price
        ("gpt-5", (100, 500, 0), "0.000125"),  # more cached than read
        ("gpt-5", (0, 0, 0), "0"),
    ],
)
def test_cost_by_hand(model: str, tokens: tuple[int, int, int], usd: str) -> None:
    assert check_prices(TABLE)[model].cost(*tokens) == Decimal(usd) * PICO


def test_a_million_small_sums_are_exact() -> None:
    row = check_prices(TABLE)["gpt-4o-mini"]
    assert sum(row.cost(7, 3, 1) for _ in range(1000)) == row.cost(7000, 3000, 1000) == 1425 * PICO // 1_000_000


ROW: dict[str, Any] = {"input": 1, "output": 2}


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (None, "prices is None"),
        ({"models": {}}, "prices has no unit"),
        ({"unit": UNIT}, "prices has no models"),
        ({"unit": UNIT, "models": []}, r"prices\.models is \[\]"),
        ({"unit": UNIT, "models": {}, "currency": "EUR"}, "unknown key 'currency'"),
        ({"unit": "USD per 1K tokens", "models": {}}, "must be 'USD per 1M tokens': convert"),
        ({"unit": "usd per 1m tokens", "models": {}}, "must be 'USD per 1M tokens'"),
        ({"unit": UNIT, "models": {4.1: ROW}}, r"prices\.models names a model 4\.1; it must be text"),
        ({"unit": UNIT, "models": {"m": 0.5}}, r"prices\.models\.m is 0\.5"),
        ({"unit": UNIT, "models": {"m": {"input": 1}}}, r"prices\.models\.m has no output"),
        (
            {"unit": UNIT, "models": {"m": {**ROW, "cached": 1}}},
            "unknown key 'cached'; choose from input, output, cach",
        ),
        ({"unit": UNIT, "models": {"m": {**ROW, "cached_input": 1.5}}}, r"cached_input is 1\.5; it must not exceed"),
        *(
            (
                {"unit": UNIT, "models": {"m": {**ROW, "output": value}}},
                rf"models\.m\.output is {text}; it must be a num",
            )
            for value, text in [
                (-1, "-1"),
                (float("nan"), "nan"),
                (float("inf"), "inf"),
                (1e30, r"1e\+30"),
                (1e-9, "1e-09"),
                ("0.5", "'0.5'"),
                (True, "True"),
                (None, "None"),
            ]
        ),
    ],
)
def test_wrong_table_names_key_value_and_rule(tree: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_prices(tree)
