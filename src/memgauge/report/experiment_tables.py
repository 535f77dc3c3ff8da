"""Markdown tables of the experiments: each row names its reader, each difference its interval and its n."""

from collections.abc import Mapping, Sequence

from memgauge.experiments.agreement import Agreement
from memgauge.experiments.breakdown import Breakdown
from memgauge.experiments.cost_matched import WriteCost
from memgauge.experiments.degrade import verdict
from memgauge.experiments.significance import Arm, Change, Experiment
from memgauge.protocol.attribution import LINKS, Attribution, count_links
from memgauge.records import PRIMARY
from memgauge.report.markdown import markdown_table
from memgauge.report.numbers import UNDEFINED, estimate, interval, number, p_value, percent
from memgauge.report.tables import count_text, gap_text

ARM_HEADER = ("OE", "CSM", "RM", "write gap [95 %]", "retrieval gap [95 %]", "larger gap", "n")


def arms_table(experiments: Sequence[Experiment], kind: str = "arm") -> str:
    """Means and gaps of every arm; an arm in which nothing could be scored says so."""
    rows = []
    for found in experiments:
        rows += [[found.reader, arm.name, *_means(arm)] for arm in found.arms]
        rows += [[found.reader, name, "nothing scored", *[UNDEFINED] * 6] for name in found.unscored]
    return markdown_table(["reader", kind, *ARM_HEADER], rows)


def gap_changes_table(experiments: Sequence[Experiment]) -> str:
    """How damage moved either gap, and whether only its own."""
    header = [
        *("reader", "setting", "change of write gap [95 %]", "clustered"),
        *("change of retrieval gap [95 %]", "clustered", "n", "verdict"),
    ]
    rows = [
        [
            *(found.reader, arm.name),
            *(gap_text(arm.change.write), interval(arm.change.write.clustered)),
            *(gap_text(arm.change.retrieval), interval(arm.change.retrieval.clustered)),
            *(str(arm.change.write.n), verdict(arm) or "no damage"),
        ]
        for found in experiments
        for arm in found.arms
        if arm.change is not None
    ]
    return markdown_table(header, rows)


def changes_table(changes: Mapping[str, Mapping[str, Change]], kind: str, draws: int) -> str:
    """Paired changes by reader and name: of CSM with its p, of RM, of either gap."""
    header = [
        *("reader", kind, "change of CSM [95 %]", "clustered", "one-sided p", "clustered p"),
        *("change of RM [95 %]", "change of retrieval gap [95 %]", "n"),
    ]
    rows = [
        [
            *(reader, name, gap_text(each.csm), interval(each.csm.clustered)),
            *(p_value(each.p, draws), p_value(each.p_clustered, draws)),
            *(gap_text(each.rm), gap_text(each.retrieval), str(each.csm.n)),
        ]
        for reader, by_name in changes.items()
        for name, each in by_name.items()
    ]
    return markdown_table(header, rows)


def cost_table(costs: Sequence[WriteCost]) -> str:
    """What writing took per session, by the counts of the stores."""
    header = [
        *("system", "sessions", "tasks / session", "calls / session", "input tokens / session"),
        *("output tokens / session", "store tokens", "failed tasks"),
    ]
    rows = []
    for cost in costs:
        totals = (cost.tasks, cost.calls, cost.input_tokens, cost.output_tokens)
        shares = (number(cost.per_session(total), 2) for total in totals)
        rows.append([cost.system, str(cost.sessions), *shares, str(cost.store_tokens), str(cost.failures)])
    return markdown_table(header, rows)


def breakdown_table(found: Sequence[Breakdown], draws: int) -> str:
    """CSM of two systems by part of the benchmark."""
    header = ["reader", "part", "pair", "n", "CSM of the first", "CSM of the second"]
    rows = [
        [
            *(each.reader, part.name, f"{each.first} - {each.second}", str(part.difference.n)),
            *(number(part.first.value), number(part.second.value)),
            *(gap_text(part.difference), interval(part.difference.clustered)),
            *(p_value(part.p, draws), p_value(part.p_clustered, draws)),
        ]
        for each in found
        for part in each.parts
    ]
    return markdown_table([*header, "difference [95 %]", "clustered", "one-sided p", "clustered p"], rows)


def agreement_table(found: Sequence[Agreement]) -> str:
    """How many pairs two metrics order alike, and the systems' order by either."""
    header = [
        "reader",
        "pairs",
        "ordered alike",
        "tied by one",
        "share",
        "condition",
        "by contains match",
        "by token F1",
    ]
    rows = []
    for each in found:
        share = percent(each.alike / each.pairs, 1) if each.pairs else UNDEFINED
        for condition, orders in each.orders.items():
            ordered = (" > ".join(order) for order in orders)
            counts = (str(each.pairs), str(each.alike), str(each.tied))
            rows.append([each.reader, *counts, share, condition, *ordered])
    return markdown_table(header, rows)


def apart_table(found: Sequence[Agreement]) -> str:
    """The pairs that the two metrics do not order alike, with their means."""
    header = ["reader", "one", "other", "contains match", "token F1"]
    rows = [
        [
            *(each.reader, *(f"{point.system} {point.condition}" for point in pair)),
            " / ".join(number(point.first) for point in pair),
            " / ".join(number(point.second) for point in pair),
        ]
        for each in found
        for pair in each.apart
    ]
    return markdown_table(header, rows)


def attribution_table(found: Mapping[str, Mapping[str, Sequence[Attribution]]]) -> str:
    """Questions by the link that lost them, from answers with recalls and (in brackets) from answers alone."""
    rows = []
    for reader, by_system in found.items():
        for system, each in by_system.items():
            counts, plain = count_links(each), count_links(each, by_answers=True)
            cells = (f"{counts[link]} ({plain[link]})" for link in LINKS)
            rows.append([reader, system, str(len(each)), *cells])
    titles = ("lost at write", "lost at retrieval", "lost at reading", "kept", "undecided")
    return markdown_table(["reader", "system", "questions", *titles], rows)


def kept_table(counts: Mapping[str, Mapping[str, Mapping[str, int]]], pair: str) -> str:
    """Questions by type and by which of two stores keeps every detail of the gold."""
    rows = [
        [reader, kind, str(sum(each.values())), count_text(dict(each))]
        for reader, by_type in counts.items()
        for kind, each in by_type.items()
    ]
    return markdown_table(["reader", "type", "questions", f"kept by ({pair})"], rows)


def _means(arm: Arm) -> list[str]:
    found = arm.cell.metrics.get(PRIMARY)
    if found is None:
        return ["nothing scored", *[UNDEFINED] * 6]
    gaps = found.gaps
    means = (number(gaps.oe.value), estimate(gaps.csm), estimate(gaps.rm))
    share = "" if found.label_shares is None else f" ({percent(found.label_shares[found.label])})"
    return [*means, gap_text(gaps.write), gap_text(gaps.retrieval), f"{found.label}{share}", str(gaps.oe.n)]
