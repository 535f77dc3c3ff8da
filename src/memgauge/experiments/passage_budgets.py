"""Nested passage budgets over whole histories, as paper C shows 1, 3, 5, 10 or 20 ranked passages to a reader."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memgauge.errors import InputError
from memgauge.memory.shared import turn_text
from memgauge.records import History, Question
from memgauge.retrieval.bm25 import Bm25Index
from memgauge.retrieval.passages import Passage as Window
from memgauge.retrieval.passages import split_passages
from memgauge.text.render import render_date

BUDGETS = (1, 3, 5, 10, 20)  # paper C's passages per question
SIZE = 1200  # characters of a window
OVERLAP = 160  # so that a window starts every 1,040 characters
K1, B = 1.2, 0.75
# Paper C prints no stop list; this one gives its two short rankings. Longer lists shorten more, Lucene's none.
_STOP_LIST = """
a an and are as at be been but by did do does for from had has have how i if in into is it its me my of on or our
that the their them then there these they this to was we were what when where which who whom why will with you your
"""
STOP_WORDS = frozenset(_STOP_LIST.split())


@dataclass(frozen=True, slots=True)
class Passage:
    """What one hit adds: `centre` is the hit's window, `pieces` the characters not shown before it, in chat order.

    A piece's `document` is the position of its turn in the history; each turn has at most one piece.
    """

    centre: int
    pieces: tuple[Window, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The passages of one question, best first; fewer than asked for where the hits run out."""

    question_id: str
    passages: tuple[Passage, ...]

    def at(self, budget: int) -> tuple[Passage, ...]:
        """What a reader with `budget` passages is shown: a prefix, so that budgets are nested (paper C)."""
        return self.passages[:budget]


def history_windows(history: History) -> tuple[Window, ...]:
    """Windows of at most 1,200 characters, one every 1,040, in history order; none crosses a turn (paper C).

    A turn's text includes its picture's caption, so that a question about a picture can be answered.
    """
    return tuple(
        window
        for number, (_, turn) in enumerate(history.turns())
        for window in split_passages(turn_text(turn), SIZE, OVERLAP, number)
    )


def turn_labels(history: History) -> tuple[str, ...]:
    """ "[date] speaker: " of every turn, by the position that a piece's `document` names."""
    return tuple(f"{render_date(session.date)} {turn.speaker}: " for session, turn in history.turns())


def passages(windows: Sequence[Window], ranking: Sequence[int], most: int) -> tuple[Passage, ...]:
    """At most `most` passages from `ranking`, window positions best first (paper C's neighbour rule).

    A hit whose own window was shown already, as a hit or as a neighbour, is skipped and costs nothing. Any other
    shows windows j - 1, j and j + 1 of the flattened history, whose turns may differ, without the characters that
    earlier passages showed. Fewer passages come first unchanged: each budget is a prefix of a larger one.
    Neighbouring windows must overlap by less than half their size, so that an unseen window always adds something.

    >>> shown = passages(split_passages("abcdefghijkl", size=4, overlap=1), [0, 1, 3], most=20)
    >>> [(each.centre, [piece.text for piece in each.pieces]) for each in shown]
    [(0, ['abcdefg']), (3, ['hijkl'])]
    """
    if most < 1:
        raise InputError(f"a budget must be at least 1 passage, not {most}")
    shown: set[int] = set()
    result: list[Passage] = []
    for centre in ranking:
        if len(result) == most:
            break
        if centre not in shown:
            around = range(max(centre - 1, 0), min(centre + 2, len(windows)))
            result.append(Passage(centre, tuple(_unseen(windows, around, shown))))
            shown.update(around)
    return tuple(result)


def _unseen(windows: Sequence[Window], around: Sequence[int], shown: set[int]) -> Iterator[Window]:
    """The characters of the windows `around` that no shown window holds; touching stretches of a turn are joined."""
    pending: Window | None = None
    for position in around:
        if position in shown:
            continue
        new = _trim(windows, position, shown)
        if pending and pending.document == new.document and new.start <= pending.end:
            text = pending.text + new.text[pending.end - new.start :]
            pending = Window(new.document, pending.start, new.end, text)
        else:
            if pending:
                yield pending
            pending = new
    if pending:
        yield pending


def _trim(windows: Sequence[Window], position: int, shown: set[int]) -> Window:
    """A window without its overlap with shown neighbours: no other window reaches into it."""
    window = windows[position]
    start, end = window.start, window.end
    if position - 1 in shown and windows[position - 1].document == window.document:
        start = max(start, windows[position - 1].end)
    if position + 1 in shown and windows[position + 1].document == window.document:
        end = min(end, windows[position + 1].start)
    return Window(window.document, start, end, window.text[start - window.start : end - window.start])


def rank_history(
    history: History, questions: Sequence[Question], most: int = max(BUDGETS), windows: Sequence[Window] | None = None
) -> tuple[Ranking, ...]:
    """The ranking of every question over its own history, in the order given (paper C's BM25 over windows).

    The history is indexed once; `windows` saves cutting it again. Only windows that hold a word of the question
    count as hits, ties go by window order. The walk stops at `most` passages. Raises InputError for a question
    about another history.
    """
    if stray := next((each for each in questions if each.history_id != history.id), None):
        raise InputError(f"question {stray.id} is about {stray.history_id}, not {history.id}; pass the history it asks")
    cut = history_windows(history) if windows is None else windows
    index = Bm25Index([window.text for window in cut], K1, B, STOP_WORDS)
    return tuple(
        Ranking(each.id, passages(cut, [hit.position for hit in index.search(each.text)], most)) for each in questions
    )
