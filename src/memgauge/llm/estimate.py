"""What a run would take before anything is sent: calls, tokens and USD of each stage cell, the store's replies free."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from memgauge.llm.chat import ChatModel, ChatRequest
from memgauge.llm.prices import PriceRow
from memgauge.llm.store import key

Count = Callable[[ChatRequest], int]


@dataclass(frozen=True, slots=True)
class Plan:
    """What one stage cell would ask one role's model; `keys` are those of the response store, one per request."""

    role: str
    cell: str
    requests: tuple[ChatRequest, ...]
    keys: tuple[str, ...]
    price: PriceRow | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """One cell's calls to be made and replies that the store holds; tokens of the calls only.

    Pico-dollars from the expected (`low`) to the most (`high`) output tokens, all input at full price; None where
    the price is unknown.
    """

    role: str
    cell: str
    calls: int
    from_store: int
    input_tokens: int
    expected_output_tokens: int
    most_output_tokens: int
    low: int | None
    high: int | None


def plan(role: str, cell: str, requests: Sequence[ChatRequest], model: ChatModel, price: PriceRow | None) -> Plan:
    """A plan with the keys that the model's payloads have in the response store."""
    keys = tuple(key(model.payload(request), request.sample) for request in requests)
    return Plan(role, cell, tuple(requests), keys, price)


def estimate(plans: Iterable[Plan], count_input: Count, expect_output: Count, known: Collection[str]) -> list[Estimate]:
    """One estimate for each plan, in order.

    `count_input` gives a request's input tokens, the chat template's included, `expect_output` the tokens a
    reply is expected to have. A call that is `known`, or planned before, counts 0.

    >>> request = ChatRequest(({"role": "user", "content": "Where?"},), max_new_tokens=16)
    >>> twice = Plan("reader", "answer@a", (request, request), ("k", "k"), None)
    >>> found = estimate([twice], lambda _: 9, lambda _: 4, known=())[0]
    >>> found.calls, found.from_store, found.input_tokens, found.expected_output_tokens, found.most_output_tokens
    (1, 1, 9, 4, 16)
    """
    seen = set(known)
    return [_estimate(one, count_input, expect_output, seen) for one in plans]


def _estimate(one: Plan, count_input: Count, expect_output: Count, seen: set[str]) -> Estimate:
    """One plan's estimate; adds its keys to `seen`."""
    asked = []
    for request, name in zip(one.requests, one.keys, strict=True):
        if name not in seen:
            seen.add(name)
            asked.append(request)
    inputs = sum(count_input(request) for request in asked)
    most = sum(request.max_new_tokens for request in asked)
    expected = sum(min(expect_output(request), request.max_new_tokens) for request in asked)
    low = None if one.price is None else one.price.cost(inputs, 0, expected)
    high = None if one.price is None else one.price.cost(inputs, 0, most)
    return Estimate(one.role, one.cell, len(asked), len(one.requests) - len(asked), inputs, expected, most, low, high)
