"""Stage `match_cost`: what systems keep beside what writing took them."""

from itertools import pairwise

from memgauge.experiments.cost_matched import write_cost
from memgauge.experiments.significance import experiment, gap_change
from memgauge.params import Params
from memgauge.report.experiment_numbers import arms_numbers, changes_numbers, cost_numbers
from memgauge.report.experiment_pages import cost_page
from memgauge.report.experiment_plots import cost_plot
from memgauge.stages.experiment import check_systems, statistics_of, write_outputs
from memgauge.stages.items import cell_items
from memgauge.stages.shared import read_stores


def main(params: Params, benchmark: str) -> None:
    """Write `metrics/experiments/match_cost/BENCHMARK.*`; systems are compared in the order they are named."""
    systems, statistics = params["match_cost"]["systems"], statistics_of(params)
    check_systems("match_cost", systems, params["systems"])
    items = cell_items(benchmark, params["readers"], systems)
    found = [experiment(benchmark, reader, arms, systems[0], statistics) for reader, arms in items.items()]
    steps = {
        reader: {f"{b} - {a}": gap_change(arms[a], arms[b], statistics) for a, b in pairwise(systems)}
        for reader, arms in items.items()
    }
    costs = [write_cost(system, read_stores(benchmark, system).values()) for system in systems]
    numbers = {"arms": arms_numbers(found), "steps": changes_numbers(steps), "cost": cost_numbers(costs)}
    page = cost_page(found, costs, steps, statistics.draws)
    write_outputs("match_cost", benchmark, numbers, page, cost_plot(found))
