"""Pictures of quality and cost: alpha bars with the Pareto plot, depth curves, amortisation curves, cost shares."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from memgauge.experiments.alpha_sweep import AlphaPoint, AlphaRun, by_alpha, pareto
from memgauge.experiments.amortisation import Curve
from memgauge.experiments.depth_sweep import DepthPoint
from memgauge.experiments.qpc import QA, Costs
from memgauge.metrics.cost import SCALE
from memgauge.report.experiment_canvas import COLOURS, SMALL, add_legend, colour_of, draw, marker_of
from memgauge.report.experiment_figures import HATCHES, ROW_INCHES
from memgauge.report.numbers import number, percent
from memgauge.report.qpc_tables import amount, cost_parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BARS_INCHES, PARETO_INCHES, CURVES_INCHES = 1.0, 2.1, 1.5
LEGEND_COLUMNS, LEGEND_ROW_INCHES = 3, 0.14
MANY = 100  # highest by lowest cost, above which ticks stand at powers of ten alone
LEAST_NUMBERED = 0.13  # a smaller share has no room for its number
COST = "cost a question (1e-4 USD)"
BAR, FRONT = COLOURS[1], COLOURS[3]


def alpha_figure(runs: Sequence[AlphaRun]) -> bytes:
    """Bars of QPC (QA), QPC and summary length by alpha, then F1 against cost with the Pareto front.

    Bars are means over runs of one alpha, whiskers reach from the lowest to the highest run. A panel without any
    number is left out.
    """
    points = by_alpha(runs)
    names = {"qpc_qa": "QPC (QA)", "qpc": "QPC", "summary_tokens": "summary tokens"}
    means = [each.mean for each in points]
    shown = {name: title for name, title in names.items() if any(getattr(run, name) is not None for run in means)}
    priced = [each for each in points if each.mean.cost_usd is not None]

    def paint(figure: "Figure", axes: Sequence["Axes"]) -> None:
        for panel, (name, title) in zip(axes, shown.items(), strict=False):
            _bars(panel, points, name)
            panel.set_title(title, fontsize=8, loc="left")
        axes[len(shown) - 1].set_xlabel("alpha, weight of F1 in the reward")
        if priced:
            _front(axes[-1], priced)

    return draw([BARS_INCHES] * len(shown) + [PARETO_INCHES] * bool(priced), paint, share_x=False)


def depth_figure(series: Mapping[str, Sequence[DepthPoint]]) -> bytes:
    """F1, judge and cost over retrieval depth, one line a series (a benchmark, or a system)."""
    names = {"f1": "F1", "judge": "judge", "cost_usd": COST}
    points = [point for line in series.values() for point in line]
    shown = {key: title for key, title in names.items() if any(getattr(point, key) is not None for point in points)}
    depths = sorted({(point.episodes, point.facts) for point in points})

    def paint(figure: "Figure", axes: Sequence["Axes"]) -> None:
        for panel, (key, title) in zip(axes, shown.items(), strict=True):
            scale = SCALE if key == "cost_usd" else 1
            for place, (name, line) in enumerate(series.items()):
                known = [(depths.index((each.episodes, each.facts)), getattr(each, key)) for each in line]
                _line(panel, [(x, y * scale) for x, y in sorted(known) if y is not None], name, place)
            panel.set_title(title, fontsize=8, loc="left")
            panel.margins(y=0.15)
        axes[-1].set_xticks(range(len(depths)), [f"{episodes}/{facts}" for episodes, facts in depths])
        figure.supxlabel("episodes/facts retrieved", fontsize=7.5)
        add_legend(figure, axes, columns=3)

    return draw([CURVES_INCHES] * len(shown), paint)


def amortisation_figure(curves: Sequence[Curve]) -> bytes:
    """Cost a question over the questions a store serves, both on log axes; a panel holds up to eight systems.

    A dotted level is a system's online cost, which its curve approaches; a system without a known cost, or that
    costs nothing, has no line.
    """
    panels = _panels([each for each in curves if _positive(each)])
    systems = list(dict.fromkeys(each.costs.system for chosen in panels.values() for each in chosen))

    def paint(figure: "Figure", axes: Sequence["Axes"]) -> None:
        for panel, (title, chosen) in zip(axes, panels.items(), strict=True):
            for each in chosen:
                _curve(panel, each, systems.index(each.costs.system))
            panel.set_title(title, fontsize=8, loc="left")
            panel.set_ylabel("1e-4 USD a question")
        _plain_log_axes(axes)
        figure.supxlabel("questions a store serves", fontsize=7.5)
        add_legend(figure, axes, columns=LEGEND_COLUMNS)

    rows = -(-len(systems) // LEGEND_COLUMNS)
    room = LEGEND_ROW_INCHES * max(0, rows - 2) / max(1, len(panels))
    return draw([PARETO_INCHES + room] * len(panels), paint)


def cost_share_figure(found: Sequence[Costs]) -> bytes:
    """What a question's cost is made of, one bar a system: its share of the store, then each online role."""
    known = {each.system: {name: usd or 0 for name, usd in cost_parts(each).items()} for each in found if each.cost}
    roles = list(dict.fromkeys(name for each in known.values() for name in each))
    parts = sorted(roles, key=lambda name: (name != "write", name == QA, roles.index(name)))
    totals = {each.system: each.cost for each in found}

    def paint(figure: "Figure", axes: Sequence["Axes"]) -> None:
        for place, (name, amounts) in enumerate(known.items()):
            whole, left = float(totals[name] or 1), 0.0
            for at, part in enumerate(parts):
                left += _part(axes[0], place, left, float(amounts.get(part, 0)) / whole, at, part)
        labels = [f"{name} ({amount(float(totals[name] or 0) * SCALE)})" for name in known]
        axes[0].set_yticks(range(len(known)), labels)
        axes[0].set_ylim(len(known) - 0.4, -0.6)
        axes[0].set_xlim(0.0, 1.0)
        axes[0].tick_params(axis="y", length=0)
        figure.supxlabel("share of a question's cost; in brackets the cost in 1e-4 USD", fontsize=7.5)
        add_legend(figure, axes, columns=3)

    return draw([ROW_INCHES * (1.2 * len(known) + 0.4)] * bool(known), paint)


