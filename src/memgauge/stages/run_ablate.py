"""Stage `run_ablate`: write, retrieve and read one system with single parts taken out, and the reference."""

from memgauge.params import Params
from memgauge.stages.run_arms import run_changed


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `data/arms/ablate/BENCHMARK-READER.jsonl`."""
    run_changed(params, "ablate", benchmark, reader)
