"""Signs that the panels of passage budgets share: an estimate with its interval, the line at zero, a title."""

from typing import TYPE_CHECKING, Any

from memgauge.report.experiment_canvas import colour_of, marker_of
from memgauge.stats.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW_INCHES = 0.17
GREY = "#777777"


def height_of(rows: int) -> float:
    """Inches of a panel with one line a row."""
    return ROW_INCHES * rows + 0.25


def mark_row(
    panel: "Axes", y: float, value: float | None, interval: Interval | None, place: int, filled: bool, label: str | None
) -> None:
    """An estimate and its interval at height `y`, in the sign of the series at `place`."""
    colour = colour_of(place)
    if interval is not None:
        panel.plot([interval.low, interval.high], [y, y], color=colour, linewidth=1.0, zorder=1)
    if value is not None:
        face = colour if filled else "white"
        mark: dict[str, Any] = {"marker": marker_of(place), "markersize": 3.8, "linewidth": 0, "markerfacecolor": face}
        panel.plot([value], [y], color=colour, label=label, zorder=2, **mark)


def zero_line(panel: "Axes") -> None:
    """No change."""
    panel.axvline(0.0, color=GREY, linewidth=0.7, zorder=0)
    panel.tick_params(axis="y", length=0)
    panel.margins(x=0.12)


def panel_title(panel: "Axes", text: str) -> None:
    """A small heading at the left."""
    panel.set_title(text, fontsize=7.5, loc="left")
