"""Stage `qpc`: price what every system and ablation took; quality per cost and its amortisation. No model is asked."""

from collections.abc import Iterator
from typing import Any

from memgauge.errors import InputError
from memgauge.experiments.amortisation import Curve, curve
from memgauge.experiments.depth_sweep import DepthPoint
from memgauge.experiments.qpc import QpcCell, costs_of
from memgauge.experiments.qpc_quality import Quality, qualities, question_types
from memgauge.experiments.qpc_summaries import Summaries, summaries_of
from memgauge.files import read_json, read_jsonl, write_bytes, write_json, write_text
from memgauge.llm.prices import PriceRow, check_prices, find_price
from memgauge.metrics.cost import Billing
from memgauge.params import Params
from memgauge.report.qpc_figures import amortisation_figure, cost_share_figure, depth_figure
from memgauge.report.qpc_numbers import amortisation_numbers, depth_numbers, qpc_numbers
from memgauge.report.qpc_pages import amortisation_page, depth_page, qpc_page
from memgauge.report.qpc_training_figure import training_figure
from memgauge.stages.layout import METRICS, QA
from memgauge.stages.qa_cells import QaCell, RoleUsed
from memgauge.stages.source_verdict import source_verdict
from memgauge.stats.intervals import mean

BASE = "memorycpt"  # the system that others' QPC is compared with


def main(params: Params) -> None:
    """Write `metrics/qpc.json`, `metrics/amortisation.json` and, below `metrics/qpc/`, pages and figures."""
    prices, billed_as = check_prices(params["prices"]), params["qpc"]["billed_as"]
    draws, seed, verdict = params["stats"]["draws"], params["seed"], source_verdict()
    found: list[Quality] = []
    made: list[Summaries] = []
    curves: list[Curve] = []
    for benchmark in params["benchmarks"]:
        cells = [priced_cell(each, benchmark, prices, billed_as) for each in _cells(benchmark, params["qpc_systems"])]
        if not cells:  # no question about a history of the split test
            continue
        overall = qualities(cells, draws, seed, BASE)
        by_type = [row for name in question_types(cells) for row in qualities(cells, draws, seed, BASE, name)]
        costs = [costs_of(cell) for cell in cells]
        summaries = [one for cell in cells if (one := summaries_of(cell)) is not None]
        own = [curve(cost, quality.f1.value) for cost, quality in zip(costs, overall, strict=True)]
        judges: Any = read_json(METRICS / "judge.json")
        deep = read_jsonl(QA / f"{benchmark}-depths.jsonl", QaCell)
        depths = [_depth(priced_cell(each, benchmark, prices, billed_as)) for each in deep]
        folder = METRICS / "qpc"
        page = qpc_page([*overall, *by_type], costs, summaries, draws, BASE, judges, verdict)
        write_text(folder / f"{benchmark}.md", page)
        write_text(folder / f"{benchmark}-amortisation.md", amortisation_page(own))
        write_bytes(folder / f"{benchmark}-amortisation.png", [amortisation_figure(own)])
        write_bytes(folder / f"{benchmark}-cost_share.png", [cost_share_figure(costs)])
        if depths:
            write_text(folder / f"{benchmark}-depths.md", depth_page(benchmark, depths))
            write_bytes(folder / f"{benchmark}-depths.png", [depth_figure({benchmark: depths})])
            write_json(folder / f"{benchmark}-depths.json", depth_numbers(depths))
        found, made, curves = [*found, *overall, *by_type], [*made, *summaries], [*curves, *own]
    trained: Any = read_json(METRICS / "train_summariser.json")
    write_bytes(METRICS / "qpc" / "training.png", [training_figure(trained["curves"])])
    write_json(METRICS / "qpc.json", {"alpha": trained["alpha"], **qpc_numbers(found, made)})
    write_json(METRICS / "amortisation.json", amortisation_numbers(curves))


def _cells(benchmark: str, systems: list[str]) -> Iterator[QaCell]:
    """MemoryCPT and its ablations first, then every system of the grid."""
    paths = [QA / f"{benchmark}-student.jsonl", *(QA / benchmark / f"{system}.jsonl" for system in systems)]
    for path in paths:
        yield from (cell for cell in read_jsonl(path, QaCell) if cell.asked)


def _depth(cell: QpcCell) -> DepthPoint:
    """One depth's mean scores and cost."""
    episodes, facts = map(int, cell.system.split("/"))
    cost = costs_of(cell).cost
    return DepthPoint(
        episodes,
        facts,
        mean([each.f1 for each in cell.asked if each.f1 is not None]),
        mean([each.strict for each in cell.asked if each.strict is not None]),
        None if cost is None else float(cost),
    )


def priced_cell(cell: QaCell, benchmark: str, prices: dict[str, PriceRow], billed_as: Params) -> QpcCell:
    """A cell with the prices of its roles."""
    billing = {role: _billing(role, used, prices, billed_as) for role, used in cell.roles.items()}
    return QpcCell(benchmark, cell.system, cell.label, billing, cell.stores, cell.asked, cell.kind)


def _billing(role: str, used: RoleUsed, prices: dict[str, PriceRow], billed_as: Params) -> Billing:
    """The row that `qpc.billed_as` names for the role, else the model's own; unknown where there is none."""
    name = billed_as.get(role)
    row = find_price(prices, name or used.solver)
    if name and row is None:
        raise InputError(f"qpc.billed_as.{role} is {name!r}, which prices.models does not have; add or correct it")
    return Billing(used.solver, row, used.counted)
