"""What belongs to a question: its history's other questions, its evidence as text, the entries it was shown."""

from collections.abc import Sequence

from memgauge.protocol.conditions import CUT_ENTRY
from memgauge.records import Benchmark, Context, Question, Store
from memgauge.text.render import render_turn


def by_history(questions: Sequence[Question]) -> dict[str, list[Question]]:
    """Questions grouped by history, order kept."""
    groups: dict[str, list[Question]] = {}
    for question in questions:
        groups.setdefault(question.history_id, []).append(question)
    return groups


def evidence_texts(benchmark: Benchmark) -> dict[str, list[str]]:
    """The rendered evidence turns of every question, by question id."""
    turns = {history.id: {turn.id: turn for _, turn in history.turns()} for history in benchmark.histories}
    return {
        question.id: [render_turn(turns[question.history_id][turn_id]) for turn_id in question.evidence]
        for question in benchmark.questions
    }


def entry_texts(context: Context, store: Store) -> list[str]:
    """The entries a CSM or RM context shows; of an entry cut to the read budget only the part that was shown.

    >>> entry_texts(Context("q", "RM", "[undated]\\nAnn: I", 6, ("e",), (CUT_ENTRY,)), Store("h", "s", (), 0, 9))
    ['Ann: I']
    """
    if CUT_ENTRY in context.warnings:
        return [context.text.partition("\n")[2]]  # below the heading line of its date
    texts = {entry.id: entry.text for entry in store.entries}
    return [texts[entry_id] for entry_id in context.entry_ids]
