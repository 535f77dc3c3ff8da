"""Stage `sweep`: vary the write budget of several systems under one read budget."""

from memgauge.datasets.prepared import read_prepared
from memgauge.experiments.budget_sweep import arm_name, sweep_variants
from memgauge.experiments.significance import Experiment, experiment
from memgauge.params import Params
from memgauge.report.experiment_numbers import arms_numbers
from memgauge.report.experiment_pages import sweep_page
from memgauge.report.experiment_plots import sweep_plot
from memgauge.stages.experiment import statistics_of, write_outputs
from memgauge.stages.layout import PREPARED
from memgauge.stages.variants import keep_variants, options_of, variant_items


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `metrics/experiments/sweep/BENCHMARK-READER.*`; the first system is the reference."""
    systems, budgets = params["sweep"]["systems"], params["sweep"]["budgets"]
    reference, statistics = systems[0], statistics_of(params)
    prepared = read_prepared(PREPARED / benchmark)
    variants = sweep_variants(systems, budgets, options_of(params, systems))
    items = variant_items(prepared, params, reader, keep_variants(prepared, params, variants, "sweep"), "sweep")
    found: dict[int, list[Experiment]] = {}
    for budget in sorted(budgets):
        for arms in items.values():
            at_budget = {system: arms[arm_name(system, budget)] for system in systems}
            found.setdefault(budget, []).append(experiment(benchmark, reader, at_budget, reference, statistics))
    numbers = {str(budget): arms_numbers(each) for budget, each in found.items()}
    write_outputs(
        "sweep", f"{benchmark}-{reader}", numbers, sweep_page(found, reference, statistics.draws), sweep_plot(found)
    )
