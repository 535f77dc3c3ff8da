"""Which prompts the summariser is trained on, and how long the summaries of its cold start are.

Both are for small models. A group in which every answer is wrong differs in length alone, and teaches to say nothing;
and a cost can only be learnt where the first summaries are longer than they need be.
"""

from collections.abc import Sequence
from dataclasses import replace

from memgauge.text.tokens import count_tokens
from memgauge.training.reward import Score, Summary
from memgauge.training.summary_rows import SummaryRow


def answerable(rows: Sequence[SummaryRow], score: Score) -> list[SummaryRow]:
    """The rows whose teacher's summary lets the QA role answer at least a word right; of training rows only."""
    targets = [Summary(row.target or "", 0) for row in rows]
    return [row for row, found in zip(rows, score(targets, rows), strict=True) if found is not None and found.f1 > 0]


def lengthened(row: SummaryRow, least_tokens: int) -> SummaryRow:
    """The row with lines of its context behind the teacher's summary until it has `least_tokens` (cl100k_base).

    Date headings and lines already there are left out; a row without a target stays as it is.
    """
    if row.target is None:
        return row
    lines = row.target.splitlines()
    for line in row.context.splitlines():
        if count_tokens("\n".join(lines)) >= least_tokens:
            break
        if line not in lines and not line.startswith("["):
            lines.append(line)
    return replace(row, target="\n".join(lines))
