"""Stage `diagnose`: split each cell's loss into gaps, with intervals, labels, tables and a figure."""

from collections import Counter

from tqdm import tqdm

from memgauge.errors import NothingScoredError
from memgauge.files import read_jsonl, write_bytes, write_json, write_text
from memgauge.params import Params
from memgauge.protocol.conditions import EMPTY_STORE
from memgauge.protocol.diagnosis import Cell, CellName, diagnose_cell
from memgauge.protocol.effort import Effort, effort
from memgauge.records import Context
from memgauge.report.figures import loss_figure
from memgauge.report.summary import diagnosis_json, markdown_report
from memgauge.stages.items import cell_items, rank_all
from memgauge.stages.layout import CONTEXTS, METRICS
from memgauge.stages.shared import read_stores


def main(params: Params, benchmark: str) -> None:
    """Write `metrics/cells/BENCHMARK.json`, `metrics/tables/BENCHMARK.md` and `metrics/figures/BENCHMARK.png`.

    A cell in which nothing could be scored is named in all but the figure; raises NothingScoredError, before
    anything is written, when that is every cell.
    """
    stats, seed = params["stats"], params["seed"]
    draws, margin = stats["draws"], float(stats["margin"])
    items = cell_items(benchmark, params["readers"], params["systems"])
    warnings = {system: _warnings(benchmark, system) for system in params["systems"]}
    cells: list[Cell] = []
    unscored: dict[CellName, NothingScoredError] = {}
    grid = [(reader, *pair) for reader, by_system in items.items() for pair in by_system.items()]
    for reader, system, scored in tqdm(grid, desc=f"diagnose {benchmark}", unit="cell", delay=2):
        name = CellName(benchmark, reader, system)
        try:
            cells.append(diagnose_cell(name, scored, draws, margin, seed, warnings[system]))
        except NothingScoredError as error:
            unscored[name] = error
    if not cells:
        raise NothingScoredError("; ".join(map(str, unscored.values())))
    rankings = rank_all(benchmark, items, draws, seed)
    write_json(METRICS / "cells" / f"{benchmark}.json", diagnosis_json(cells, unscored)[benchmark])
    efforts = [_effort(benchmark, system) for system in params["systems"]]
    page = markdown_report(cells, draws, margin, rankings, unscored, efforts, params["retrieval"])
    write_text(METRICS / "tables" / f"{benchmark}.md", page)
    write_bytes(METRICS / "figures" / f"{benchmark}.png", [loss_figure(cells)])


def _effort(benchmark: str, system: str) -> Effort:
    contexts = read_jsonl(CONTEXTS / benchmark / f"{system}.jsonl", Context)
    return effort(system, read_stores(benchmark, system).values(), contexts)


def _warnings(benchmark: str, system: str) -> dict[str, int]:
    """Warnings by name and unit: those of stores by history, those of RM contexts by question."""
    counts: Counter[str] = Counter()
    for store in read_stores(benchmark, system).values():
        counts.update(f"{warning} (histories)" for warning in store.warnings)
    for context in read_jsonl(CONTEXTS / benchmark / f"{system}.jsonl", Context):
        # An empty store is repeated on every context read from it.
        counts.update(f"{warning} (questions)" for warning in context.warnings if warning != EMPTY_STORE)
    return dict(counts)
