"""Stage `break_down`: where one system's store serves better than another's."""

from memgauge.datasets.prepared import read_prepared
from memgauge.experiments.breakdown import alignments, break_down
from memgauge.params import Params
from memgauge.report.experiment_numbers import breakdown_numbers
from memgauge.report.experiment_pages import breakdown_page
from memgauge.report.experiment_plots import breakdown_plot
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.experiment import check_systems, statistics_of, write_outputs
from memgauge.stages.items import cell_items
from memgauge.stages.layout import PREPARED
from memgauge.stages.shared import read_stores


def main(params: Params, benchmark: str) -> None:
    """Write `metrics/experiments/break_down/BENCHMARK.*`."""
    first, second = params["break_down"]["first"], params["break_down"]["second"]
    check_systems("break_down", [first, second], params["systems"])
    prepared, statistics = read_prepared(PREPARED / benchmark), statistics_of(params)
    stores = read_stores(benchmark, first, [history.id for history in prepared.histories])
    alignment = alignments(prepared, stores, sentence_encoder())
    found = [
        break_down(benchmark, reader, (first, arms[first]), (second, arms[second]), alignment, statistics)
        for reader, arms in cell_items(benchmark, params["readers"], [first, second]).items()
    ]
    page = breakdown_page(found, statistics.draws)
    write_outputs("break_down", benchmark, breakdown_numbers(found), page, breakdown_plot(found))
