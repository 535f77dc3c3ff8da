"""How turns and entries become the text a reader sees.

The date of a session or entry stands once, on a line of its own; consecutive parts with the same date share it.
With a date on every turn two LoCoMo histories would no longer fit 32,000 tokens (paper A's budget).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from memgauge.records import Entry, Session, Turn
from memgauge.text.tokens import count_tokens


def render_date(date: str | None) -> str:
    """The heading line of a date, without a line break.

    >>> render_date("2023-05-08T13:56"), render_date("2024-03-15"), render_date(None)
    ('[8 May 2023, 13:56]', '[15 March 2024]', '[undated]')
    """
    if date is None:
        return "[undated]"
    moment = datetime.fromisoformat(date)
    day = f"{moment.day} {moment:%B} {moment.year}"
    return f"[{day}, {moment:%H:%M}]" if "T" in date else f"[{day}]"


def plain_date(date: str | None) -> str | None:
    """A date in running text, None for an undated one: a template then leaves its line out.

    >>> plain_date("2024-03-15"), plain_date(None)
    ('15 March 2024', None)
    """
    return None if date is None else render_date(date).strip("[]")


def render_said(turns: Iterable[tuple[str, str]]) -> str:
    """(speaker, text) pairs, one line each.

    >>> print(render_said([("Ann", "Hi!"), ("Bob", "Hello.")]))
    Ann: Hi!
    Bob: Hello.
    """
    return "\n".join(f"{speaker}: {text}" for speaker, text in turns)


def render_turn(turn: Turn) -> str:
    """One line: speaker, text, and the caption of an attached picture.

    >>> render_turn(Turn("D1:5", "Ann", "Look!", "a red car"))
    'Ann: Look! [image: a red car]'
    """
    caption = f" [image: {turn.caption}]" if turn.caption else ""
    return f"{turn.speaker}: {turn.text}{caption}"


def render_turns(turns: Iterable[tuple[Session, Turn]]) -> str:
    """Turns in the order given under their sessions' dates."""
    lines: list[str] = []
    current: Session | None = None
    for session, turn in turns:
        if session is not current:
            lines.append(render_date(session.date))
            current = session
        lines.append(render_turn(turn))
    return "\n".join(lines)


def render_entries(entries: Sequence[Entry]) -> str:
    """Entries in the order given; neighbours with one date share its heading."""
    lines: list[str] = []
    previous: object = object()
    for entry in entries:
        if entry.date != previous:
            lines.append(render_date(entry.date))
            previous = entry.date
        lines.append(entry.text)
    return "\n".join(lines)


def entry_tokens(entry: Entry) -> int:
    """Tokens one entry costs against a budget: its heading, its text, two line breaks."""
    return count_tokens(f"{render_date(entry.date)}\n{entry.text}\n")
