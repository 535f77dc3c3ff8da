"""Stage `degrade`: damage one system's stores and rankings and see which gap moves."""

from memgauge.datasets.prepared import read_prepared
from memgauge.experiments.degrade import AS_WRITTEN, settings, undamaged
from memgauge.experiments.significance import experiment
from memgauge.memory.catalogue import make_system
from memgauge.params import Params
from memgauge.report.experiment_numbers import degrade_numbers
from memgauge.report.experiment_pages import degrade_page
from memgauge.report.experiment_plots import degrade_plot
from memgauge.stages.experiment import check_systems, statistics_of, write_outputs
from memgauge.stages.layout import PREPARED
from memgauge.stages.shared import read_stores
from memgauge.stages.variants import cut_of, options_of, variant_items, writer_tools


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `metrics/experiments/degrade/BENCHMARK-READER.*`; the stores are the grid's, only damaged."""
    name, shares = params["degrade"]["system"], params["degrade"]["shares"]
    check_systems("degrade", [name], params["systems"])
    prepared = read_prepared(PREPARED / benchmark)
    system, tools = make_system(name, options_of(params, [name])[name]), writer_tools(params)
    stores = read_stores(benchmark, name, [history.id for history in prepared.histories])
    base = undamaged(prepared, system, stores, tools)
    kept = settings(base, system, tools, cut_of(params), shares, params["seed"])
    items = variant_items(prepared, params, reader, kept, "degrade")
    statistics = statistics_of(params)
    found = [experiment(benchmark, reader, arms, AS_WRITTEN, statistics) for arms in items.values()]
    page = degrade_page(found, name, statistics.draws)
    write_outputs("degrade", f"{benchmark}-{reader}", degrade_numbers(found), page, degrade_plot(found))
