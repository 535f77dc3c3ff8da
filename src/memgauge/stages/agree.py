"""Stage `agree`: whether contains match and token F1 order systems and conditions alike."""

from memgauge.errors import NothingScoredError
from memgauge.experiments.agreement import Agreement, agreement
from memgauge.metrics.scoring import ScoredItem
from memgauge.params import Params
from memgauge.protocol.diagnosis import Cell, CellName, diagnose_cell
from memgauge.records import PRIMARY
from memgauge.report.experiment_numbers import agreement_numbers
from memgauge.report.experiment_pages import agreement_page
from memgauge.report.experiment_plots import agreement_plot
from memgauge.stages.experiment import write_outputs
from memgauge.stages.items import cell_items

ONE_DRAW = 1  # only means are read here, no interval


def main(params: Params, benchmark: str) -> None:
    """Write `metrics/experiments/agree/BENCHMARK.*`; a cell in which nothing could be scored is left out."""
    found: list[Agreement] = []
    for reader, systems in cell_items(benchmark, params["readers"], params["systems"]).items():
        cells = [cell for name, items in systems.items() for cell in _cells(CellName(benchmark, reader, name), items)]
        if cells:
            found.append(agreement(cells, PRIMARY, "token_f1"))
    if not found:
        raise NothingScoredError(f"no system has a score on {benchmark!r}; look at the answers' statuses")
    write_outputs("agree", benchmark, agreement_numbers(found), agreement_page(found), agreement_plot(found))


def _cells(name: CellName, items: list[ScoredItem]) -> list[Cell]:
    try:
        return [diagnose_cell(name, items, ONE_DRAW, margin=0.0, seed=0)]
    except NothingScoredError:
        return []
