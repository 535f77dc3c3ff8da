"""Stage `run_sweep`: write, retrieve and read one system at every budget of the sweep."""

from memgauge.experiments.budget_sweep import sweep_variants
from memgauge.params import Params
from memgauge.stages.run_arms import limited, write_arms
from memgauge.stages.variants import keep_variants


def main(params: Params, benchmark: str, reader: str, system: str) -> None:
    """Write `data/arms/sweep/BENCHMARK-READER/SYSTEM.jsonl`."""
    prepared = limited(params, benchmark)
    variants = sweep_variants([system], params["sweep.budgets"], {system: params[f"memory.{system}"]})
    write_arms(params, "sweep", prepared, reader, keep_variants(prepared, params, variants, f"sweep {system}"), system)
