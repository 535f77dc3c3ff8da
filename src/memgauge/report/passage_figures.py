"""The picture of passage budgets: score and recall over tokens, paired changes, abilities, answerability, firmness."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from memgauge.experiments.passage_contrasts import Contrast, Interaction
from memgauge.experiments.passage_study import Study
from memgauge.report.experiment_canvas import SMALL, colour_of, draw, marker_of
from memgauge.report.numbers import signed
from memgauge.report.passage_panels import ROW_INCHES, height_of, mark_row, panel_title, zero_line
from memgauge.report.passage_stability_panels import FIRMNESS_ROWS, firmness_panel, worst_case_panel
from memgauge.stats.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVE_INCHES, WORST_INCHES = 1.7, 1.1


def study_figure(found: Study) -> bytes:
    """PNG: what each budget scores and holds, its paired change, by ability and answerability, and how firm it is."""
    panels = _change_panels(found)

    def paint(figure: "Figure", axes: Sequence["Axes"]) -> None:
        first, *changes, firmness, last = axes
        _curves(first, found)
        for panel, (_, fill) in zip(changes, panels, strict=True):
            fill(panel)
        left = min(panel.get_xlim()[0] for panel in changes)
        right = max(panel.get_xlim()[1] for panel in changes)
        for panel in changes:
            panel.set_xlim(left, right)
        changes[-1].set_xlabel(f"change in points against {found.reference} passages", fontsize=7.5)
        firmness_panel(firmness, found)
        worst_case_panel(last, found)

    heights = [CURVE_INCHES, *(height for height, _ in panels), height_of(FIRMNESS_ROWS), WORST_INCHES]
    return draw(heights, paint, share_x=False)


def _change_panels(found: Study) -> list[tuple[float, Callable[["Axes"], None]]]:
    """Height and painter of every panel on the one scale of changes that subsets need."""
    panels: list[tuple[float, Callable[[Axes], None]]] = [
        (height_of(len(found.contrasts)), lambda panel: _changes(panel, found))
    ]
    if abilities := len({each.name for each in found.abilities}):
        per_row = len({each.budget for each in found.abilities})
        panels.append((ROW_INCHES * 0.62 * per_row * abilities + 0.25, lambda panel: _abilities(panel, found)))
    if found.subgroups or found.interactions:
        rows = len(found.subgroups) + len(found.interactions)
        panels.append((height_of(rows), lambda panel: _answerability(panel, found)))
    return panels


def _curves(panel: "Axes", found: Study) -> None:
    """Mean points and evidence recall, both from 0 to 100, over tokens in percent of the reference's."""
    known = [each for each in found.curves if each.token_share is not None]
    shares = [100 * (each.token_share or 0.0) for each in known]
    lines = {
        "mean score (points)": [each.mean for each in known],
        "evidence recall (%)": [None if each.recall is None else 100 * each.recall for each in known],
    }
    for place, (name, values) in enumerate(lines.items()):
        marks = [(x, y) for x, y in zip(shares, values, strict=True) if y is not None]
        style: dict[str, Any] = {
            "color": colour_of(place),
            "marker": marker_of(place),
            "markersize": 4.0,
            "linewidth": 1.0,
        }
        panel.plot([x for x, _ in marks], [y for _, y in marks], label=name, **style)
    panel.set_xscale("log")
    panel.set_xticks(shares, [f"{share:.0f}%\n({each.budget})" for share, each in zip(shares, known, strict=True)])
    panel.minorticks_off()
    panel.set_ylim(0.0, 100.0)
    panel.tick_params(axis="x", labelsize=SMALL)
    panel.set_xlabel("reader tokens, % of reference\n(passages)", fontsize=7.5)
    panel.legend(frameon=False, fontsize=SMALL, loc="best")
    panel_title(panel, "Score and evidence")


def _changes(panel: "Axes", found: Study) -> None:
    rows = [(f"{each.budget} ({each.change.n})", each.change.value, each.change.clustered) for each in found.contrasts]
    _forest(panel, rows, primary=[each.budget == found.primary for each in found.contrasts])
    panel_title(panel, "Passages (complete pairs), 95 %")


def _abilities(panel: "Axes", found: Study) -> None:
    """One row an ability, one mark a budget; the planned budget's are filled."""
    names = list(dict.fromkeys(each.name for each in found.abilities))
    budgets = list(dict.fromkeys(each.budget for each in found.abilities))
    step = len(budgets) + 1
    for each in found.abilities:
        place = budgets.index(each.budget)
        y = names.index(each.name) * step + place
        label = f"{each.budget}" if each.name == names[0] else None
        mark_row(panel, y, each.change.value, each.change.clustered, place, each.budget == found.primary, label)
    middles = [at * step + (len(budgets) - 1) / 2 for at in range(len(names))]
    panel.set_yticks(middles, [_counted(name, found.abilities) for name in names])
    panel.set_ylim(len(names) * step - 1.0, -1.0)
    zero_line(panel)
    panel.legend(frameon=False, fontsize=SMALL, loc="best", title="passages", title_fontsize=SMALL)
    panel_title(panel, "Ability (complete pairs), 95 %")


def _counted(name: str, contrasts: Sequence[Contrast]) -> str:
    """The ability with the fewest and most complete pairs of its budgets."""
    pairs = [each.change.n for each in contrasts if each.name == name]
    count = str(pairs[0]) if len(set(pairs)) == 1 else f"{min(pairs)}-{max(pairs)}"
    *first, last = name.replace("-", "_").split("_")
    return f"{' '.join(first)}\n{last} ({count})" if first else f"{last} ({count})"


def _answerability(panel: "Axes", found: Study) -> None:
    rows = [(f"{each.name} ({each.change.n})", each.change.value, each.change.clustered) for each in found.subgroups]
    rows += [(_interaction_name(each), each.value.value, each.value.clustered) for each in found.interactions]
    _forest(panel, rows, primary=[False] * len(found.subgroups) + [True] * len(found.interactions))
    panel_title(panel, f"{found.primary} passages, 95 % (interaction 97.5 %)")


def _interaction_name(each: Interaction) -> str:
    return f"interaction, {each.tier}" if each.tier != "all" else "interaction"


def _forest(panel: "Axes", rows: Sequence[tuple[str, float | None, Interval | None]], primary: Sequence[bool]) -> None:
    for y, ((_, value, interval), strong) in enumerate(zip(rows, primary, strict=True)):
        mark_row(panel, y, value, interval, 0 if strong else 3, True, None)
        if value is not None:
            text = signed(value, 1)
            panel.annotate(text, (value, y), (0, 3), textcoords="offset points", ha="center", fontsize=SMALL - 1.0)
    panel.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    panel.set_ylim(len(rows) - 0.4, -0.9)
    zero_line(panel)
