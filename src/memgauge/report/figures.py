"""The loss of each system as a waterfall from OE down to RM, drawn to the same bytes every time."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memgauge.errors import InputError
from memgauge.protocol.diagnosis import Cell, Gaps
from memgauge.records import PRIMARY
from memgauge.report.numbers import number, signed
from memgauge.report.tables import TITLES
from memgauge.stats.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette: told apart with every common colour vision, and by lightness in grey.
WRITE, RETRIEVAL, REMAINS, REFERENCE = "#D55E00", "#56B4E9", "#009E73", "#444444"
COLUMN_INCHES = 3.4  # one column of a two-column page
ROW_INCHES, HEAD_INCHES = 0.17, 0.55
SLOT = 3.6  # rows a system takes: three bars and a space
TEXT_ROOM = 0.24  # share of the drawn width kept free for a number right of the longest bar
STYLE = {"font.size": 7.5, "font.family": "DejaVu Sans", "axes.linewidth": 0.6, "svg.hashsalt": "memgauge"}
LEGEND = ("write gap", "retrieval gap", "RM, what remains", "OE, only the evidence", "TFC, recent turns")


def loss_figure(cells: Sequence[Cell], metric: str = PRIMARY, kind: str = "png") -> bytes:
    """One panel a benchmark and reader, one step a gap: the bytes of a PNG or SVG picture.

    Each system has three bars: the write gap from OE to CSM, the retrieval gap from CSM to RM, and what
    remains, RM; whiskers are the 95 % question interval of that bar's length. A gap below 0 runs rightwards.
    Raises InputError when no cell scored the metric.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = _panels(cells, metric)
    if not panels:
        raise InputError(f"no cell has the metric {metric!r}; choose a metric that was scored")
    heights = [SLOT * len(chosen) + 1.0 for chosen in panels.values()]
    with matplotlib.rc_context(STYLE):
        inches = ROW_INCHES * sum(heights) + HEAD_INCHES * (len(panels) + 1)
        figure = Figure(figsize=(COLUMN_INCHES, inches), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        for panel, (title, chosen) in zip(axes, panels.items(), strict=True):
            _draw_panel(panel, title, chosen, metric)
        left = min(0.0, *(panel.dataLim.x0 for panel in axes))
        right = max(panel.dataLim.x1 for panel in axes)
        axes[-1].set_xlim(left * 1.05, right + TEXT_ROOM * (right - left))
        axes[-1].set_xticks([tick for tick in axes[-1].get_xticks() if 0 <= tick < min(right, 1.0) + 1e-9])
        figure.supxlabel(f"mean {TITLES[metric]}; whiskers 95 %", fontsize=7.5)
        handles = dict(zip(*reversed(axes[0].get_legend_handles_labels()), strict=True))
        names = [name for name in LEGEND if name in handles]
        entries = [handles[name] for name in names]
        figure.legend(entries, names, loc="outside upper center", ncols=2, frameon=False, handlelength=1.4)
        stream = io.BytesIO()
        metadata = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
        figure.savefig(stream, format=kind, dpi=300, metadata=metadata)
    return stream.getvalue()


def _panels(cells: Sequence[Cell], metric: str) -> dict[str, list[Cell]]:
    panels: dict[str, list[Cell]] = {}
    for cell in cells:
        if metric in cell.metrics:
            panels.setdefault(f"{cell.name.benchmark}, {cell.name.reader}", []).append(cell)
    return panels


def _draw_panel(axes: "Axes", title: str, cells: Sequence[Cell], metric: str) -> None:
    """The systems of one reader from top to bottom, with TFC as a line through all of them."""
    for place, cell in enumerate(cells):
        _draw_steps(axes, SLOT * place, cell.metrics[metric].gaps, labelled=place == 0)
    recent = cells[0].metrics[metric].references["TFC"].value
    if recent is not None:
        axes.axvline(recent, color=REFERENCE, linewidth=0.8, linestyle=(0, (1, 1.5)), label=LEGEND[4], zorder=0)
    axes.set_yticks([SLOT * place + 1 for place in range(len(cells))], [cell.name.system for cell in cells])
    axes.set_ylim(SLOT * len(cells) - 0.9, -0.9)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, fontsize=8, loc="left")


def _draw_steps(axes: "Axes", top: float, gaps: Gaps, labelled: bool) -> None:
    """Three bars below `top`; a whisker stands at the end that moves with the bar's length."""
    oe, csm = gaps.oe.value or 0.0, gaps.csm.value or 0.0
    steps = (
        (WRITE, oe, gaps.write, -1.0),
        (RETRIEVAL, csm, gaps.retrieval, -1.0),
        (REMAINS, 0.0, gaps.rm, 1.0),
    )
    for row, (colour, start, found, direction) in enumerate(steps):
        length = direction * (found.value or 0.0)
        label = LEGEND[row] if labelled else None
        axes.barh(top + row, length, left=start, height=0.82, color=colour, label=label)
        ends = [start, start + length]
        if found.interval is not None:
            ends += _whisker(axes, top + row, start, direction, found.interval)
        text = number(found.value, 2) if direction > 0 else signed(found.value, 2)
        ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        axes.text(max(ends) + 0.015, top + row, text, va="center", ha="left", fontsize=6.5, bbox=ground)
    edges = [top - 0.55, top + 2.55]
    label = LEGEND[3] if labelled else None
    axes.plot([oe, oe], edges, color=REFERENCE, linewidth=0.9, linestyle=(0, (4, 2)), label=label, zorder=0)


def _whisker(axes: "Axes", y: float, start: float, direction: float, bounds: Interval) -> list[float]:
    ends = sorted((start + direction * bounds.low, start + direction * bounds.high))
    axes.plot(ends, [y, y], color="black", linewidth=0.9)
    axes.plot(ends, [y, y], color="black", linewidth=0, marker="|", markersize=3.5, markeredgewidth=0.8)
    return ends
