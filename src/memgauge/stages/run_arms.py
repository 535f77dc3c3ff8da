"""What the stages that run arms do alike; what the arms show is another stage's work."""

from collections.abc import Sequence

from memgauge.datasets.prepared import read_prepared
from memgauge.experiments.ablations import ablation_variants, changed_stores
from memgauge.files import write_jsonl
from memgauge.params import Params
from memgauge.protocol.variants import Kept
from memgauge.records import Benchmark
from memgauge.stages.items import Arm, arms_path
from memgauge.stages.layout import PREPARED
from memgauge.stages.shared import first_histories
from memgauge.stages.variants import keep_variants, variant_items


def limited(params: Params, benchmark: str) -> Benchmark:
    """The histories whose stores arms write anew: the costly part of an arm."""
    return first_histories(read_prepared(PREPARED / benchmark), params["variant_histories"])


def write_arms(
    params: Params, experiment: str, prepared: Benchmark, reader: str, kept: Sequence[Kept], system: str | None = None
) -> None:
    """Let the reader answer; write `data/arms/EXPERIMENT/BENCHMARK-READER.jsonl`, one arm a line with its items.

    With a system its arms stand in a file of their own, `BENCHMARK-READER/SYSTEM.jsonl`.
    """
    changed = changed_stores(kept)
    items = variant_items(prepared, params, reader, kept, experiment)
    arms = [Arm(each.name, *changed.get(each.name, (0, 0)), tuple(items[each.name])) for each in kept]
    write_jsonl(arms_path(experiment, prepared.name, reader, system), arms)


def run_changed(params: Params, experiment: str, benchmark: str, reader: str) -> None:
    """One system whole and with other options, and the reference, all at the grid's budget."""
    chosen, prepared = params[experiment], limited(params, benchmark)
    options = {name: params[f"memory.{name}"] for name in (chosen["system"], chosen["reference"])}
    budget = params[f"benchmark.{benchmark}.write_budget_tokens"]
    variants = ablation_variants(chosen["system"], chosen["arms"], chosen["reference"], options, budget)
    write_arms(params, experiment, prepared, reader, keep_variants(prepared, params, variants, experiment))
