"""The raw history in short passages, oldest evicted first (paper A, section 4: no writer at all).

Keeps the newest passages of `passage_tokens` tokens that fit the budget. Deviations from the paper's plain
windows: a passage never crosses a session, so that one date applies to all of it, and holds whole turns; only
a turn longer than a passage is cut, after a sentence where possible.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from memgauge.memory.base import Query, Ranking, Tools, Written
from memgauge.memory.shared import dense_hits, split_text
from memgauge.records import Entry, History, Session, Store
from memgauge.text.render import entry_tokens, render_turn
from memgauge.text.tokens import count_tokens


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Passages of whole turns. `passage_tokens`: the most tokens of a passage's text (paper A: 200)."""

    name: ClassVar[str] = "verbatim"
    card: ClassVar[dict[str, str]] = {"passage_tokens": "paper A, section 4: 200"}

    passage_tokens: int = 200

    def write(self, history: History, budget_tokens: int, tools: Tools) -> Written:
        """The newest passages within the budget, oldest first."""
        passages = [
            (session.date, text, sources)
            for session in history.sessions
            for text, sources in _passages(session, self.passage_tokens)
        ]
        entries = [Entry(str(number), text, sources, date) for number, (date, text, sources) in enumerate(passages)]
        kept = _newest(entries, budget_tokens)
        return Written(tuple(entries[kept:]), {"passages_evicted": kept})

    def retrieve(self, store: Store, queries: Sequence[Query], tools: Tools) -> list[Ranking]:
        """All passages by similarity to the question."""
        return dense_hits(store, queries, tools.encoder)


def _newest(entries: list[Entry], budget_tokens: int) -> int:
    """The position from which on the entries fit the budget."""
    left = budget_tokens
    for position in range(len(entries) - 1, -1, -1):
        left -= entry_tokens(entries[position])
        if left < 0:
            return position + 1
    return 0


def _passages(session: Session, limit_tokens: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Text and source turns of each passage of one session."""
    lines: list[str] = []
    sources: list[str] = []
    filled = 0
    for turn, line, tokens in _lines(session, limit_tokens):
        if lines and filled + tokens > limit_tokens:
            yield "\n".join(lines), tuple(dict.fromkeys(sources))
            lines, sources, filled = [], [], 0
        lines.append(line)
        sources.append(turn)
        filled += tokens
    if lines:
        yield "\n".join(lines), tuple(dict.fromkeys(sources))


def _lines(session: Session, limit_tokens: int) -> Iterator[tuple[str, str, int]]:
    """Turn id, text and tokens of every turn, or of every piece of a long one."""
    pieces = [
        (turn.id, piece.strip())
        for turn in session.turns
        if turn.text.strip() or turn.caption
        for piece in split_text(render_turn(turn), max(limit_tokens - 1, 1))  # one token for the line break
    ]
    return ((turn, piece, count_tokens(f"{piece}\n")) for turn, piece in pieces if piece)
