"""Pictures of message retention: right states beside what the text supports, replies by group, each slot's fate."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memgauge.datasets.retention.wording import VARIANTS
from memgauge.experiments.retention_endpoints import Tally
from memgauge.report.experiment_canvas import add_legend, draw
from memgauge.report.experiment_figures import share_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW_INCHES = 0.26
SIGNS = {"direct": ("#D55E00", "o", -0.17), "reference": ("#0072B2", "D", 0.17)}
GREY = "#777777"
SLOT_ARMS = ("full_history", "user_history")  # paper C, figure 6


def outcome_figure(found: Mapping[str, Sequence[Tally]]) -> bytes:
    """A panel a reader, a row an arm: right states as a share, missing replies as a line, sufficiency as a tick."""

    def paint(figure: "Figure", axes: Sequence["Axes"]) -> None:
        for panel, (reader, tallies) in zip(axes, found.items(), strict=True):
            arms = list(dict.fromkeys(each.arm for each in tallies))
            for each in tallies:
                _mark(panel, arms.index(each.arm), each)
            panel.set_yticks(range(len(arms)), [arm.replace("_", " ") for arm in arms])
            panel.set_ylim(len(arms) - 0.4, -0.6)
            panel.set_xlim(-0.03, 1.03)
            panel.tick_params(axis="y", length=0)
            panel.grid(axis="x", color="#DDDDDD", linewidth=0.5)
            panel.set_axisbelow(True)
            cases = sorted({each.n for each in tallies})
            panel.set_title(f"{reader} (n = {'-'.join(map(str, cases))} a mark)", fontsize=8, loc="left")
        figure.supxlabel("share of full-source states", fontsize=7.5)
        add_legend(figure, axes)

    heights = [ROW_INCHES * (len({each.arm for each in tallies}) + 0.6) for tallies in found.values()]
    return draw(heights, paint)


def _mark(panel: "Axes", row: int, tally: Tally) -> None:
    colour, marker, shift = SIGNS[tally.variant]
    right, y = tally.correct / tally.n, row + shift
    tick: dict[str, Any] = {"color": GREY, "marker": "|", "markersize": 8, "markeredgewidth": 1.4, "linewidth": 0}
    panel.plot([tally.sufficient / tally.n], [y], label="text sufficient", zorder=1, **tick)
    if tally.missing:
        ends = [right, (tally.correct + tally.missing) / tally.n]
        panel.plot(ends, [y, y], color=colour, linewidth=1.0, label=f"{tally.variant}, if missing were right", zorder=2)
    style: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 4.2, "linewidth": 0}
    panel.plot([right], [y], label=f"{tally.variant}, right", zorder=3, **style)


def group_figure(found: Mapping[str, Sequence[Tally]]) -> bytes:
    """Five exclusive groups of replies under user and under full history (paper C, figure 6A)."""
    panels = {
        reader: {
            f"{arm.replace('_', ' ')}, {each.variant}": {str(group): count for group, count in each.groups.items()}
            for arm in reversed(SLOT_ARMS)
            for each in tallies
            if each.arm == arm
        }
        for reader, tallies in found.items()
    }
    return share_figure(panels, "share of requests")


def slot_figure(found: Mapping[str, Sequence[Tally]]) -> bytes:
    """What became of each slot under full and under user history (paper C, figure 6B)."""
    panels = {
        f"{reader}, {arm.replace('_', ' ')}": {
            f"{slot}, {each.variant}": {str(fate): count for fate, count in fates.items()}
            for variant in VARIANTS
            for each in tallies
            if (each.arm, each.variant) == (arm, variant)
            for slot, fates in each.slots.items()
        }
        for reader, tallies in found.items()
        for arm in SLOT_ARMS
    }
    return share_figure(panels, "share of requests")
