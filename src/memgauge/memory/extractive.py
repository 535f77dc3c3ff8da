"""The statements of a history that look most worth keeping (paper A's cue-based writer, section 4).

Keeps turns, or pieces of long turns, by cues: dates, names, numbers, negation, preference, decision. The
paper names the cues only; ours are the patterns (`text.cues`), the weights, at most `cap` cues of one kind,
and greedy packing by weight per token of cost. A piece of a long turn repeats its speaker.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from memgauge.memory.base import Query, Ranking, Tools, Written
from memgauge.memory.shared import dense_hits, split_text, turn_text
from memgauge.records import Entry, History, Session, Store, Turn
from memgauge.text.cues import count_cues
from memgauge.text.render import entry_tokens


@dataclass(frozen=True, slots=True)
class Extractive:
    """Cue-scored turns. `piece_tokens` bounds one statement; the rest weigh and cap its cues."""

    name: ClassVar[str] = "extractive"
    card: ClassVar[dict[str, str]] = {
        "piece_tokens": "ours: paper A scores turns, and a turn may be long",
        "cap": "ours: a list of names is one cue",
        "date": "paper A, section 4, names the cue; its weight is ours",
        "entity": "as date",
        "number": "as date",
        "negation": "as date",
        "preference": "as date",
        "decision": "as date",
    }

    piece_tokens: int = 64
    cap: int = 3
    date: float = 1.0
    entity: float = 1.0
    number: float = 1.0
    negation: float = 1.0
    preference: float = 1.0
    decision: float = 1.0

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """The best statements per token that fit the budget, in history order; ties by history position."""
        entries = list(self._statements(history))
        costs = [entry_tokens(entry) for entry in entries]
        speakers = {turn.speaker.casefold() for _, turn in history.turns()}
        values = [self.value(entry.text, speakers) for entry in entries]
        left = budget_tokens
        kept: list[int] = []
        for position in sorted(range(len(entries)), key=lambda each: (-values[each] / costs[each], each)):
            if costs[position] <= left:
                kept.append(position)
                left -= costs[position]
        return Written(
            tuple(entries[position] for position in sorted(kept)),
            {"statements_left_out": len(entries) - len(kept)},
        )

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """All statements by similarity to the question."""
        return dense_hits(store, queries, tools.encoder)

    def value(self, text: str, speakers: Collection[str] = ()) -> float:
        """The weighted sum of a text's cues, each kind counted at most `cap` times.

        Names of the (case-folded) speakers only address someone: they do not count.

        >>> Extractive().value("Ann: I adopted a dog in 2021"), Extractive().value("Ann: Wow!")
        (3.0, 0.0)
        """
        cues = count_cues(text, speakers)
        weighted = (
            (self.date, cues.dates),
            (self.entity, cues.names),
            (self.number, cues.numbers),
            (self.negation, cues.negations),
            (self.preference, cues.preferences),
            (self.decision, cues.decisions),
        )
        return sum(weight * min(count, self.cap) for weight, count in weighted)

    def _statements(self, history: History) -> Iterator[Entry]:
        pieces = ((session, turn, text) for session, turn in history.turns() for text in self._pieces(turn))
        for number, (session, turn, text) in enumerate(pieces):
            yield _entry(number, session, turn, text)

    def _pieces(self, turn: Turn) -> list[str]:
        return [piece for piece in map(str.strip, split_text(turn_text(turn), self.piece_tokens)) if piece]


def _entry(number: int, session: Session, turn: Turn, text: str) -> Entry:
    return Entry(str(number), f"{turn.speaker}: {text}", (turn.id,), session.date)
