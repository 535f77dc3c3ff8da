"""Stage `weigh`: give one system other weights."""

from memgauge.experiments.weights import spread
from memgauge.params import Params
from memgauge.report.experiment_pages import ablation_page
from memgauge.stages.arms import run_arms, write_arms


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `metrics/experiments/weigh/BENCHMARK-READER.*`."""
    chosen = params["weigh"]
    arms = run_arms("weigh", params, chosen, benchmark, reader)
    spreads = {each.reader: spread(each, chosen["reference"]) for each in arms.found}
    page = ablation_page(
        "weigh",
        arms.found,
        arms.over_reference,
        arms.changed_stores,
        chosen["reference"],
        chosen["system"],
        params["stats"]["draws"],
        spreads,
    )
    write_arms("weigh", f"{benchmark}-{reader}", arms, page)
