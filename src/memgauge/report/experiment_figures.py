"""Four kinds of picture for experiments: dots with whiskers, lines over budgets, shares, and metric against metric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memgauge.report.experiment_canvas import SMALL, add_legend, colour_of, draw, marker_of
from memgauge.stats.intervals import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW_INCHES = 0.2
LINES_INCHES, SQUARE_INCHES = 1.6, 2.7
GREY = "#777777"
HATCHES = ("", "////", "....", "xxxx", "")
LEAST_NUMBERED_SHARE = 0.07  # a smaller share has no room for its number


@dataclass(frozen=True, slots=True)
class Dot:
    """A labelled row: estimates by series, and published values by series where there are any."""

    label: str
    estimates: Mapping[str, Estimate]
    published: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Point:
    """One mark of a scatter plot, filled or hollow."""

    series: str
    hollow: bool
    x: float
    y: float


def dot_figure(panels: Mapping[str, Sequence[Dot]], xlabel: str, zero: bool = True) -> bytes:
    """Rows of estimates with their 95 % question intervals; a hollow mark is a published value."""
    series = list(dict.fromkeys(name for rows in panels.values() for row in rows for name in row.estimates))
    step = max(len(series), 1)

    def paint(figure: "Figure", axes: Sequence["Axes"]) -> None:
        for panel, (title, rows) in zip(axes, panels.items(), strict=True):
            for place, row in enumerate(rows):
                for offset, name in enumerate(series):
                    _dot(panel, place * (step + 0.6) + offset, row, name, offset)
            middles = [place * (step + 0.6) + (step - 1) / 2 for place in range(len(rows))]
            panel.set_yticks(middles, [row.label for row in rows])
            panel.set_ylim(len(rows) * (step + 0.6) - 0.6, -1.0)
            panel.tick_params(axis="y", length=0)
            panel.set_title(title, fontsize=8, loc="left")
            if zero:
                panel.axvline(0.0, color=GREY, linewidth=0.7, zorder=0)
        figure.supxlabel(xlabel, fontsize=7.5)
        add_legend(figure, axes)

    return draw([ROW_INCHES * (len(rows) * (step + 0.6) * 0.75 + 0.6) for rows in panels.values()], paint)


def _dot(panel: "Axes", y: float, row: Dot, name: str, place: int) -> None:
    found = row.estimates.get(name)
    colour = colour_of(place)
    if found is not None and found.value is not None:
        if found.interval is not None:
            panel.plot([found.interval.low, found.interval.high], [y, y], color=colour, linewidth=1.2, zorder=1)
        mark: dict[str, Any] = {"marker": marker_of(place), "markersize": 4.0, "linewidth": 0}
        panel.plot([found.value], [y], color=colour, label=name, zorder=2, **mark)
    if name in row.published:
        hollow: dict[str, Any] = {
            "marker": marker_of(place),
            "markersize": 5.5,
            "linewidth": 0,
            "markerfacecolor": "none",
        }
        panel.plot([row.published[name]], [y], color="black", label=f"{name}, published", zorder=3, **hollow)


def line_figure(
    panels: Mapping[str, Mapping[str, Sequence[tuple[int, Estimate]]]],
    references: Mapping[str, Mapping[str, float]],
    xlabel: str,
    ylabel: str,
) -> bytes:
    """Estimates over a doubling axis, one line a series; `references` are level lines by panel and name."""

    def paint(figure: "Figure", axes: Sequence["Axes"]) -> None:
        ticks = sorted({x for lines in panels.values() for line in lines.values() for x, _ in line})
        for panel, (title, lines) in zip(axes, panels.items(), strict=True):
            for place, (name, line) in enumerate(lines.items()):
                _line(panel, line, name, place, len(lines))
            for place, (name, value) in enumerate(references.get(title, {}).items()):
                panel.axhline(
                    value,
                    color=GREY,
                    linewidth=0.8,
                    linestyle=((0, (4, 2)), (0, (1, 1.5)))[place % 2],
                    label=name,
                    zorder=0,
                )
            panel.set_title(title, fontsize=8, loc="left")
            panel.set_ylabel(ylabel)
            panel.set_ylim(bottom=0.0)
        axes[-1].set_xscale("log", base=2)
        axes[-1].set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        axes[-1].minorticks_off()
        figure.supxlabel(xlabel, fontsize=7.5)
        add_legend(figure, axes, columns=3)

    return draw([LINES_INCHES] * len(panels), paint)


def _line(panel: "Axes", line: Sequence[tuple[int, Estimate]], name: str, place: int, count: int) -> None:
    """A line whose marks stand a little beside their budget, so that whiskers of other lines stay visible."""
    shift = 1.0 + 0.03 * (place - (count - 1) / 2)
    known = [(x * shift, each.value, each.interval) for x, each in line if each.value is not None]
    style: dict[str, Any] = {"color": colour_of(place), "linewidth": 1.0, "marker": marker_of(place), "markersize": 4.0}
    panel.plot([x for x, _, _ in known], [y for _, y, _ in known], label=name, **style)
    for x, _, interval in known:
        if interval is not None:
            panel.plot([x, x], [interval.low, interval.high], color=colour_of(place), linewidth=0.8)


def share_figure(panels: Mapping[str, Mapping[str, Mapping[str, int]]], xlabel: str) -> bytes:
    """Stacked bars: panel -> row -> part -> count, each row drawn as shares of its own total."""

    def paint(figure: "Figure", axes: Sequence["Axes"]) -> None:
        for panel, (title, rows) in zip(axes, panels.items(), strict=True):
            for place, counts in enumerate(rows.values()):
                _shares(panel, place, counts)
            labels = [f"{name} (n = {sum(counts.values())})" for name, counts in rows.items()]
            panel.set_yticks(range(len(rows)), labels)
            panel.set_ylim(len(rows) - 0.4, -0.6)
            panel.set_xlim(0.0, 1.0)
            panel.tick_params(axis="y", length=0)
            panel.set_title(title, fontsize=8, loc="left")
        figure.supxlabel(xlabel, fontsize=7.5)
        add_legend(figure, axes)

    return draw([ROW_INCHES * (1.2 * len(rows) + 0.4) for rows in panels.values()], paint)


def _shares(panel: "Axes", y: int, counts: Mapping[str, int]) -> None:
    total = sum(counts.values())
    left = 0.0
    for place, (name, count) in enumerate(counts.items()):
        share = count / total if total else 0.0
        hatch = HATCHES[place % len(HATCHES)]
        bar: dict[str, Any] = {
            "color": colour_of(place),
            "hatch": hatch,
            "edgecolor": "white",
            "linewidth": 0.4,
            "height": 0.72,
        }
        panel.barh(y, share, left=left, label=name, **bar)
        if share >= LEAST_NUMBERED_SHARE:
            ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
            panel.text(left + share / 2, y, str(count), ha="center", va="center", fontsize=SMALL, bbox=ground)
        left += share


def scatter_figure(panels: Mapping[str, Sequence[Point]], xlabel: str, ylabel: str) -> bytes:
    """Series by colour and marker; a thin line joins the points of one series."""

    def paint(figure: "Figure", axes: Sequence["Axes"]) -> None:
        for panel, (title, points) in zip(axes, panels.items(), strict=True):
            for place, name in enumerate(dict.fromkeys(point.series for point in points)):
                _scatter(panel, [point for point in points if point.series == name], name, place)
            panel.set_title(title, fontsize=8, loc="left")
            panel.set_ylabel(ylabel)
            panel.margins(0.1)
        figure.supxlabel(xlabel, fontsize=7.5)
        add_legend(figure, axes, columns=3)

    return draw([SQUARE_INCHES] * len(panels), paint)


def _scatter(panel: "Axes", points: Sequence[Point], name: str, place: int) -> None:
    colour = colour_of(place)
    panel.plot([point.x for point in points], [point.y for point in points], color=colour, linewidth=0.6, zorder=1)
    for point in points:
        face = "white" if point.hollow else colour
        mark: dict[str, Any] = {"marker": marker_of(place), "markersize": 5.0, "linewidth": 0, "color": colour}
        label = None if point.hollow else name
        panel.plot([point.x], [point.y], markerfacecolor=face, label=label, zorder=2 + point.hollow, **mark)
