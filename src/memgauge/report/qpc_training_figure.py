"""The curves of training, step by step: reward and its parts, completion length, KL, what could not be scored."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from memgauge.report.experiment_canvas import add_legend, colour_of, draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Step = Mapping[str, Any]
STEP = "step"
PANEL_INCHES = 0.95
# Title of a panel -> key of a step's record -> name of its line ("" for the only one).
PANELS: Mapping[str, Mapping[str, str]] = {
    "reward and its parts": {"reward": "reward", "f1": "F1 part", "saving": "cost part (saving)"},
    "completion length (tokens)": {"completion_tokens": ""},
    "KL to the reference": {"kl": ""},
    "share of completions": {"unscorable": "unscorable", "empty": "empty"},
}
WINDOW = 0.1  # of all steps, for the running mean
DASHES: tuple[Any, ...] = ("solid", (0, (4, 1.5)), (0, (1, 1)))


def training_figure(steps: Sequence[Step], panels: Mapping[str, Mapping[str, str]] = PANELS) -> bytes:
    """One panel a group of curves over `step`: pale what was measured, dark the running mean of a tenth of the steps.

    A key that no step has a number for is left out, and a panel without any with it; None and NaN are gaps.
    Raises InputError when nothing is left.
    """
    shown = {
        title: {key: name for key, name in keys.items() if _curve(steps, key)}
        for title, keys in panels.items()
        if any(_curve(steps, key) for key in keys)
    }
    width = max(1, round(WINDOW * len(steps)))
    names = list(dict.fromkeys(name for keys in shown.values() for name in keys.values() if name))

    def paint(figure: "Figure", axes: Sequence["Axes"]) -> None:
        for panel, (title, keys) in zip(axes, shown.items(), strict=True):
            for at, (key, name) in enumerate(keys.items()):
                colour = colour_of(names.index(name) if name else len(names))
                _paint(panel, _curve(steps, key), name, {"color": colour, "linestyle": DASHES[at % len(DASHES)]}, width)
            panel.set_title(title, fontsize=8, loc="left")
            panel.margins(y=0.12)
        figure.supxlabel("training step", fontsize=7.5)
        add_legend(figure, axes, columns=3)

    return draw([PANEL_INCHES] * len(shown), paint)


def running_mean(values: Sequence[float], width: int) -> list[float]:
    """The mean of each value and up to `width` - 1 before it.

    >>> running_mean([1.0, 3.0, 5.0], 2)
    [1.0, 2.0, 4.0]
    """
    return [sum(values[max(0, end - width) : end]) / (end - max(0, end - width)) for end in range(1, len(values) + 1)]


def _curve(steps: Sequence[Step], key: str) -> list[tuple[float, float]]:
    """The steps that have a number under the key."""
    found = []
    for place, each in enumerate(steps):
        value = each.get(key)
        if isinstance(value, int | float) and isfinite(value):
            found.append((float(each.get(STEP, place + 1)), float(value)))
    return found


def _paint(
    panel: "Axes", curve: Sequence[tuple[float, float]], name: str, style: Mapping[str, Any], width: int
) -> None:
    places, values = [x for x, _ in curve], [y for _, y in curve]
    panel.plot(places, values, color=style["color"], linewidth=0.6, alpha=0.35)
    panel.plot(places, running_mean(values, width), label=name or "_", linewidth=1.3, **style)
