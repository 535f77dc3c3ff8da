"""Ranked passages as they are kept on disk: the text a reader sees, its size, and which characters it holds."""

from collections.abc import Sequence
from dataclasses import dataclass

from memgauge.experiments.passage_budgets import BUDGETS, Passage, history_windows, rank_history
from memgauge.records import History, Question
from memgauge.text.render import render_date


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters `start` to `end` of one turn."""

    turn_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Shown:
    """One passage: its text as a reader sees it, and the pieces of turns it holds. Ids are in no text."""

    text: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """The passages of one question, best first; no gold, rubric, type or evidence."""

    question_id: str
    passages: tuple[Shown, ...]

    def text(self, budget: int) -> str:
        """What a reader with `budget` passages is shown: a prefix of what a larger budget shows.

        >>> Ranked("q", (Shown("a", ()), Shown("b", ()))).text(1)
        'a'
        """
        return "\n\n".join(passage.text for passage in self.passages[:budget])


def show_history(history: History, questions: Sequence[Question], most: int = max(BUDGETS)) -> tuple[Ranked, ...]:
    """Rank and render the passages of every question about one history, in the order given."""
    turns = tuple(history.turns())
    dates = [render_date(session.date) for session, _ in turns]
    speakers = [turn.speaker for _, turn in turns]
    ids = [turn.id for _, turn in turns]
    rankings = rank_history(history, questions, most, history_windows(history))
    return tuple(
        Ranked(ranking.question_id, tuple(_shown(passage, dates, speakers, ids) for passage in ranking.passages))
        for ranking in rankings
    )


def _shown(passage: Passage, dates: Sequence[str], speakers: Sequence[str], ids: Sequence[str]) -> Shown:
    """Pieces in chat order, each a message of its own; neighbours with one date share its heading."""
    lines: list[str] = []
    date = ""
    for piece in passage.pieces:
        if dates[piece.document] != date:
            date = dates[piece.document]
            lines.append(date)
        lines.append(f"{speakers[piece.document]}: {piece.text}")
    return Shown(
        "\n".join(lines), tuple(Piece(ids[piece.document], piece.start, piece.end) for piece in passage.pieces)
    )
