"""Raw passages of a history, each within one session, and the newest of them that fit a budget: no writer at all."""

from collections.abc import Iterator, Sequence

from memgauge.memory.shared import split_text
from memgauge.records import Entry, History, Session
from memgauge.text.render import entry_tokens, render_turn
from memgauge.text.tokens import count_tokens


def history_passages(history: History, limit_tokens: int) -> list[Entry]:
    """Whole turns, as many as fit `limit_tokens`; only a turn longer than that is cut, after a sentence if possible.

    Ids are positions; a passage never crosses a session, so that one date applies to all of it.
    """
    passages = [
        (session.date, text, sources)
        for session in history.sessions
        for text, sources in _passages(session, limit_tokens)
    ]
    return [Entry(str(number), text, sources, date) for number, (date, text, sources) in enumerate(passages)]


def newest_within(entries: Sequence[Entry], budget_tokens: int) -> int:
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
