"""write_gist without a language model: the page's telling sentences, retold speaker by speaker.

The sentences are those of summarise_session. A speaker is named once for all sentences in a row, and what that
saves of the budget goes to further sentences.
"""

from collections.abc import Sequence
from itertools import groupby

from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.solvers.extractive.summary import summarise_sessions
from memgauge.tasks.summarise_session import SummariseSession, SummaryLine
from memgauge.tasks.write_gist import WriteGist
from memgauge.text.tokens import count_tokens


def write_gists(tasks: Sequence[WriteGist], vectors: Vectors, weights: Weights) -> list[str]:
    """One gist a task, in the order of the page, within its budget; empty for a page that states nothing."""
    first = _retell(tasks, [task.budget_tokens for task in tasks], vectors, weights)
    # What naming speakers once has saved buys more sentences; where they turn out too long, the first text stays.
    saved = [2 * task.budget_tokens - count_tokens(text) for task, text in zip(tasks, first, strict=True)]
    second = _retell(tasks, saved, vectors, weights)
    return [
        longer if count_tokens(longer) <= task.budget_tokens else text
        for task, text, longer in zip(tasks, first, second, strict=True)
    ]


def _retell(tasks: Sequence[WriteGist], budgets: Sequence[int], vectors: Vectors, weights: Weights) -> list[str]:
    pages = [
        SummariseSession(task.date, task.turns, max(budget, 0)) for task, budget in zip(tasks, budgets, strict=True)
    ]
    return [
        merge_speakers(lines, task.turns)
        for lines, task in zip(summarise_sessions(pages, vectors, weights), tasks, strict=True)
    ]


def merge_speakers(lines: Sequence[SummaryLine], turns: Sequence[tuple[str, str]]) -> str:
    """Lines of one speaker in a row as one line that names the speaker once.

    >>> texts = ["Ann: I moved.", "Ann: I like it.", "Bo: Me too."]
    >>> lines = [SummaryLine(text, (turn,)) for turn, text in enumerate(texts)]
    >>> merge_speakers(lines, [("Ann", ""), ("Ann", ""), ("Bo", "")])
    'Ann: I moved. I like it.\\nBo: Me too.'
    """
    said = [(turns[line.turns[0]][0], line.text) for line in lines]
    runs = groupby(said, key=lambda pair: pair[0])
    return "\n".join(
        f"{speaker}: " + " ".join(text.removeprefix(f"{speaker}: ") for _, text in run) for speaker, run in runs
    )
