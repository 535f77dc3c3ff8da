"""Stage `ablate`: take single parts out of one system."""

from memgauge.params import Params
from memgauge.report.experiment_pages import ablation_page
from memgauge.stages.arms import run_arms, write_arms


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `metrics/experiments/ablate/BENCHMARK-READER.*`."""
    chosen = params["ablate"]
    arms = run_arms("ablate", params, chosen, benchmark, reader)
    page = ablation_page(
        "ablate",
        arms.found,
        arms.over_reference,
        arms.changed_stores,
        chosen["reference"],
        chosen["system"],
        params["stats"]["draws"],
    )
    write_arms("ablate", f"{benchmark}-{reader}", arms, page)
