"""Stage `run_degrade`: read the grid's own stores and rankings of one system, whole and damaged."""

from memgauge.datasets.prepared import read_prepared
from memgauge.experiments.degrade import settings, undamaged
from memgauge.memory.catalogue import make_system
from memgauge.params import Params
from memgauge.stages.layout import PREPARED
from memgauge.stages.run_arms import write_arms
from memgauge.stages.shared import read_stores
from memgauge.stages.variants import cut_of, writer_tools


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `data/arms/degrade/BENCHMARK-READER.jsonl`; nothing is written anew, so all histories are used."""
    chosen, prepared = params["degrade"], read_prepared(PREPARED / benchmark)
    name = chosen["system"]
    system, tools = make_system(name, params[f"memory.{name}"]), writer_tools(params)
    stores = read_stores(benchmark, name, [history.id for history in prepared.histories])
    base = undamaged(prepared, system, stores, tools)
    kept = settings(base, system, tools, cut_of(params), chosen["shares"], params["seed"])
    write_arms(params, "degrade", prepared, reader, kept)
