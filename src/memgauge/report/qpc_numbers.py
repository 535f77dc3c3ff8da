"""Quality per cost and amortisation as nested numbers for `dvc metrics diff`: undefined is null, nothing is rounded."""

from collections.abc import Sequence

from memgauge.experiments.amortisation import BreakEven, Curve, break_evens
from memgauge.experiments.depth_sweep import DepthPoint, knee
from memgauge.experiments.qpc_quality import Quality
from memgauge.experiments.qpc_summaries import Summaries
from memgauge.metrics.cost import SCALE, Usd
from memgauge.report.experiment_numbers import key_of
from memgauge.report.numbers import estimate_numbers
from memgauge.report.summary import Numbers
from memgauge.stats.intervals import Estimate


def qpc_numbers(found: Sequence[Quality], summaries: Sequence[Summaries] = ()) -> Numbers:
    """`metrics/qpc.json`: benchmark -> system -> number; `type` -> type -> number below each system.

    Costs end in `_e4`: USD x 1e4 a question, the unit of QPC; `write` is the question's share of its store.
    """
    tree: Numbers = {}
    for each in found:
        node = _node(_node(tree, each.benchmark), key_of(each.system))
        if each.question_type is None:
            node |= _quality(each)
        else:
            _node(node, "type")[key_of(each.question_type)] = _short(each)
    for made in summaries:
        _node(_node(tree, made.benchmark), key_of(made.system))["summary"] = {
            "mean_tokens": made.mean_tokens,
            "empty_share": made.empty_share,
            "same_share": made.same_share,
            "of_summary": made.of_summary,
            "of_answer": made.of_answer,
        }
    return tree


def amortisation_numbers(found: Sequence[Curve]) -> Numbers:
    """`metrics/amortisation.json`: benchmark -> system -> `stores`, USD x 1e4 and QPC by number of questions a store.

    `cheaper_from` -> other system is the break-even: 1 for always, null for never or where a cost is unknown.
    """
    tree: Numbers = {}
    for benchmark in dict.fromkeys(each.costs.benchmark for each in found):
        curves = [each for each in found if each.costs.benchmark == benchmark]
        broken = break_evens([each.costs for each in curves])
        for each in curves:
            numbers = _curve(each)
            numbers["cheaper_from"] = {
                key_of(other): _questions(value) for (one, other), value in broken.items() if one == each.costs.system
            }
            _node(tree, benchmark)[key_of(each.costs.system)] = numbers
    return tree


def depth_numbers(points: Sequence[DepthPoint]) -> Numbers:
    """depth -> F1, judge, USD x 1e4; and the knee's place in the sweep.

    >>> depth_numbers([DepthPoint(2, 5, 0.2, None, 0.0001)])
    {'depth_2_5': {'f1': 0.2, 'judge': None, 'cost_e4': 1.0}, 'knee': 0}
    """
    tree: Numbers = {}
    for each in points:
        usd = None if each.cost_usd is None else each.cost_usd * SCALE
        tree[f"depth_{each.episodes}_{each.facts}"] = {"f1": each.f1, "judge": each.judge, "cost_e4": usd}
    found = knee(points)
    tree["knee"] = None if found is None else points.index(found)
    return tree


def scaled(amount: Usd) -> float | None:
    """USD x 1e4."""
    return None if amount is None else float(amount * SCALE)


def _quality(each: Quality) -> Numbers:
    numbers = _short(each)
    numbers |= estimate_numbers("f1", each.f1) | estimate_numbers("qpc", each.qpc)
    numbers |= estimate_numbers("qpc_qa", each.qpc_qa)
    numbers |= {"write_e4": scaled(each.write), "online_e4": scaled(each.online), "qa_e4": scaled(each.qa)}
    change = Estimate(None, 0) if each.change is None else each.change
    numbers["served"] = float(each.served)
    return numbers | estimate_numbers("qpc_change", change)


def _short(each: Quality) -> Numbers:
    return {
        "f1": each.f1.value,
        "locomo_f1": each.locomo_f1,
        "judge_strict": each.strict,
        "judge_generous": each.generous,
        "cost_e4": scaled(each.cost),
        "qpc": each.qpc.value,
        "qpc_qa": each.qpc_qa.value,
        "n": each.questions,
        "missing": each.missing,
    }


def _curve(each: Curve) -> Numbers:
    costs = each.costs
    return {
        "stores": costs.stores,
        "questions": costs.questions,
        "served": float(costs.served),
        "write_usd": None if costs.write is None else float(costs.write),
        "online_usd": None if costs.online is None else float(costs.online),
        "cost_e4": {count_key(questions): scaled(amount) for questions, amount in each.points},
        "qpc": {count_key(questions): value for questions, value in each.qpc()},
    }


def count_key(questions: int | None) -> str:
    """A number of questions as a key.

    >>> count_key(50), count_key(None)
    ('n_50', 'n_inf')
    """
    return "n_inf" if questions is None else f"n_{questions}"


def _questions(value: BreakEven) -> int | None:
    return 1 if value == "always" else value if isinstance(value, int) else None


def _node(tree: Numbers, key: str) -> Numbers:
    node = tree.setdefault(key, {})
    assert isinstance(node, dict)
    return node
