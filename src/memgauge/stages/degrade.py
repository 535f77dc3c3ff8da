"""Stage `degrade`: show which gap moves when one system's stores and rankings are damaged."""

from memgauge.experiments.degrade import AS_WRITTEN
from memgauge.experiments.significance import experiment
from memgauge.params import Params
from memgauge.report.experiment_numbers import degrade_numbers
from memgauge.report.experiment_pages import degrade_page
from memgauge.report.experiment_plots import degrade_plot
from memgauge.stages.experiment import statistics_of, write_outputs
from memgauge.stages.items import arm_items, read_arms


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `metrics/experiments/degrade/BENCHMARK-READER.*`; the stores are the grid's, only damaged."""
    statistics = statistics_of(params)
    arms = arm_items(read_arms("degrade", benchmark, reader))
    found = [experiment(benchmark, reader, arms, AS_WRITTEN, statistics)]
    page = degrade_page(found, params["degrade"]["system"], statistics.draws)
    write_outputs("degrade", f"{benchmark}-{reader}", degrade_numbers(found), page, degrade_plot(found))
