"""Markdown tables of quality and cost; every cost says its unit, every price its row, and unknown is n/a, never 0."""

from collections.abc import Callable, Mapping, Sequence
from math import floor, log10

from memgauge.experiments.alpha_sweep import AlphaPoint, pareto
from memgauge.experiments.amortisation import BreakEven, Curve, break_evens
from memgauge.experiments.depth_sweep import DepthPoint, knee
from memgauge.experiments.qpc import Costs
from memgauge.experiments.qpc_quality import Quality
from memgauge.experiments.qpc_summaries import Summaries
from memgauge.metrics.cost import SCALE, Usd
from memgauge.report.markdown import markdown_table
from memgauge.report.numbers import UNDEFINED, estimate, interval, number, percent
from memgauge.report.qpc_numbers import scaled
from memgauge.report.tables import gap_text

LEAST_LOG, DIGITS = -9, 3
Column = tuple[str, Callable[[Quality], str]]


def qpc_table(found: Sequence[Quality]) -> str:
    """One row a system or ablation: quality, cost, QPC; LoCoMo's F1 and the judge where anyone has them."""
    return _quality_table([("system", lambda each: each.system), ("part", lambda each: each.kind)], found)


def qpc_type_table(found: Sequence[Quality]) -> str:
    """The same by question type, one row a system and type."""
    types: list[Column] = [("system", lambda each: each.system), ("type", lambda each: each.question_type or "all")]
    return _quality_table(types, found)


def billing_table(found: Sequence[Quality]) -> str:
    """Who did each role and by which row of prices it is billed."""
    return markdown_table(["system", "label", "billed"], [[each.system, each.label, each.billed] for each in found])


def tokens_table(found: Sequence[Costs]) -> str:
    """Tokens and USD by stage and role: offline for one store, online for one question."""
    header = ["system", "stage", "role", "per", "n", "tasks", "calls", "input", "cached input", "output"]
    rows = []
    for each in found:
        for use in each.uses:
            stage, unit = ("offline", "store") if use.stage == "write" else ("online", "question")
            tokens = use.tokens
            counts = (tokens.calls, tokens.input, tokens.cached, tokens.output)
            shown = (UNDEFINED if tokens.unmetered else number(use.per_unit(count), 1) for count in counts)
            usd = None if use.usd is None else use.usd / use.units
            row = [each.system, stage, use.role, unit, str(use.units), number(use.per_unit(tokens.tasks), 1), *shown]
            rows.append([*row, amount(scaled(usd)), use.billed])
    return markdown_table([*header, "1e-4 USD", "billed"], rows)


def share_table(found: Sequence[Costs]) -> str:
    """Shares of a question's cost: its share of the store, then each online role; and QA's share of the online cost."""
    roles = list(dict.fromkeys(use.role for each in found for use in each.uses if use.stage == "online"))
    rows = []
    for each in found:
        parts = cost_parts(each)
        whole = each.cost
        shares = (percent(_share(parts.get(name), whole), 1) if name in parts else "" for name in ("write", *roles))
        qa = percent(_share(each.qa, each.online), 1)
        rows.append([each.system, number(float(each.served), 1), amount(scaled(whole)), *shares, qa])
    header = ["system", "questions a store", "cost (1e-4 USD)", "write", *roles, "QA of online"]
    return markdown_table(header, rows)


def cost_parts(costs: Costs) -> dict[str, Usd]:
    """USD a question by part: "write" (if anything was spent there), then each online role.

    Known parts add up to the whole, which is unknown when one of them is.
    """
    written: Usd = None if costs.write is None else costs.write / costs.served
    parts: dict[str, Usd] = {"write": written} if any(use.stage == "write" for use in costs.uses) else {}
    for use in costs.uses:
        if use.stage == "online":
            parts[use.role] = None if use.usd is None else use.usd / use.units
    return parts


def amortisation_table(curves: Sequence[Curve]) -> str:
    """Cost a question by how many a store serves, QPC in brackets."""
    counts = [questions for questions, _ in curves[0].points] if curves else []
    header = ["system", "stores", "questions a store", "write a store (1e-4 USD)", *map(_count, counts)]
    rows = []
    for each in curves:
        costs = each.costs
        cells = [
            UNDEFINED if usd is None else f"{amount(scaled(usd))} ({number(value)})"
            for (_, usd), (_, value) in zip(each.points, each.qpc(), strict=True)
        ]
        served = number(float(costs.served), 1)
        rows.append([costs.system, str(costs.stores), served, amount(scaled(costs.write)), *cells])
    return markdown_table(header, rows)


def break_even_table(found: Sequence[Costs]) -> str:
    """From which number of questions a store the system of the row is cheaper than that of the column."""
    broken = break_evens(found)
    names = [each.system for each in found]
    rows = [[row, *(_cheaper(row, column, broken) for column in names)] for row in names]
    return markdown_table(["cheaper than", *names], rows)


