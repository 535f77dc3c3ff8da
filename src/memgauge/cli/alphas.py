"""`memgauge alphas`: the sweep of alpha as recorded: bars, and F1 against cost."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memgauge.errors import InputError

NAMES = ("alpha", "f1", "cost_usd", "qpc", "qpc_qa", "summary_tokens", "empty_share")
MAY_LACK = ("cost_usd", "qpc", "qpc_qa")  # undefined where a price is unknown


def add(commands: Any) -> None:
    """Add the command to the parser."""
    alphas = commands.add_parser("alphas", help="draw the recorded runs of `dvc exp run -S alpha=...` by alpha")
    alphas.add_argument("--benchmark", default="synthetic", help="default: synthetic")
    alphas.add_argument("--out", type=Path, default=Path("alphas"), help="folder of the page and the figure")
    alphas.set_defaults(run=_alphas)


def _alphas(options: argparse.Namespace) -> None:
    from memgauge.experiments.alpha_sweep import by_alpha, read_runs
    from memgauge.files import write_bytes, write_text
    from memgauge.report.qpc_figures import alpha_figure
    from memgauge.report.qpc_pages import alpha_page
    from memgauge.stages.layout import pipeline_root
    from memgauge.tracking import recorded

    runs = recorded(pipeline_root(), "qpc", options.benchmark)
    if not runs:
        raise InputError(
            f"no recorded run trained a summariser on {options.benchmark}; "
            "run `dvc exp run --queue -S alpha=0.2,0.4,0.6,0.8,1.0` and `dvc queue start`"
        )
    found = read_runs(newest(runs))
    page = alpha_page(options.benchmark, by_alpha(found))
    write_text(options.out / f"{options.benchmark}.md", page)
    write_bytes(options.out / f"{options.benchmark}.png", [alpha_figure(found)])
    print(page)
    print(f"figure: {options.out / options.benchmark}.png")


def newest(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The newest run of each alpha and seed, as numbers: a repeated run replaces the earlier one.

    >>> runs = [{"alpha": "0.6", "seed": "1", "f1": 0.5}, {"alpha": "0.6", "seed": "1", "f1": 0.4}]
    >>> [(run["alpha"], run["f1"]) for run in newest(runs)]
    [(0.6, 0.5)]
    """
    kept: dict[tuple[str, str], dict[str, Any]] = {}
    for run in runs:
        record = {name: float(run[name]) if name in run else None for name in NAMES if name in run or name in MAY_LACK}
        kept.setdefault((run["alpha"], run["seed"]), record)
    return list(kept.values())
