"""Stage `ablate`: take single parts out of one system."""

from memgauge.params import Params
from memgauge.stages.arms import compare_arms, write_arms


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `metrics/experiments/ablate/BENCHMARK-READER.*`."""
    write_arms("ablate", params, benchmark, reader, compare_arms("ablate", params, benchmark, reader), spreads={})
