"""A history as a writer of episodes reads it: batches of neighbouring turns of one session, long turns in pieces."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memgauge.memory.shared import split_text, turn_text
from memgauge.records import History, Session
from memgauge.text.tokens import count_tokens


@dataclass(frozen=True, slots=True)
class Piece:
    """A turn, or one part of a long turn: the turn's id, its speaker, what is said."""

    turn: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Pieces of one session, `session` being its place in the history; also one segment of them, with its topic."""

    session: int
    date: str | None
    pieces: tuple[Piece, ...]
    topic: str = ""

    @property
    def said(self) -> tuple[tuple[str, str], ...]:
        """(speaker, text) of each piece, as tasks take them."""
        return tuple((piece.speaker, piece.text) for piece in self.pieces)

    @property
    def sources(self) -> tuple[str, ...]:
        """The ids of the turns, each once, in order."""
        return tuple(dict.fromkeys(piece.turn for piece in self.pieces))

    @property
    def tokens(self) -> int:
        """Tokens of what is said."""
        return count_tokens("\n".join(f"{speaker}: {text}" for speaker, text in self.said))

    def part(self, positions: Sequence[int], topic: str) -> "Batch":
        """The pieces at these positions, under a topic."""
        return replace(self, pieces=tuple(self.pieces[at] for at in positions), topic=topic)


def read_batches(history: History, most_turns: int, most_tokens: int, turn_tokens: int) -> list[Batch]:
    """Every session in batches of at most `most_turns` pieces and `most_tokens` tokens, one piece being enough.

    A turn of more than `turn_tokens` tokens is read in pieces of at most so many; turns that neither say nor show
    anything have none.
    """
    return [
        Batch(number, session.date, pieces)
        for number, session in enumerate(history.sessions)
        for pieces in _batches(_pieces(session, turn_tokens), most_turns, most_tokens)
    ]


def _pieces(session: Session, turn_tokens: int) -> Iterator[Piece]:
    for turn in session.turns:
        for text in map(str.strip, split_text(turn_text(turn), turn_tokens)):
            if text:
                yield Piece(turn.id, turn.speaker, text)


def _batches(pieces: Iterator[Piece], most_turns: int, most_tokens: int) -> Iterator[tuple[Piece, ...]]:
    batch: list[Piece] = []
    filled = 0
    for piece in pieces:
        tokens = count_tokens(piece.text)
        if batch and (len(batch) == most_turns or filled + tokens > most_tokens):
            yield tuple(batch)
            batch, filled = [], 0
        batch.append(piece)
        filled += tokens
    if batch:
        yield tuple(batch)
