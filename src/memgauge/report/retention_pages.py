"""The retention experiment as one Markdown document and as nested numbers."""

from collections.abc import Mapping, Sequence

from memgauge.datasets.retention.wording import VARIANTS, WORDS, WRAPPERS
from memgauge.experiments.retention_endpoints import Contest
from memgauge.report.experiment_numbers import key_of
from memgauge.report.retention_published import published_retention
from memgauge.report.retention_tables import (
    FULL,
    Tallies,
    arm_tokens,
    contest_table,
    groups_table,
    outcome_table,
    policy_table,
    published_facts_table,
    published_table,
)
from memgauge.report.summary import Numbers

RENDERINGS = len(WORDS) * len(WRAPPERS) * len(VARIANTS)  # stimuli of a family
INTRO = (
    "A user sets, changes or accepts three slots (item, place, duration) while an assistant offers values. In the "
    "direct variant the last item is stated; in the reference variant the user accepts a named earlier offer, and "
    "nothing else differs. A policy keeps part of the messages, and a reader says what the slots hold. Variants, "
    "vocabularies and timestamp wrappers of one family are no independent cases; ranges are what missing replies "
    "leave open, not confidence intervals."
)
HOW = (
    "Right: all three slots as the whole history settles them, but for case. Text sufficient: the retained messages "
    "settle that state, whoever reads. Slots matched: mean share over replies that came. Supported: the reply says "
    "what the retained text says; unresolved where that text accepts an offer that is not there, so that even a "
    "right value is a guess. Missing: no complete reply in the required form."
)
MATCHING = (
    "`recency` fills the prompt of `user_history`; `full_guidance` and `full_placebo` are of one length, and so are "
    "`oracle_removed` and `oracle_restored`: labelled filler makes up the difference, token by token. Prompt tokens "
    "are counted with {counters}. The oracle arms put back the offer that the experiment knows to matter and could "
    "not be deployed; `reference_following` reads from the kept text which offer is named."
)
EXTRACTIVE = (
    "The extractive reader parses the retained text and answers what it supports: its counts are the most that a "
    "reader without guesses can reach."
)


def retention_page(
    found: Tallies, contests: Mapping[str, Sequence[Contest]], counters: Mapping[str, str], families: int
) -> str:
    """The whole document; `counters` say by reader how tokens were counted, `families` how many there are."""
    parts = [
        "# Message retention",
        INTRO,
        _sizes(found, families),
        f"## Outcomes\n\n{HOW} {EXTRACTIVE}\n\n{outcome_table(found)}",
        f"## What the policies keep\n\n{MATCHING.format(counters=_counters(counters))}\n\n{policy_table(found)}",
        f"## By family\n\n{contest_table(contests)}",
        f"## Replies by group\n\n{groups_table(found)}",
        f"## Published, for reference\n\n{published_table()}\n\n{_published()}",
    ]
    return "\n\n".join(parts) + "\n"


def retention_numbers(found: Tallies) -> Numbers:
    """reader -> arm -> variant -> counts; the share of prompt tokens saved stands beside the variants."""
    tree: Numbers = {}
    for reader, tallies in found.items():
        tokens = arm_tokens(tallies)
        arms: Numbers = {}
        for arm, used in tokens.items():
            saved = 1 - used / tokens[FULL] if FULL in tokens else None
            node: Numbers = {"prompt_tokens": used, "saved": saved}
            for each in tallies:
                if each.arm == arm:
                    node[each.variant] = {
                        **{"n": each.n, "families": each.families, "correct": each.correct, "missing": each.missing},
                        **{"sufficient": each.sufficient, "slots_matched": each.slots_matched},
                        **{key_of(kind): count for kind, count in each.support.items() if kind != "missing"},
                    }
            arms[key_of(arm)] = node
        tree[key_of(reader)] = arms
    return tree


def _sizes(found: Tallies, families: int) -> str:
    lines = []
    for reader, tallies in found.items():
        asked, read = sum(each.n for each in tallies), max(each.families for each in tallies)
        part = f"all {families} families" if read == families else f"the first {read} of {families} families"
        each_family = sum(each.n for each in tallies if each.arm == tallies[0].arm) // read
        part += f", {each_family} of {RENDERINGS} stimuli each" if each_family < RENDERINGS else ""
        lines.append(f"- `{reader}` read {part}: {asked:,} requests.")
    return "\n".join(lines)


def _counters(counters: Mapping[str, str]) -> str:
    return ", ".join(f"{name} (`{reader}`)" for reader, name in counters.items())


def _published() -> str:
    found = published_retention()
    verdicts = (
        "Verdicts: exact follows from other printed numbers, design from how stimuli and arms are made, draw depends "
        "on the drawn families, reference (as are all counts of right states) needs the paper's own replies. Other "
        "families and other readers than ours."
    )
    return f"{published_facts_table()}\n\nPublished: {found.source} ({found.unit}). {verdicts}"
