"""Which picture an experiment has: its results as rows, lines, shares or points."""

from collections.abc import Mapping, Sequence

from memgauge.experiments.agreement import Agreement
from memgauge.experiments.breakdown import Breakdown
from memgauge.experiments.significance import Experiment
from memgauge.protocol.attribution import Attribution, count_links
from memgauge.protocol.comparison import Ranking
from memgauge.records import PRIMARY
from memgauge.report.experiment_figures import Dot, Point, dot_figure, line_figure, scatter_figure, share_figure
from memgauge.report.experiment_published import opposite, published_values
from memgauge.stats.intervals import Estimate

WHISKERS = "whiskers 95 %"


def degrade_plot(found: Sequence[Experiment]) -> bytes:
    """How each setting moved the two gaps."""
    panels = {
        _title(each): [
            Dot(arm.name, {"write gap": arm.change.write, "retrieval gap": arm.change.retrieval}, {})
            for arm in each.arms
            if arm.change is not None
        ]
        for each in found
    }
    return dot_figure(panels, f"change of gap against {found[0].base}; {WHISKERS}")


def ablation_plot(experiment: str, found: Sequence[Experiment]) -> bytes:
    """How each arm moved CSM and RM against the whole system, published changes of CSM beside them."""
    printed = published_values(experiment, found[0].benchmark, "over full")
    panels = {
        _title(each): [
            Dot(arm.name, {"CSM": arm.change.csm, "RM": arm.change.rm}, _one("CSM", arm.name, printed))
            for arm in each.arms
            if arm.change is not None
        ]
        for each in found
    }
    return dot_figure(panels, f"change against the whole system; {WHISKERS}")


def sweep_plot(found: Mapping[int, Sequence[Experiment]]) -> bytes:
    """CSM and RM over write budgets, OE and TFC as level lines; one pair of panels a reader."""
    panels: dict[str, dict[str, list[tuple[int, Estimate]]]] = {}
    levels: dict[str, dict[str, float]] = {}
    for budget, experiments in found.items():
        for each in experiments:
            for arm in each.arms:
                metric = arm.cell.metrics.get(PRIMARY)
                if metric is None:
                    continue
                for condition, mean in (("CSM", metric.gaps.csm), ("RM", metric.gaps.rm)):
                    title = f"{condition}, {_title(each)}"
                    panels.setdefault(title, {}).setdefault(arm.name, []).append((budget, mean))
                    values = {name: metric.references[name].value for name in ("OE", "TFC")}
                    levels[title] = {name: value for name, value in values.items() if value is not None}
    return line_figure(panels, levels, f"write budget (tokens); {WHISKERS}", "contains match")


def cost_plot(found: Sequence[Experiment]) -> bytes:
    """CSM and RM of each system, in the order of their cost."""
    panels = {
        _title(each): [
            Dot(arm.name, {"CSM": metric.gaps.csm, "RM": metric.gaps.rm}, {})
            for arm in each.arms
            if (metric := arm.cell.metrics.get(PRIMARY)) is not None
        ]
        for each in found
    }
    return dot_figure(panels, f"mean contains match; {WHISKERS}", zero=False)


def breakdown_plot(found: Sequence[Breakdown]) -> bytes:
    """The difference of two systems' CSM by part of the benchmark."""
    series = f"{found[0].first} - {found[0].second}"
    printed = published_values("break_down", found[0].benchmark, "difference")
    panels = {
        f"{each.benchmark}, {each.reader}": [
            Dot(f"{part.name} ({part.difference.n})", {series: part.difference}, _one(series, part.name, printed))
            for part in each.parts
        ]
        for each in found
    }
    return dot_figure(panels, f"difference of CSM; {WHISKERS}")


def compare_plot(rankings: Sequence[Ranking]) -> bytes:
    """Every pair's difference under CSM and RM, one panel a reader; pairs by their order under CSM."""
    readers: dict[str, dict[tuple[str, str], dict[str, Estimate]]] = {}
    for each in rankings:
        rows = readers.setdefault(f"{each.benchmark}, {each.reader}", {})
        for pair in each.comparisons:
            key, difference = (pair.first, pair.second), pair.difference
            if key[::-1] in rows:
                key, difference = key[::-1], opposite(difference)
            rows.setdefault(key, {})[each.condition] = difference
    panels = {
        title: [Dot(f"{first} - {second}", each, {}) for (first, second), each in rows.items()]
        for title, rows in readers.items()
    }
    return dot_figure(panels, f"difference of means; {WHISKERS}")


def agreement_plot(found: Sequence[Agreement]) -> bytes:
    """Every (system, condition) by either metric."""
    panels = {
        f"{each.benchmark}, {each.reader}": [
            Point(point.system, point.condition == "RM", point.first, point.second) for point in each.points
        ]
        for each in found
    }
    return scatter_figure(panels, "mean contains match; filled CSM, hollow RM", "mean token F1")


def attribution_plot(benchmark: str, found: Mapping[str, Mapping[str, Sequence[Attribution]]]) -> bytes:
    """Shares of questions by the link that lost them."""
    panels = {
        f"{benchmark}, {reader}": {system: _named(each) for system, each in by_system.items()}
        for reader, by_system in found.items()
    }
    return share_figure(panels, "share of questions")


def kept_plot(benchmark: str, pair: tuple[str, str], counts: Mapping[str, Mapping[str, Mapping[str, int]]]) -> bytes:
    """Shares of questions by which of two stores keeps the gold's details, one row a question type."""
    names = ("both keep it", f"only {pair[0]}", f"only {pair[1]}", "neither keeps it")
    panels = {
        f"{benchmark}, {reader}": {kind: dict(zip(names, each.values(), strict=True)) for kind, each in by_type.items()}
        for reader, by_type in counts.items()
        if by_type
    }
    return share_figure(panels, "share of questions")


def _named(found: Sequence[Attribution]) -> dict[str, int]:
    names = {"write": "lost at write", "retrieval": "lost at retrieval", "reading": "lost at reading"}
    return {names.get(link, link): count for link, count in count_links(found).items()}


def _one(series: str, item: str, printed: Mapping[str, float]) -> dict[str, float]:
    return {series: printed[item]} if item in printed else {}


def _title(found: Experiment) -> str:
    return f"{found.benchmark}, {found.reader}"
