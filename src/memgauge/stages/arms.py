"""What `ablate` and `weigh` do alike: compare one system's arms with the whole system and a reference."""

from collections.abc import Mapping
from dataclasses import dataclass

from memgauge.experiments.ablations import FULL
from memgauge.experiments.significance import Change, Experiment, experiment, gap_change
from memgauge.experiments.weights import Spread
from memgauge.params import Params
from memgauge.report.experiment_numbers import arms_numbers, changes_numbers, key_of
from memgauge.report.experiment_pages import ablation_page
from memgauge.report.experiment_plots import ablation_plot
from memgauge.stages.experiment import statistics_of, write_outputs
from memgauge.stages.items import arm_items, read_arms


@dataclass(frozen=True, slots=True)
class Arms:
    """Arms against the whole system, by reader and arm against the reference; how many stores each arm changes."""

    found: list[Experiment]
    over_reference: dict[str, dict[str, Change]]
    changed_stores: dict[str, tuple[int, int]]


def compare_arms(stage: str, params: Params, benchmark: str, reader: str) -> Arms:
    """Compare the arms that `run_ablate` or `run_weigh` left for the stage."""
    statistics, reference = statistics_of(params), params[stage]["reference"]
    stored = read_arms(stage, benchmark, reader)
    arms = arm_items(stored)
    over_reference = {name: gap_change(arms[reference], arms[name], statistics) for name in arms if name != reference}
    changed = {each.name: (each.changed_stores, each.stores) for each in stored if each.name != FULL}
    return Arms([experiment(benchmark, reader, arms, FULL, statistics)], {reader: over_reference}, changed)


def write_arms(
    stage: str, params: Params, benchmark: str, reader: str, arms: Arms, spreads: Mapping[str, Spread | None]
) -> None:
    """Write the three outputs of one stage; `spreads`, by reader, belong to weights."""
    chosen = params[stage]
    page = ablation_page(
        stage,
        arms.found,
        arms.over_reference,
        arms.changed_stores,
        chosen["reference"],
        chosen["system"],
        params["stats"]["draws"],
        spreads,
    )
    numbers = {
        "arms": arms_numbers(arms.found),
        "over_reference": changes_numbers(arms.over_reference),
        "changed_stores": {key_of(arm): changed for arm, (changed, _) in arms.changed_stores.items()},
    }
    write_outputs(stage, f"{benchmark}-{reader}", numbers, page, ablation_plot(stage, arms.found))
