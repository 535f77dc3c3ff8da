"""The documents of quality per cost: what was counted, the tables, the published numbers beside ours."""

from collections.abc import Mapping, Sequence
from typing import Any

from memgauge.experiments.alpha_sweep import AlphaPoint, peak
from memgauge.experiments.amortisation import Curve
from memgauge.experiments.depth_sweep import DepthPoint
from memgauge.experiments.qpc import Costs
from memgauge.experiments.qpc_quality import Quality
from memgauge.experiments.qpc_summaries import Summaries
from memgauge.report.numbers import UNDEFINED, number
from memgauge.report.qpc_published import published_qpc_table
from memgauge.report.qpc_tables import (
    alpha_table,
    amortisation_table,
    billing_table,
    break_even_table,
    depth_table,
    qpc_table,
    qpc_type_table,
    share_table,
    summaries_table,
    tokens_table,
)

QPC = """\
F1 by cost, all model calls counted. A question's cost is its share of its store plus its online calls, in 1e-4 USD:
sum over roles of tokens x price, cached input at its own price. QPC = F1 / cost; QPC (QA) divides by the cost of the QA
call alone. Questions without an answer keep their cost and have no F1. Intervals are 95 % percentile intervals of
{draws:,} bootstrap draws over questions, F1 and cost of a question drawn together; clustered redraws whole groups of
histories.{base}

n/a is unknown or undefined, never 0: a role whose price is not known, or whose tokens nobody counted,
makes every sum with it n/a."""
BASE = " Differences are to {base}, over the same questions."
BILLED = """\
A model in this process is billed as the named row of prices. "Tokens as if asked": no model was called; the tokens
are those of the prompt that one would have been sent and of the answer that was given. "Untrained" systems run their
method with a model that was not trained for it."""
AMORTISED = """\
C(n) = C_write / n + C_online: 1e-4 USD a question when one store serves n questions, QPC with this run's F1 in
brackets. n counts questions of one store; "questions a store" is the n that other tables state costs for."""
BREAK_EVEN = """\
Each cell says from which n on the system of its row costs less than that of its column: "always" from the first
question, "never" for no n, "not dearer up to n" where it costs no more until there and more after."""
SUMMARIES = """\
A summariser may simply answer. Shares of words: how much of a summary is in the answer, how much of the answer in
it."""


def qpc_page(
    found: Sequence[Quality],
    costs: Sequence[Costs],
    summaries: Sequence[Summaries],
    draws: int,
    base: str | None = None,
    qualifications: Mapping[str, Any] | None = None,
    source_verdict: str | None = None,
) -> str:
    """One benchmark: `found` over all questions and by type.

    `qualifications` as `metrics/judge.json` holds them; `source_verdict` says whether the judge may rescore
    against sources.
    """
    overall = [each for each in found if each.question_type is None]
    by_type = [each for each in found if each.question_type is not None]
    sections = [("Systems and ablations", f"{qpc_table(overall)}{_judges(qualifications or {}, source_verdict)}")]
    sections.append(("Who is billed how", f"{BILLED}\n\n{billing_table(overall)}"))
    if by_type:
        sections.append(("By question type", qpc_type_table(by_type)))
    sections.append(("Tokens, offline and online", tokens_table(costs)))
    sections.append(("What a question's cost is made of", share_table(costs)))
    if summaries:
        sections.append(("Summaries", f"{SUMMARIES}\n\n{summaries_table(summaries)}"))
    sections.append(("Published, for reference", published_qpc_table()))
    benchmark = overall[0].benchmark if overall else UNDEFINED
    intro = QPC.format(draws=draws, base="" if base is None else BASE.format(base=base))
    return _page(f"Quality per cost: {benchmark}", intro, sections)


def amortisation_page(curves: Sequence[Curve]) -> str:
    """One benchmark: cost by questions a store, and break-even."""
    costs = [each.costs for each in curves]
    sections = [("Break-even", f"{BREAK_EVEN}\n\n{break_even_table(costs)}")]
    benchmark = costs[0].benchmark if costs else UNDEFINED
    return _page(f"Amortisation: {benchmark}", f"{AMORTISED}\n\n{amortisation_table(curves)}", sections)


def alpha_page(benchmark: str, points: Sequence[AlphaPoint]) -> str:
    """The sweep of alpha."""
    best = peak(points, "qpc_qa")
    intro = f"Means over runs; * marks the Pareto front of F1 and cost. QPC (QA) peaks at alpha {number(best, 1)}."
    return _page(f"Sweep of alpha: {benchmark}", f"{intro}\n\n{alpha_table(points)}", [])


def depth_page(benchmark: str, points: Sequence[DepthPoint]) -> str:
    """The sweep of retrieval depth."""
    intro = "* marks the shallowest depth with 95 % of the best F1."
    return _page(f"Sweep of retrieval depth: {benchmark}", f"{intro}\n\n{depth_table(points)}", [])


def _judges(qualifications: Mapping[str, Any], source_verdict: str | None) -> str:
    """What each judge gets wrong, to stand below every judged score."""
    lines = [
        f"- Judge {each['judge']}, {each['variant']}: false accepts {number(each['false_accepts']['rate'])}, "
        f"false rejects {number(each['false_rejects']['rate'])}, {'' if each['qualified'] else 'not '}qualified."
        for each in qualifications.values()
    ]
    lines += [f"- {source_verdict}"] if source_verdict else []
    return "\n\n" + "\n".join(lines) if lines else ""


def _page(title: str, intro: str, sections: Sequence[tuple[str, str]]) -> str:
    parts = [f"# {title}", intro, *(f"## {heading}\n\n{text}" for heading, text in sections)]
    return "\n\n".join(parts) + "\n"
