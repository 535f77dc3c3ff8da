"""What experiment stages do alike: read the grid's scores, write the three outputs."""

from collections.abc import Mapping, Sequence
from typing import Any

from memgauge.errors import InputError
from memgauge.experiments.significance import Statistics
from memgauge.files import write_bytes, write_json, write_text
from memgauge.params import Params
from memgauge.stages.layout import METRICS


def statistics_of(params: Params) -> Statistics:
    """Draws, margin and seed."""
    return Statistics(params["stats"]["draws"], float(params["stats"]["margin"]), params["seed"])


def check_systems(stage: str, named: Sequence[str], systems: Sequence[str]) -> None:
    """Raises InputError when an experiment names a system that the grid does not run."""
    for system in named:
        if system not in systems:
            raise InputError(f"{stage} names system {system!r}, which is not among `systems`: {', '.join(systems)}")


def write_outputs(stage: str, benchmark: str, numbers: Mapping[str, Any], page: str, picture: bytes) -> None:
    """Write `metrics/experiments/STAGE/BENCHMARK.json`, `.md` and `.png`."""
    folder = METRICS / "experiments" / stage
    write_json(folder / f"{benchmark}.json", numbers)
    write_text(folder / f"{benchmark}.md", page)
    write_bytes(folder / f"{benchmark}.png", [picture])
