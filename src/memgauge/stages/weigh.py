"""Stage `weigh`: give one system other weights."""

from memgauge.experiments.weights import spread
from memgauge.params import Params
from memgauge.stages.arms import compare_arms, write_arms


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `metrics/experiments/weigh/BENCHMARK-READER.*`."""
    arms = compare_arms("weigh", params, benchmark, reader)
    spreads = {each.reader: spread(each, params["weigh"]["reference"]) for each in arms.found}
    write_arms("weigh", params, benchmark, reader, arms, spreads)
