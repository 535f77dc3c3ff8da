"""What tokens cost a question: tokens by role, times prices, a store's price spread over the questions it serves.

Amounts are exact fractions of a US dollar. None is an unknown amount: it stays unknown in every sum, never 0.
It knows nothing of systems, answers or scores.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from fractions import Fraction
from typing import Any, Literal, TypeVar

from memgauge.errors import InputError
from memgauge.llm.prices import PICO, PriceRow
from memgauge.records import Result, Usage
from memgauge.tasks.base import Solver, Task, solve_all

Output = TypeVar("Output")
Count = Callable[[str], int]
Usd = Fraction | None
Counted = Literal["calls", "as if"]  # tokens of real calls, or those of prompts that a model would have been sent
SCALE = 10_000  # paper B reports a question's cost as USD x 1e4, and QPC in that unit
_COUNT = re.compile(r"(?P<role>\w+?)_(?P<kind>tasks|calls|input_tokens|cached_input_tokens|output_tokens)")
_FIELDS = {"input_tokens": "input", "cached_input_tokens": "cached", "output_tokens": "output"}


@dataclass(frozen=True, slots=True)
class Tokens:
    """What one role took: tasks it was given, model calls, tokens. Cached input is part of the input.

    >>> Tokens(1, 1, 50, 0, 3) + Tokens(1, 1, 10, 5, 1)
    Tokens(tasks=2, calls=2, input=60, cached=5, output=4)
    """

    tasks: int = 0
    calls: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            self.tasks + other.tasks,
            self.calls + other.calls,
            self.input + other.input,
            self.cached + other.cached,
            self.output + other.output,
        )

    @property
    def unmetered(self) -> bool:
        """Whether work was done of which nothing was counted, so that its cost is unknown (and not 0)."""
        return self.tasks > 0 and not (self.calls or self.input or self.output)


ByRole = Mapping[str, Tokens]


@dataclass(frozen=True, slots=True)
class Billing:
    """Who does a role and which row of prices its tokens are billed by; `row` None is an unknown price.

    A model in this process, or a solver without a language model, is billed "as" the model of the row.
    """

    solver: str
    row: PriceRow | None
    counted: Counted = "calls"

    def text(self) -> str:
        """How tables say it.

        >>> from decimal import Decimal
        >>> Billing("smollm2", PriceRow("qwen2.5-7b", Decimal("0.04"), Decimal("0.1"))).text()
        'smollm2 as qwen2.5-7b'
        >>> Billing("gpt-4o", None).text()
        'gpt-4o, price unknown'
        """
        if self.row is None:
            return f"{self.solver}, price unknown"
        name = self.solver if self.row.model == self.solver else f"{self.solver} as {self.row.model}"
        return name if self.counted == "calls" else f"{name}, tokens as if asked"


def tokens_by_role(counts: Mapping[str, int]) -> dict[str, Tokens]:
    """The roles that a store's or a context's counts tell of (`memory.shared.count_result`), by name.

    >>> tokens_by_role({"writer_tasks": 2, "writer_calls": 2, "writer_input_tokens": 90, "sessions_total": 4})
    {'writer': Tokens(tasks=2, calls=2, input=90, cached=0, output=0)}
    """
    found: dict[str, Tokens] = {}
    for name, count in sorted(counts.items()):
        match = _COUNT.fullmatch(name)
        if match is not None:
            part = Tokens(**{_FIELDS.get(match["kind"], match["kind"]): count})
            found[match["role"]] = found.get(match["role"], Tokens()) + part
    return found


def usage_tokens(usage: Usage) -> Tokens:
    """The tokens of one task that was given to a solver."""
    return Tokens(1, usage.calls, usage.input_tokens, usage.cached_input_tokens, usage.output_tokens)


def as_if(task: Task[Output], reply: str, count: Count) -> Usage:
    """The usage of one call with the task's messages as prompt and `reply` as answer, by `count`'s tokenizer.

    What a chat template or a schema would add is not counted.
    """
    prompt = sum(count(message["content"]) for message in task.messages())
    return Usage(input_tokens=prompt, output_tokens=count(reply), calls=1, estimated=True)


@dataclass(frozen=True, slots=True)
class AsIfAsked:
    """A solver without a language model, each result with the usage that one would have been billed for.

    Results that carry calls of their own stay as they are. A result's text is its reply, or where that is empty
    its output: text as it stands, anything else as JSON.
    """

    solver: Solver
    count: Count

    def solve(self, tasks: Sequence[Task[Output]]) -> list[Result[Output]]:
        """The solver's results, in order."""
        found = solve_all(self.solver, tasks)
        return [self._metered(task, result) for task, result in zip(tasks, found, strict=True)]

    def _metered(self, task: Task[Output], result: Result[Output]) -> Result[Output]:
        if result.usage.calls:
            return result
        return replace(result, usage=as_if(task, result.reply or _text(result.output), self.count))


