"""Stage `sweep`: show what several systems keep at growing write budgets under one read budget."""

from memgauge.experiments.budget_sweep import arm_name
from memgauge.experiments.significance import experiment
from memgauge.params import Params
from memgauge.report.experiment_numbers import arms_numbers
from memgauge.report.experiment_pages import sweep_page
from memgauge.report.experiment_plots import sweep_plot
from memgauge.stages.experiment import statistics_of, write_outputs
from memgauge.stages.items import arm_items, read_arms


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `metrics/experiments/sweep/BENCHMARK-READER.*`; the first system is the reference."""
    systems, statistics = params["sweep"]["systems"], statistics_of(params)
    arms = arm_items([arm for system in systems for arm in read_arms("sweep", benchmark, reader, system)])
    found = {}
    for budget in sorted(params["sweep"]["budgets"]):
        at_budget = {system: arms[arm_name(system, budget)] for system in systems}
        found[budget] = [experiment(benchmark, reader, at_budget, systems[0], statistics)]
    numbers = {str(budget): arms_numbers(each) for budget, each in found.items()}
    page = sweep_page(found, systems[0], statistics.draws)
    write_outputs("sweep", f"{benchmark}-{reader}", numbers, page, sweep_plot(found))
