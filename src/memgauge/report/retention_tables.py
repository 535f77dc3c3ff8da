"""Tables of message retention: right states and support by arm, what text each policy keeps, and the paper's counts."""

from collections.abc import Mapping, Sequence

from memgauge.datasets.retention.wording import VARIANTS
from memgauge.experiments.retention_endpoints import Contest, Tally
from memgauge.report.markdown import markdown_table
from memgauge.report.numbers import UNDEFINED, number, percent
from memgauge.report.retention_published import (
    READERS,
    RIGHT,
    published_arms,
    published_count,
    published_counts,
    published_retention,
)

FULL = "full_history"
Tallies = Mapping[str, Sequence[Tally]]  # reader -> arm by arm, direct before reference


def outcome_table(found: Tallies) -> str:
    """Right full-source states with the bounds of missing replies, partial match and support."""
    header = [
        *("reader", "arm", "variant", "right", "of", "families", "published of 64", "text sufficient"),
        *("slots matched", "supported", "unsupported", "unresolved", "missing"),
    ]
    rows = [
        [
            *(reader, each.arm, each.variant, _bounded(each.correct, each.missing), str(each.n), str(each.families)),
            *(published_count(each.arm, each.variant), str(each.sufficient), number(each.slots_matched, 2)),
            *(str(each.support[kind]) for kind in ("supported", "unsupported", "unresolved", "missing")),
        ]
        for reader, tallies in found.items()
        for each in tallies
    ]
    return markdown_table(header, rows)


def policy_table(found: Tallies) -> str:
    """What the arms keep: messages and prompt tokens against full history, and whether the text still suffices."""
    header = [
        "reader",
        "arm",
        "messages kept",
        "prompt tokens",
        "saved against full",
        "sufficient: direct",
        "reference",
    ]
    rows = []
    for reader, tallies in found.items():
        tokens = arm_tokens(tallies)
        for arm, used in tokens.items():
            own = [each for each in tallies if each.arm == arm]
            kept = percent(sum(each.kept for each in own) / sum(each.messages for each in own))
            saved = UNDEFINED if FULL not in tokens else percent(1 - used / tokens[FULL], 1)
            share = {each.variant: f"{each.sufficient} of {each.n}" for each in own}
            ends = (share.get("direct", UNDEFINED), share.get("reference", UNDEFINED))
            rows.append([reader, arm, kept, f"{used:,}", saved, *ends])
    return markdown_table(header, rows)


def arm_tokens(tallies: Sequence[Tally]) -> dict[str, int]:
    """Prompt tokens of each arm over both variants."""
    tokens: dict[str, int] = {}
    for each in tallies:
        tokens[each.arm] = tokens.get(each.arm, 0) + each.prompt_tokens
    return tokens


def contest_table(found: Mapping[str, Sequence[Contest]]) -> str:
    """Families by which of two arms is right more often."""
    header = ["reader", "first", "second", "variant", "families: first more often", "equal", "second more often"]
    rows = [
        [reader, each.first, each.second, each.variant, str(each.more), str(each.equal), str(each.fewer)]
        for reader, contests in found.items()
        for each in contests
    ]
    return markdown_table(header, rows)


def groups_table(found: Tallies) -> str:
    """Replies in five exclusive groups."""
    rows = [
        [reader, each.arm, each.variant, *(str(count) for count in each.groups.values())]
        for reader, tallies in found.items()
        for each in tallies
    ]
    titles = list(next(each.groups for tallies in found.values() for each in tallies))
    return markdown_table(["reader", "arm", "variant", *titles], rows)


def published_table() -> str:
    """The paper's counts of both readers."""
    titles = [f"{reader}: {variant}" for reader in READERS for variant in VARIANTS]
    return markdown_table(["arm (right of 64)", *titles], [[arm, *published_counts(arm)] for arm in published_arms()])


def published_facts_table() -> str:
    """What else the paper prints, with what recomputing it gave."""
    rows = [
        [
            *(each.what, " ".join(filter(None, (each.reader, each.arm, each.variant))), f"{each.value:g}"),
            *(str(each.n), each.verdict, each.remark),
        ]
        for each in published_retention().rows
        if each.what != RIGHT
    ]
    return markdown_table(["published", "of", "value", "n", "verdict", "remark"], rows)


def _bounded(correct: int, missing: int) -> str:
    """A count, or the two that missing replies leave open.

    >>> _bounded(2, 0), _bounded(2, 1)
    ('2', '2-3')
    """
    return str(correct) if not missing else f"{correct}-{correct + missing}"
