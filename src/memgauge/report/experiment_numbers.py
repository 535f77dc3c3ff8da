"""The experiments as nested numbers for `dvc metrics diff`: undefined is null, nothing is rounded."""

import re
from collections.abc import Mapping, Sequence

from memgauge.experiments.agreement import Agreement
from memgauge.experiments.breakdown import Breakdown
from memgauge.experiments.cost_matched import WriteCost
from memgauge.experiments.degrade import verdict
from memgauge.experiments.significance import Arm, Change, Experiment
from memgauge.protocol.attribution import Attribution, count_links
from memgauge.protocol.comparison import Ranking
from memgauge.records import PRIMARY
from memgauge.report.numbers import estimate_numbers
from memgauge.report.summary import Numbers


def key_of(name: str) -> str:
    """A name as a key of a metrics file: words joined by underscores.

    >>> key_of("drop 25%"), key_of("epc - summary"), key_of("mean of readers")
    ('drop_25', 'epc_summary', 'mean_of_readers')
    """
    return "_".join(re.findall(r"\w+", name))


def arms_numbers(found: Sequence[Experiment]) -> Numbers:
    """reader -> arm -> means, gaps, changes; an arm without any score holds {"n": 0} alone."""
    tree: Numbers = {}
    for each in found:
        arms: Numbers = {key_of(arm.name): _arm(arm) for arm in each.arms}
        tree[key_of(each.reader)] = arms | {key_of(name): {"n": 0} for name in each.unscored}
    return tree


def changes_numbers(changes: Mapping[str, Mapping[str, Change]]) -> Numbers:
    """reader -> arm or pair -> change."""
    return {
        key_of(reader): {key_of(name): _change(each) for name, each in by_name.items()}
        for reader, by_name in changes.items()
    }


def degrade_numbers(found: Sequence[Experiment]) -> Numbers:
    """Arms with `only_its_own_gap`: 1 or 0, null where it cannot be said; absent where nothing was damaged."""
    tree = arms_numbers(found)
    for each in found:
        arms = tree[key_of(each.reader)]
        assert isinstance(arms, dict)
        for arm in each.arms:
            told, node = verdict(arm), arms[key_of(arm.name)]
            if told is not None and isinstance(node, dict):
                node["only_its_own_gap"] = None if told == "undefined" else int(told == "only its own gap rises")
    return tree


def cost_numbers(costs: Sequence[WriteCost]) -> Numbers:
    """system -> what writing took."""
    return {
        cost.system: {
            "sessions": cost.sessions,
            "tasks": cost.tasks,
            "calls": cost.calls,
            "input_tokens": cost.input_tokens,
            "output_tokens": cost.output_tokens,
            "store_tokens": cost.store_tokens,
            "failures": cost.failures,
        }
        for cost in costs
    }


def breakdown_numbers(found: Sequence[Breakdown]) -> Numbers:
    """reader -> part -> difference."""
    tree: Numbers = {}
    for each in found:
        parts: Numbers = {
            key_of(part.name): {
                **estimate_numbers("difference", part.difference),
                "first": part.first.value,
                "second": part.second.value,
                "n": part.difference.n,
                "p": part.p,
                "p_clustered": part.p_clustered,
            }
            for part in each.parts
        }
        parts["median_alignment"] = each.median_alignment
        parts["without_alignment"] = each.without_alignment
        tree[key_of(each.reader)] = parts
    return tree


def compare_numbers(rankings: Sequence[Ranking]) -> Numbers:
    """reader -> condition -> pair -> difference and p."""
    tree: Numbers = {}
    for each in rankings:
        reader = tree.setdefault(key_of(each.reader), {})
        assert isinstance(reader, dict)
        reader[each.condition.lower()] = {
            key_of(f"{pair.first} {pair.second}"): {
                **estimate_numbers("difference", pair.difference),
                "n": pair.difference.n,
                "p": pair.p,
                "p_clustered": pair.p_clustered,
            }
            for pair in each.comparisons
        }
    return tree


def agreement_numbers(found: Sequence[Agreement]) -> Numbers:
    """reader -> pairs and how many are ordered alike."""
    return {
        key_of(each.reader): {
            "pairs": each.pairs,
            "alike": each.alike,
            "tied": each.tied,
            "share": each.alike / each.pairs if each.pairs else None,
            "same_orders": int(all(one == other for one, other in each.orders.values())),
        }
        for each in found
    }


def attribution_numbers(found: Mapping[str, Mapping[str, Sequence[Attribution]]]) -> Numbers:
    """reader -> system -> questions by link, with recalls and by answers alone."""
    tree: Numbers = {}
    for reader, by_system in found.items():
        systems: Numbers = {}
        for system, each in by_system.items():
            plain: Numbers = {str(link): count for link, count in count_links(each, by_answers=True).items()}
            full: Numbers = {str(link): count for link, count in count_links(each).items()}
            systems[system] = {"by_answers": plain, "with_recall": full}
        tree[key_of(reader)] = systems
    return tree


def kept_numbers(counts: Mapping[str, Mapping[str, Mapping[str, int]]]) -> Numbers:
    """reader -> question type -> questions by which store keeps the gold's details."""
    return {
        key_of(reader): {
            key_of(kind): {key_of(name): count for name, count in each.items()} for kind, each in by_type.items()
        }
        for reader, by_type in counts.items()
    }


def _arm(arm: Arm) -> Numbers:
    found = arm.cell.metrics.get(PRIMARY)
    if found is None:
        return {"n": 0}
    gaps = found.gaps
    numbers: Numbers = {"n": gaps.oe.n, "oe": gaps.oe.value, "csm": gaps.csm.value, "rm": gaps.rm.value}
    numbers |= estimate_numbers("write_gap", gaps.write) | estimate_numbers("retrieval_gap", gaps.retrieval)
    return numbers if arm.change is None else numbers | {"change": _change(arm.change)}


def _change(change: Change) -> Numbers:
    numbers: Numbers = {"n": change.csm.n, "p": change.p, "p_clustered": change.p_clustered}
    parts = (("csm", change.csm), ("rm", change.rm), ("write_gap", change.write), ("retrieval_gap", change.retrieval))
    for name, each in parts:
        numbers |= estimate_numbers(name, each)
    return numbers
