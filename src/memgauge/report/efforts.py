"""Markdown tables of what writing and retrieving took and failed at; every count of a store stands in some column."""

from collections.abc import Mapping, Sequence

from memgauge.protocol.effort import Effort
from memgauge.report.markdown import markdown_table
from memgauge.report.numbers import number
from memgauge.report.tables import count_text

# Column: the counts that it adds up.
FAILED: dict[str, tuple[str, ...]] = {
    "failed sessions": ("sessions_failed", "proposals_failed", "selections_failed"),
    "malformed": ("records_malformed",),
    "made-up sources": ("records_made_up_source", "sources_out_of_range", "sources_unknown"),
    "not of the session": ("lines_ungrounded", "records_ungrounded"),
    "surplus": ("questions_surplus",),
}
STOPPED: dict[str, tuple[str, ...]] = {
    "walks stopped": ("walks_stopped_by_failure",),
    "walks out of steps": ("walks_out_of_steps",),
    "questions without a page": ("questions_without_page",),
}
COVERAGE = ("entries", "turns_total", "turns_covered", "sessions_total", "sessions_covered")


def writing_table(efforts: Sequence[Effort]) -> str:
    """One row a system, sums over all histories; without a language model there are tasks and no calls."""
    header = [
        *("system", "histories", "units", "tokens kept", "turns covered", "tasks", "calls", "input tokens"),
        *("output tokens", "status not ok", *FAILED, "other counts"),
    ]
    rows = []
    for each in efforts:
        counts = each.writing
        covered = f"{counts.get('turns_covered', 0)} of {counts.get('turns_total', 0)}"
        amounts = (str(each.histories), str(each.entries), str(each.store_tokens), covered)
        rows.append([each.system, *amounts, *_taken(counts, "writer", FAILED, COVERAGE)])
    return markdown_table(header, rows)


def reading_table(efforts: Sequence[Effort], k: int, mode: str, read_budget_tokens: int) -> str:
    """One row a system: the cut that was asked for and what was really read under RM, a question in the mean."""
    header = [
        *("system", "questions", "mode", "k", "read budget", "units read", "tokens read", "chooser tasks"),
        *("calls", "input tokens", "output tokens", "status not ok", *STOPPED, "other counts"),
    ]
    asked = (mode, str(k) if mode == "topk" else "none", str(read_budget_tokens))
    rows = []
    for each in efforts:
        totals = (each.shown, each.read_tokens)
        means = [number(total / each.questions if each.questions else None, 1) for total in totals]
        rows.append([each.system, str(each.questions), *asked, *means, *_taken(each.choosing, "chooser", STOPPED)])
    return markdown_table(header, rows)


def _taken(
    counts: Mapping[str, int], role: str, columns: Mapping[str, tuple[str, ...]], shown: Sequence[str] = ()
) -> list[str]:
    """Tasks, calls and tokens of a role, failures by status, the columns, and whatever no column holds."""
    taken = [f"{role}_{what}" for what in ("tasks", "calls", "input_tokens", "output_tokens")]
    statuses = {name.removeprefix("status_"): count for name, count in counts.items() if name.startswith("status_")}
    summed = [sum(counts.get(name, 0) for name in names) for names in columns.values()]
    known = {*taken, *shown, *(name for names in columns.values() for name in names)}
    others = {
        name.replace("_", " "): count
        for name, count in counts.items()
        if count and name not in known and not name.startswith("status_")
    }
    numbers = [str(counts.get(name, 0)) for name in taken]
    return [*numbers, count_text(statuses), *map(str, summed), count_text(others)]
