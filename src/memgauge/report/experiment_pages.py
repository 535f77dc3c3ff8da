"""One Markdown document an experiment and benchmark: what was asked, the tables, the published numbers beside ours."""

from collections.abc import Mapping, Sequence

from memgauge.experiments.agreement import Agreement
from memgauge.experiments.breakdown import Breakdown
from memgauge.experiments.cost_matched import WriteCost
from memgauge.experiments.significance import Change, Experiment
from memgauge.experiments.weights import Spread
from memgauge.protocol.comparison import Ranking
from memgauge.report.experiment_published import Key, findings_table, opposite, rows_table, slips
from memgauge.report.experiment_tables import (
    agreement_table,
    apart_table,
    arms_table,
    breakdown_table,
    changes_table,
    cost_table,
    gap_changes_table,
)
from memgauge.report.numbers import number, signed
from memgauge.report.tables import ranking_table
from memgauge.stats.intervals import Estimate

Changes = Mapping[str, Mapping[str, Change]]  # reader -> arm or pair -> change

HOW = (
    "Scores are contains match. Intervals are 95 % percentile intervals of {draws:,} paired bootstrap draws over "
    "questions; clustered redraws whole groups of histories. p is the one-sided share of draws at or below 0. "
    "n/a is undefined, never 0."
)
DEGRADE = (
    "Damage of a known kind to `{system}`: entries dropped at random after writing, or the first hits of each "
    "ranking replaced by random ones of its bottom share. A gap that measures its link rises with damage of that "
    "link alone. The oracles do one link without loss: the writer keeps the evidence turns of all questions, "
    "the retriever ranks entries that cover the evidence first."
)
ABLATE = "`{system}` without single parts, against the whole system and against `{reference}`."
WEIGH = "`{system}` with other weights, against its own and against `{reference}`."
SWEEP = (
    "The write budget varied; the read budget and the number of retrieved entries stay. Changes are against "
    "`{reference}` at the same budget."
)
MATCH = "What writing took beside what it kept. An extractive writer solves tasks without calling a model."
BREAK = (
    "CSM of `{first}` minus CSM of `{second}` by question type, and by alignment: a question's largest cosine to "
    "the questions its history's `{first}` store was written for, split at the median."
)
COMPARE = "Every two systems of one reader under CSM and under RM, paired by question."
AGREE = "Of all pairs of (system, condition) means how many contains match and token F1 order alike."


def degrade_page(found: Sequence[Experiment], system: str, draws: int) -> str:
    """Controlled degradation."""
    return _page(
        "Controlled degradation",
        found[0].benchmark,
        f"{DEGRADE.format(system=system)} {HOW.format(draws=draws)}",
        ("Means and gaps", arms_table(found, "setting")),
        ("Change against the undamaged system", gap_changes_table(found)),
        ("Published, for reference", findings_table("degrade", {})),
    )


def ablation_page(
    experiment: str,
    found: Sequence[Experiment],
    over_reference: Changes,
    changed: Mapping[str, tuple[int, int]],
    reference: str,
    system: str,
    draws: int,
    spreads: Mapping[str, Spread | None] | None = None,
) -> str:
    """Component ablation (`ablate`) or weight sensitivity (`weigh`, with the spread by reader)."""
    title, text = ("Component ablation", ABLATE) if experiment == "ablate" else ("Weight sensitivity", WEIGH)
    over_full = own_changes(found)
    sections = [
        ("Means and gaps", arms_table(found)),
        ("Change against the whole system", changes_table(over_full, "arm", draws)),
        (f"Change against {reference}", changes_table(over_reference, "arm", draws)),
        ("Histories whose store differs from the whole system's", _changed(changed)),
    ]
    if spreads:
        sections.append(("Spread", "\n".join(_spread(reader, each, reference) for reader, each in spreads.items())))
    ours = _keyed({"over full": over_full, "over reference": over_reference})
    sections.append(("Published, for reference", findings_table(experiment, ours)))
    intro = f"{text.format(system=system, reference=reference)} {HOW.format(draws=draws)}"
    return _page(title, found[0].benchmark, intro, *sections)


def sweep_page(found: Mapping[int, Sequence[Experiment]], reference: str, draws: int) -> str:
    """The budget sweep, one section a budget."""
    sections = []
    ours: dict[str, dict[Key, Estimate]] = {}
    for budget, experiments in found.items():
        changes = own_changes(experiments)
        tables = f"{arms_table(experiments, 'system')}\n\n{changes_table(changes, 'system', draws)}"
        sections.append((f"{budget:,} tokens", tables))
        for reader, by_arm in changes.items():
            keyed = {(f"{arm} - {reference}, {budget}", "difference"): each.csm for arm, each in by_arm.items()}
            ours.setdefault(reader, {}).update(keyed)
    sections.append(
        ("Published, for reference", f"{findings_table('sweep', ours, slips('sweep'))}\n\n{rows_table('sweep')}")
    )
    benchmark = next(iter(found.values()))[0].benchmark
    intro = f"{SWEEP.format(reference=reference)} {HOW.format(draws=draws)}"
    return _page("Write-budget sweep", benchmark, intro, *sections)


