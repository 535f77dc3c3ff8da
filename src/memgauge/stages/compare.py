"""Stage `compare`: which differences between systems are firm, by the paired bootstrap."""

from memgauge.errors import NothingScoredError
from memgauge.params import Params
from memgauge.report.experiment_numbers import compare_numbers
from memgauge.report.experiment_pages import compare_page
from memgauge.report.experiment_plots import compare_plot
from memgauge.stages.experiment import statistics_of, write_outputs
from memgauge.stages.items import cell_items, rank_all


def main(params: Params, benchmark: str) -> None:
    """Write `metrics/experiments/compare/BENCHMARK.*`; a system without a score under a condition has no row there."""
    statistics = statistics_of(params)
    items = cell_items(benchmark, params["readers"], params["systems"])
    ranked = rank_all(benchmark, items, statistics.draws, statistics.seed)
    rankings = [ranking for ranking in ranked if ranking.comparisons]
    if not rankings:
        raise NothingScoredError(f"no two systems have a score on {benchmark!r}; look at the answers' statuses")
    page = compare_page(benchmark, rankings, statistics.draws)
    write_outputs("compare", benchmark, compare_numbers(rankings), page, compare_plot(rankings))
