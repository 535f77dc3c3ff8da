"""How firm the planned change is, in two panels (paper C, figure 4C-D)."""

from typing import TYPE_CHECKING, Any

from memgauge.experiments.passage_study import Study
from memgauge.report.experiment_canvas import SMALL, colour_of
from memgauge.report.passage_panels import GREY, mark_row, panel_title, zero_line
from memgauge.stats.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIRMNESS_ROWS = 4
Row = tuple[str, float | None, Interval | None]


def firmness_panel(panel: "Axes", found: Study) -> None:
    """Every deletion of one group as a tick; then the interval, equal group weights, bounds of missing pairs.

    Only the row of the 95 % interval is a confidence interval.
    """
    each = found.stability
    deleted = [value for value in each.deletions.values() if value is not None]
    ticks: dict[str, Any] = {"color": GREY, "marker": "|", "markersize": 6, "markeredgewidth": 0.7, "linewidth": 0}
    panel.plot(deleted, [0] * len(deleted), **ticks)
    rows = _rows(found)
    for y, (_, value, interval) in enumerate(rows, start=1):
        mark_row(panel, y, value, interval, 0 if y == 1 else 3, True, None)
    panel.set_yticks(range(len(rows) + 1), [f"{len(deleted)} deletions", *(name for name, _, _ in rows)])
    panel.set_ylim(len(rows) + 0.6, -0.9)
    zero_line(panel)
    panel_title(panel, f"Firmness, {found.primary} passages (points)")


def _rows(found: Study) -> list[Row]:
    planned = next(each for each in found.contrasts if each.budget == found.primary)
    free = found.stability.missing
    point = free.low if free is not None and free.low == free.high else None  # no pair is missing: a mark, no line
    return [
        ("95 % interval", planned.change.value, planned.change.clustered),
        ("equal weights", found.stability.equal_weights, None),
        (f"{found.stability.missing_pairs} pairs free", point, free),
    ]


def worst_case_panel(panel: "Axes", found: Study) -> None:
    """The lowest and highest mean when so many complete pairs may change arbitrarily, missing ones free throughout."""
    each = found.stability
    known = [(count, bounds) for count, bounds in each.worst_cases.items() if bounds is not None]
    counts = [count for count, _ in known]
    low, high = [bounds.low for _, bounds in known], [bounds.high for _, bounds in known]
    colour = colour_of(3)
    panel.fill_between(counts, low, high, color=colour, alpha=0.15, linewidth=0)
    for values in (low, high):
        panel.plot(counts, values, color=colour, marker="o", markersize=2.6, linewidth=0.9)
    panel.axhline(0.0, color=GREY, linewidth=0.7, zorder=0)
    if each.flips is not None:
        panel.axvline(each.flips, color=colour_of(0), linewidth=0.9, linestyle="--")
        at = (each.flips, panel.get_ylim()[1])
        panel.annotate(f" {each.flips} erase the sign", at, va="top", fontsize=SMALL, color=colour_of(0))
    panel.set_xlabel("pairs changed arbitrarily", fontsize=7.5)
    panel_title(panel, "Worst-case bounds (points)")
