"""What `ablate` and `weigh` do alike: run one system's arms and compare each with the whole system and a reference."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memgauge.datasets.prepared import read_prepared
from memgauge.experiments.ablations import FULL, ablation_variants, changed_stores
from memgauge.experiments.significance import Change, Experiment, experiment, gap_change
from memgauge.params import Params
from memgauge.report.experiment_numbers import arms_numbers, changes_numbers, key_of
from memgauge.report.experiment_plots import ablation_plot
from memgauge.stages.experiment import statistics_of, write_outputs
from memgauge.stages.layout import PREPARED
from memgauge.stages.variants import keep_variants, options_of, variant_items


@dataclass(frozen=True, slots=True)
class Arms:
    """Arms against the whole system, by reader and arm against the reference; how many stores each arm changes."""

    found: list[Experiment]
    over_reference: dict[str, dict[str, Change]]
    changed_stores: dict[str, tuple[int, int]]


def run_arms(stage: str, params: Params, chosen: Mapping[str, Any], benchmark: str, reader: str) -> Arms:
    """Write, read and compare the arms that `chosen` names."""
    system, reference, statistics = chosen["system"], chosen["reference"], statistics_of(params)
    prepared = read_prepared(PREPARED / benchmark)
    options = options_of(params, [system, reference])
    budget = params[f"benchmark.{benchmark}.write_budget_tokens"]
    variants = ablation_variants(system, chosen["arms"], reference, options, budget)
    kept = keep_variants(prepared, params, variants, stage)
    items = variant_items(prepared, params, reader, kept, stage)
    over_reference = {
        reader: {name: gap_change(arms[reference], arms[name], statistics) for name in arms if name != reference}
        for reader, arms in items.items()
    }
    found = [experiment(benchmark, reader, arms, FULL, statistics) for reader, arms in items.items()]
    return Arms(found, over_reference, changed_stores(kept))


def write_arms(stage: str, name: str, arms: Arms, page: str) -> None:
    """Write the three outputs of one stage."""
    numbers = {
        "arms": arms_numbers(arms.found),
        "over_reference": changes_numbers(arms.over_reference),
        "changed_stores": {key_of(arm): changed for arm, (changed, _) in arms.changed_stores.items()},
    }
    write_outputs(stage, name, numbers, page, ablation_plot(stage, arms.found))
