"""Stage `run_weigh`: write, retrieve and read one system with other weights, and the reference."""

from memgauge.params import Params
from memgauge.stages.run_arms import run_changed


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `data/arms/weigh/BENCHMARK-READER.jsonl`."""
    run_changed(params, "weigh", benchmark, reader)