def cost(tokens: Tokens, row: PriceRow | None) -> Usd:
    """sum(p_in * T_in + p_cached * T_cached + p_out * T_out) in USD (paper B, equation 4); nothing costs nothing.

    >>> from decimal import Decimal
    >>> cost(Tokens(1, 1, 67, 0, 5), PriceRow("qwen3-14b", Decimal("0.1"), Decimal("0.24")))
    Fraction(79, 10000000)
    >>> cost(Tokens(input=1), None), cost(Tokens(tasks=1), None), cost(Tokens(), None)
    (None, None, Fraction(0, 1))
    """
    if tokens.unmetered:
        return None
    if not (tokens.input or tokens.output):
        return Fraction(0)
    return None if row is None else Fraction(row.cost(tokens.input, tokens.cached, tokens.output), PICO)


def cost_of(spent: ByRole, billing: Mapping[str, Billing]) -> Usd:
    """The cost of several roles; InputError for one that nobody says how to bill."""
    return total(cost(tokens, _billed(role, billing).row) for role, tokens in spent.items())


def add_roles(parts: Iterable[ByRole]) -> dict[str, Tokens]:
    """Tokens by role, added up; roles in order of first appearance."""
    found: dict[str, Tokens] = {}
    for part in parts:
        for role, tokens in part.items():
            found[role] = found.get(role, Tokens()) + tokens
    return found


def total(amounts: Iterable[Usd]) -> Usd:
    """A sum, unknown as soon as one amount is.

    >>> total([Fraction(1, 2), Fraction(1, 2)]), total([Fraction(1), None]), total([])
    (Fraction(1, 1), None, Fraction(0, 1))
    """
    added = Fraction(0)
    for amount in amounts:
        if amount is None:
            return None
        added += amount
    return added


def mean_usd(amounts: Sequence[Usd]) -> Usd:
    """The exact mean; None of nothing, or when one amount is unknown.

    >>> mean_usd([Fraction(1), Fraction(2)]), mean_usd([Fraction(1), None]), mean_usd([])
    (Fraction(3, 2), None, None)
    """
    added = total(amounts)
    return added / len(amounts) if added is not None and amounts else None


def amortised(write: Usd, online: Usd, questions: int | Fraction | None) -> Usd:
    """C_write / n + C_online: USD a question when a store serves `questions` of them, None for without end.

    `write` is the cost of one store, `online` that of one question (paper B, equations 3 and 20). Raises
    InputError for fewer than one question.

    >>> amortised(Fraction(2), Fraction(1), 4), amortised(Fraction(2), Fraction(1), None)
    (Fraction(3, 2), Fraction(1, 1))
    """
    if questions is not None and questions < 1:
        raise InputError(f"a store cannot serve {questions} questions; give at least 1, or None for without end")
    if write is None or online is None:
        return None
    return online if questions is None else write / questions + online


def quality_per_cost(quality: float | None, usd: Usd) -> float | None:
    """QPC: quality (F1 as a fraction) by cost in 1e-4 USD (paper B, equation 18); None where the cost is 0 or unknown.

    >>> round(quality_per_cost(0.479, Fraction(346, 1_000_000)), 3), quality_per_cost(0.5, Fraction(0))
    (0.138, None)
    """
    return quality / float(usd * SCALE) if quality is not None and usd else None


def _billed(role: str, billing: Mapping[str, Billing]) -> Billing:
    if role not in billing:
        raise InputError(f"role {role!r} took tokens and has no billing; give it one, without a row if unknown")
    return billing[role]


def _text(output: Any) -> str:
    if output is None or isinstance(output, str):
        return output or ""
    return json.dumps(output, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)