def cost_page(found: Sequence[Experiment], costs: Sequence[WriteCost], steps: Changes, draws: int) -> str:
    """The cost-matched comparison; `steps` are the changes from each system to the next."""
    ours = _keyed({"difference": steps})
    return _page(
        "Cost-matched comparison",
        found[0].benchmark,
        f"{MATCH} {HOW.format(draws=draws)}",
        ("What writing took", cost_table(costs)),
        ("Means and gaps", arms_table(found, "system")),
        ("From one system to the next", changes_table(steps, "pair", draws)),
        ("Published, for reference", f"{findings_table('match_cost', ours)}\n\n{rows_table('cost')}"),
    )


def breakdown_page(found: Sequence[Breakdown], draws: int) -> str:
    """Where one system's store serves better than another's."""
    ours = {each.reader: {(part.name, "difference"): part.difference for part in each.parts} for each in found}
    lines = [
        f"- {each.reader}: median alignment {number(each.median_alignment)}; "
        f"{each.without_alignment} questions without an alignment"
        for each in found
    ]
    return _page(
        "Where the first system's store serves better",
        found[0].benchmark,
        f"{BREAK.format(first=found[0].first, second=found[0].second)} {HOW.format(draws=draws)}",
        ("By part of the benchmark", breakdown_table(found, draws)),
        ("Alignment", "\n".join(lines)),
        ("Published, for reference", findings_table("break_down", ours)),
    )


def compare_page(benchmark: str, rankings: Sequence[Ranking], draws: int) -> str:
    """Paired significance of every two systems."""
    ours: dict[str, dict[Key, Estimate]] = {}
    for ranking in rankings:
        for pair in ranking.comparisons:
            found = ours.setdefault(ranking.reader, {})
            found[f"{pair.first} - {pair.second}, {ranking.condition}", "difference"] = pair.difference
            found[f"{pair.second} - {pair.first}, {ranking.condition}", "difference"] = opposite(pair.difference)
    sections = (
        ("Pairs", ranking_table(rankings, draws)),
        ("Published, for reference", findings_table("compare", ours)),
    )
    return _page("Which differences are firm", benchmark, f"{COMPARE} {HOW.format(draws=draws)}", *sections)


def agreement_page(found: Sequence[Agreement]) -> str:
    """Agreement of the two answer metrics."""
    sections = [("Agreement", agreement_table(found))]
    if any(each.apart for each in found):
        sections.append(("Pairs ordered apart", apart_table(found)))
    sections.append(("Published, for reference", findings_table("agree", {})))
    return _page("Do the metrics order systems alike?", found[0].benchmark, AGREE, *sections)


def own_changes(found: Sequence[Experiment]) -> dict[str, dict[str, Change]]:
    """Changes against each experiment's own base, by reader and arm."""
    return {each.reader: {arm.name: arm.change for arm in each.arms if arm.change is not None} for each in found}


def _keyed(changes: Mapping[str, Changes]) -> dict[str, dict[Key, Estimate]]:
    """Changes of CSM by reader and (item, quantity), as the findings ask for them."""
    ours: dict[str, dict[Key, Estimate]] = {}
    for quantity, by_reader in changes.items():
        for reader, by_arm in by_reader.items():
            ours.setdefault(reader, {}).update({(arm, quantity): each.csm for arm, each in by_arm.items()})
    return ours


def _spread(reader: str, found: Spread | None, reference: str) -> str:
    if found is None:
        return f"- {reader}: nothing scored"
    below = ", ".join(found.below_reference) or "none"
    worst = f"{found.most_harmful} ({signed(found.largest_drop)})" if found.most_harmful else "none"
    return (
        f"- {reader}: CSM from {number(found.low)} to {number(found.high)}; largest drop: {worst}; "
        f"below {reference}: {below}"
    )


def _changed(changed: Mapping[str, tuple[int, int]]) -> str:
    return "\n".join(f"- {name}: {some} of {every}" for name, (some, every) in changed.items())


def _page(title: str, benchmark: str, intro: str, *sections: tuple[str, str]) -> str:
    parts = [f"# {title}: {benchmark}", intro, *(f"## {heading}\n\n{text}" for heading, text in sections)]
    return "\n\n".join(parts) + "\n"
