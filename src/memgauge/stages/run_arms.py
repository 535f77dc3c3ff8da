"""Stage `run_arms`: write, retrieve and read the arms of one experiment; what they show is another stage's work."""

from collections.abc import Callable

from memgauge.datasets.prepared import read_prepared
from memgauge.experiments.ablations import ablation_variants, changed_stores
from memgauge.experiments.budget_sweep import sweep_variants
from memgauge.experiments.degrade import settings, undamaged
from memgauge.files import write_jsonl
from memgauge.memory.catalogue import make_system
from memgauge.params import Params
from memgauge.protocol.variants import Kept, Variant
from memgauge.records import Benchmark
from memgauge.stages.items import Arm, arms_path
from memgauge.stages.layout import PREPARED
from memgauge.stages.shared import first_histories, read_stores
from memgauge.stages.variants import cut_of, keep_variants, options_of, variant_items, writer_tools


def main(params: Params, experiment: str, benchmark: str, reader: str) -> None:
    """Write `data/arms/EXPERIMENT/BENCHMARK-READER.jsonl`, one arm a line with its scored items."""
    prepared = read_prepared(PREPARED / benchmark)
    if experiment in WRITING:
        prepared = first_histories(prepared, params["variant_histories"])
    kept = KEEP[experiment](params, experiment, prepared)
    changed = changed_stores(kept)
    items = variant_items(prepared, params, reader, kept, experiment)
    arms = [Arm(each.name, *changed.get(each.name, (0, 0)), tuple(items[each.name])) for each in kept]
    write_jsonl(arms_path(experiment, benchmark, reader), arms)


def _damaged(params: Params, experiment: str, prepared: Benchmark) -> list[Kept]:
    """The grid's own stores and rankings of one system, whole and damaged."""
    chosen = params[experiment]
    name = chosen["system"]
    system, tools = make_system(name, options_of(params, [name])[name]), writer_tools(params)
    stores = read_stores(prepared.name, name, [history.id for history in prepared.histories])
    base = undamaged(prepared, system, stores, tools)
    return list(settings(base, system, tools, cut_of(params), chosen["shares"], params["seed"]))


def _swept(params: Params, experiment: str, prepared: Benchmark) -> list[Kept]:
    chosen = params[experiment]
    variants = sweep_variants(chosen["systems"], chosen["budgets"], options_of(params, chosen["systems"]))
    return keep_variants(prepared, params, variants, experiment)


def _changed(params: Params, experiment: str, prepared: Benchmark) -> list[Kept]:
    chosen = params[experiment]
    options = options_of(params, [chosen["system"], chosen["reference"]])
    budget = params[f"benchmark.{prepared.name}.write_budget_tokens"]
    variants: list[Variant] = ablation_variants(chosen["system"], chosen["arms"], chosen["reference"], options, budget)
    return keep_variants(prepared, params, variants, experiment)


WRITING = ("sweep", "ablate", "weigh")  # arms with stores of their own, the costly part of an arm
KEEP: dict[str, Callable[[Params, str, Benchmark], list[Kept]]] = {
    "degrade": _damaged,
    "sweep": _swept,
    "ablate": _changed,
    "weigh": _changed,
}