def _bars(panel: "Axes", points: Sequence[AlphaPoint], name: str) -> None:
    for place, each in enumerate(points):
        value, low, high = (getattr(run, name) for run in (each.mean, each.low, each.high))
        if value is None:
            continue
        panel.bar(place, value, width=0.6, color=BAR)
        if each.runs > 1:
            panel.plot([place, place], [low, high], color="black", linewidth=0.9)
        digits = 1 if name == "summary_tokens" else 2
        panel.annotate(
            number(value, digits), (place, high), (0, 1.5), textcoords="offset points", ha="center", fontsize=SMALL
        )
    panel.set_xticks(range(len(points)), [str(each.mean.alpha) for each in points])
    panel.margins(y=0.22)


def _front(panel: "Axes", points: Sequence[AlphaPoint]) -> None:
    """F1 against cost; filled marks joined by a line are not beaten by any other alpha."""
    places = [(each.mean.cost_usd or 0.0, each.mean.f1) for each in points]
    best = pareto(places)
    joined = sorted((places[at][0] * SCALE, places[at][1]) for at in best)
    panel.plot([x for x, _ in joined], [y for _, y in joined], color=FRONT, linewidth=0.8, zorder=1)
    for at, (usd, f1) in enumerate(places):
        mark: dict[str, Any] = {"marker": "o", "markersize": 5.0, "linewidth": 0, "color": FRONT, "zorder": 2}
        panel.plot([usd * SCALE], [f1], markerfacecolor=FRONT if at in best else "white", **mark)
        name = str(points[at].mean.alpha)
        panel.annotate(name, (usd * SCALE, f1), (4, 3), textcoords="offset points", fontsize=SMALL)
    panel.set_title("F1 against cost, marks by alpha; filled: Pareto front", fontsize=8, loc="left")
    panel.set_xlabel(COST)
    panel.set_ylabel("F1")
    panel.margins(0.15)


def _panels(curves: Sequence[Curve]) -> dict[str, list[Curve]]:
    """Curves by benchmark, in panels of as many systems as there are colours."""
    found: dict[str, list[Curve]] = {}
    for benchmark in dict.fromkeys(each.costs.benchmark for each in curves):
        chosen = [each for each in curves if each.costs.benchmark == benchmark]
        panels = -(-len(chosen) // len(COLOURS))
        for at in range(panels):
            title = benchmark if panels == 1 else f"{benchmark}, {at + 1} of {panels}"
            found[title] = chosen[at * len(COLOURS) : (at + 1) * len(COLOURS)]
    return found


def _plain_log_axes(axes: Sequence["Axes"]) -> None:
    """Log axes with plain numbers, the costs alike in all panels: at powers of ten, or at 1, 2 and 5 times these."""
    for panel in axes:
        panel.set_xscale("log")
        panel.set_yscale("log")
    low, high = min(panel.get_ylim()[0] for panel in axes), max(panel.get_ylim()[1] for panel in axes)
    steps = (1, 2, 5) if high / low < MANY else (1,)
    ticks = [step * 10.0**power for power in range(floor(log10(low)), ceil(log10(high)) + 1) for step in steps]
    shown = [tick for tick in ticks if low <= tick <= high]
    for panel in axes:
        panel.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
        panel.set_yticks(shown, [f"{tick:g}" for tick in shown])
        panel.minorticks_off()
        panel.set_ylim(low, high)


def _line(panel: "Axes", points: Sequence[tuple[float, float]], name: str, place: int) -> None:
    marker = marker_of(place + place // len(COLOURS))  # colours begin again, with other markers
    style: dict[str, Any] = {"color": colour_of(place), "marker": marker, "markersize": 4.0, "linewidth": 1.0}
    panel.plot([x for x, _ in points], [y for _, y in points], label=name, **style)


def _curve(panel: "Axes", each: Curve, place: int) -> None:
    known = [(count, float(usd * SCALE)) for count, usd in each.points if count is not None and usd]
    _line(panel, known, each.costs.system, place)
    if each.costs.online and each.costs.write:
        level = float(each.costs.online * SCALE)
        panel.axhline(level, color=colour_of(place), linewidth=0.6, linestyle=(0, (1, 1.5)), zorder=0)


def _positive(each: Curve) -> bool:
    return any(count is not None and usd for count, usd in each.points)


def _part(panel: "Axes", y: int, left: float, share: float, place: int, name: str) -> float:
    bar: dict[str, Any] = {"color": colour_of(place), "hatch": HATCHES[place % len(HATCHES)], "height": 0.72}
    panel.barh(y, share, left=left, label=name, edgecolor="white", linewidth=0.4, **bar)
    if share >= LEAST_NUMBERED:
        ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        panel.text(left + share / 2, y, percent(share), ha="center", va="center", fontsize=SMALL, bbox=ground)
    return share