def summaries_table(found: Sequence[Summaries]) -> str:
    """How long summaries are and how much of them is the answer itself."""
    header = ["system", "summaries", "mean tokens", "empty", "is the answer", "of its words in the answer"]
    rows = [
        [
            *(each.system, str(each.summaries), number(each.mean_tokens, 1), percent(each.empty_share, 1)),
            *(percent(each.same_share, 1), percent(each.of_summary), percent(each.of_answer)),
        ]
        for each in found
    ]
    return markdown_table([*header, "of the answer's words in it"], rows)


def alpha_table(points: Sequence[AlphaPoint]) -> str:
    """One row an alpha, means over its runs; * marks the Pareto front of F1 and cost."""
    priced = [(each.mean.cost_usd, each.mean.f1, each.mean.alpha) for each in points if each.mean.cost_usd is not None]
    front = {priced[at][2] for at in pareto([(usd, f1) for usd, f1, _ in priced])}
    rows = []
    for each in points:
        run = each.mean
        usd = None if run.cost_usd is None else run.cost_usd * SCALE
        mark = "*" if run.alpha in front else ""
        row = [f"{run.alpha}{mark}", str(each.runs), number(run.f1), amount(usd), number(run.qpc), number(run.qpc_qa)]
        rows.append([*row, number(run.summary_tokens, 1), percent(run.empty_share, 1)])
    header = ["alpha", "runs", "F1", "cost (1e-4 USD)", "QPC", "QPC (QA)", "summary tokens", "empty summaries"]
    return markdown_table(header, rows)


def depth_table(points: Sequence[DepthPoint]) -> str:
    """One row a depth; * marks the shallowest with 95 % of the best F1."""
    first = knee(points)
    rows = []
    for each in points:
        usd = None if each.cost_usd is None else each.cost_usd * SCALE
        rows.append([f"{each.name}{'*' if each == first else ''}", number(each.f1), number(each.judge), amount(usd)])
    return markdown_table(["episodes/facts", "F1", "judge", "cost (1e-4 USD)"], rows)


def amount(value: float | None) -> str:
    """Three significant digits without an exponent, for costs of any size.

    >>> amount(3.4612), amount(0.000123456), amount(2411.2), amount(0.0), amount(None)
    ('3.46', '0.000123', '2411', '0', 'n/a')
    """
    if value is None or value == 0:
        return UNDEFINED if value is None else "0"
    magnitude = max(floor(log10(abs(value))), LEAST_LOG)
    return number(value, max(DIGITS - 1 - magnitude, 0))


def _quality_table(first: Sequence[Column], found: Sequence[Quality]) -> str:
    optional: list[tuple[Column, Callable[[Quality], float | None]]] = [
        (("LoCoMo F1", lambda each: number(each.locomo_f1)), lambda each: each.locomo_f1),
        (("judge, strict", lambda each: number(each.strict)), lambda each: each.strict),
        (("judge, generous", lambda each: number(each.generous)), lambda each: each.generous),
    ]
    changes: list[Column] = [
        ("QPC against the base [95 %]", lambda each: "" if each.change is None else gap_text(each.change))
    ]
    if all(each.change is None for each in found):
        changes = []
    columns: list[Column] = [
        *first,
        ("label", lambda each: each.label),
        ("F1 [95 %]", lambda each: estimate(each.f1)),
        *(column for column, value in optional if any(value(each) is not None for each in found)),
        ("questions a store", lambda each: number(float(each.served), 1)),
        ("write (1e-4 USD)", lambda each: amount(scaled(each.write))),
        ("online (1e-4 USD)", lambda each: amount(scaled(each.online))),
        ("cost (1e-4 USD)", lambda each: amount(scaled(each.cost))),
        ("QPC [95 %]", lambda each: estimate(each.qpc)),
        ("clustered", lambda each: interval(each.qpc.clustered)),
        ("QPC (QA)", lambda each: number(each.qpc_qa.value)),
        *changes,
        ("n", lambda each: str(each.questions)),
        ("missing", lambda each: str(each.missing)),
    ]
    return markdown_table([name for name, _ in columns], [[show(each) for _, show in columns] for each in found])


def _cheaper(row: str, column: str, broken: Mapping[tuple[str, str], BreakEven]) -> str:
    if row == column:
        return ""
    found, mirrored = broken[row, column], broken[column, row]
    if found is None:
        return UNDEFINED
    if found == "never" and isinstance(mirrored, int):
        return f"not dearer up to {mirrored - 1}"
    return found if isinstance(found, str) else f"from {found}"


def _share(part: Usd, whole: Usd) -> float | None:
    return float(part / whole) if part is not None and whole else None


def _count(questions: int | None) -> str:
    return "no end" if questions is None else f"n = {questions}"
