"""Stage `compare`: which differences between systems are firm, by the paired bootstrap."""

from memgauge.errors import NothingScoredError
from memgauge.metrics.scoring import ScoredItem
from memgauge.params import Params
from memgauge.protocol.comparison import Ranking, rank_systems
from memgauge.records import PRIMARY
from memgauge.report.experiment_numbers import compare_numbers
from memgauge.report.experiment_pages import compare_page
from memgauge.report.experiment_plots import compare_plot
from memgauge.stages.experiment import statistics_of, write_outputs
from memgauge.stages.items import cell_items


def main(params: Params, benchmark: str) -> None:
    """Write `metrics/experiments/compare/BENCHMARK.*`; a system without a score under a condition has no row there."""
    statistics = statistics_of(params)
    rankings: list[Ranking] = []
    for reader, systems in cell_items(benchmark, params["readers"], params["systems"]).items():
        for condition in ("CSM", "RM"):
            chosen = {name: items for name, items in systems.items() if _has_score(items, condition)}
            if len(chosen) > 1:
                rankings.append(
                    rank_systems(benchmark, reader, chosen, condition, PRIMARY, statistics.draws, statistics.seed)
                )
    if not rankings:
        raise NothingScoredError(f"no two systems have a score on {benchmark!r}; look at the answers' statuses")
    page = compare_page(benchmark, rankings, statistics.draws)
    write_outputs("compare", benchmark, compare_numbers(rankings), page, compare_plot(rankings))


def _has_score(items: list[ScoredItem], condition: str) -> bool:
    return any(item.condition == condition and item.contains_match is not None for item in items)
