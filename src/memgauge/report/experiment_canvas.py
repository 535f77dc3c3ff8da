"""What the experiments' figures share: one column wide, same fonts and colours, same bytes every time."""

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memgauge.errors import InputError
from memgauge.report.figures import COLUMN_INCHES, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette without its yellow, too light for a thin line on white, and with a grey.
COLOURS = ("#D55E00", "#56B4E9", "#009E73", "#0072B2", "#E69F00", "#CC79A7", "#000000", "#8C8C8C")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # a second sign beside colour
LEGEND_INCHES, FOOT_INCHES, TITLE_INCHES = 0.3, 0.45, 0.25
SMALL = 6.5


def draw(heights: Sequence[float], paint: Callable[["Figure", Sequence["Axes"]], None], share_x: bool = True) -> bytes:
    """A PNG with one panel a height (inches); `paint` draws into them and adds the legend and labels.

    Raises InputError when there is no panel: an experiment without any number has no figure.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if not heights:
        raise InputError("there is nothing to draw; look at why no arm of the experiment was scored")
    with matplotlib.rc_context(STYLE):
        inches = sum(heights) + TITLE_INCHES * len(heights) + LEGEND_INCHES + FOOT_INCHES
        figure = Figure(figsize=(COLUMN_INCHES, inches), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(len(heights), 1, sharex=share_x, squeeze=False, height_ratios=list(heights))[:, 0]
        for panel in axes:
            panel.spines[["top", "right"]].set_visible(False)
        paint(figure, list(axes))
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=300, metadata={"Software": None})
    return stream.getvalue()


def add_legend(figure: "Figure", panels: Sequence["Axes"], columns: int = 2) -> None:
    """One legend above all panels, every name once, in order of appearance."""
    found = [pair for panel in panels for pair in zip(*panel.get_legend_handles_labels(), strict=True)]
    handles = {name: handle for handle, name in reversed(found)}
    names = list(dict.fromkeys(name for _, name in found))
    if names:
        shown = [handles[name] for name in names]
        figure.legend(
            shown, names, loc="outside upper center", ncols=columns, frameon=False, handlelength=1.4, fontsize=SMALL
        )


def colour_of(place: int) -> str:
    """The colour of the series at a place; it repeats after eight, its marker with it."""
    return COLOURS[place % len(COLOURS)]


def marker_of(place: int) -> str:
    """The marker of the series at a place."""
    return MARKERS[place % len(MARKERS)]
