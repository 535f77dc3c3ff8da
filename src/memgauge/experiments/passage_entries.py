"""Nested budgets over what a memory system keeps: its own ranking of its entries, one entry a passage.

Paper C varies how much of a whole history is shown; this is the same curve for any store of the suite.
"""

from collections.abc import Sequence

from memgauge.experiments.passage_shown import Piece, Ranked, Shown
from memgauge.memory.base import Ranking
from memgauge.memory.shared import turn_text
from memgauge.protocol.conditions import ranked_positions
from memgauge.records import Entry, History, Question, Store
from memgauge.text.render import render_entries


def show_entries(
    history: History, questions: Sequence[Question], store: Store, rankings: Sequence[Ranking], most: int
) -> list[Ranked]:
    """At most `most` entries of every question's ranking, rendered, best first; in the order given.

    An entry counts as showing all of each turn that it names as its source: what a summary left out of a turn
    is not known.
    """
    sizes = {turn.id: len(turn_text(turn)) for _, turn in history.turns()}
    return [
        Ranked(
            question.id,
            tuple(_shown(store.entries[place], sizes) for place in ranked_positions(ranking.hits, store)[:most]),
        )
        for question, ranking in zip(questions, rankings, strict=True)
    ]


def _shown(entry: Entry, sizes: dict[str, int]) -> Shown:
    return Shown(render_entries([entry]), tuple(Piece(turn, 0, sizes[turn]) for turn in entry.sources))
