"""The budget advisor's finding as text: an advice never stands without how often the draws agree with it."""

from memgauge.experiments.budget_advisor import PER, Advice, Choice
from memgauge.report.markdown import markdown_table
from memgauge.report.numbers import UNDEFINED, interval, number, percent, signed
from memgauge.stats.intervals import Interval

HEADER = (
    "passages",
    f"USD per {PER:,} questions",
    "cost of reference [95 %]",
    "change in points [95 %]",
    "pairs",
    "within tolerance",
    "advised in draws",
)


def advice_page(advice: Advice) -> str:
    """The advice in a sentence, all choices in a table, and how to read them."""
    rows = [_row(each, advice) for each in advice.choices]
    return "\n\n".join([advice_sentence(advice), markdown_table(HEADER, rows), _note(advice)])


def advice_sentence(advice: Advice) -> str:
    """The advised budget with the interval it rests on and the share of draws that advise it."""
    each = advice.choice
    tolerated = number(advice.tolerated_points, 1)
    if each.budget == advice.reference:
        finding = f"no cheaper budget's interval excludes a loss beyond {tolerated} points"
    else:
        finding = f"change {signed(each.change, 2)} points {interval(each.interval, 2)}, tolerated {tolerated}"
    cost = "" if each.budget == advice.reference else f", at {_cost(each)} of the reference's cost"
    return f"**Advice: {each.budget} passages** in {percent(each.share)} of {advice.draws:,} draws; {finding}{cost}."


def _row(each: Choice, advice: Advice) -> list[str]:
    reference = each.budget == advice.reference
    return [
        str(each.budget),
        number(each.usd, 4),
        "reference" if reference else _cost(each),
        "reference" if reference else f"{signed(each.change, 2)} {interval(each.interval, 2)}",
        str(each.pairs),
        "yes" if each.tolerated else "no",
        percent(each.share, 1),
    ]


def _cost(each: Choice) -> str:
    if each.cost_share is None:
        return UNDEFINED
    bounds = each.cost_interval
    if bounds is None:
        return percent(each.cost_share, 1)
    return f"{percent(each.cost_share, 1)} {interval(Interval(100 * bounds.low, 100 * bounds.high), 1)}"


def _note(advice: Advice) -> str:
    return (
        f"Prices of {advice.price}; {advice.questions} questions in {advice.groups} source groups. "
        f"The cheapest budget whose 95 % interval (bootstrap over source groups) excludes a loss of more than "
        f"{number(advice.tolerated_points, 1)} points against {advice.reference} passages is advised; the last column "
        "is how often the same rule advises a budget when the groups are redrawn. Reader tokens only: retrieval, "
        "preparation and judging are not in the cost."
    )
