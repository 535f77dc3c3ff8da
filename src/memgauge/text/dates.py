"""Dates in running text: explicit ones, and relative ones resolved against the day of the dialogue."""

import re
from datetime import date

from memgauge.text.date_forms import PATTERNS, DateSpan, Reader, render_day

__all__ = ["DateSpan", "find_dates", "parse_heading", "render_day"]

_FUTURE = re.compile(
    r"\b(?:will|going to|gonna|plan|planning|coming|upcoming|can't wait|next|'ll|excited (?:for|to))\b", re.I
)
_COMPILED = tuple(
    (re.compile(rf"(?<![\w/-]){pattern}(?![\w/])", re.IGNORECASE), reader) for pattern, reader in PATTERNS
)


def find_dates(text: str, anchor: date | None = None) -> list[DateSpan]:
    """Dates left to right; where two readings overlap the earlier, then the longer, wins.

    Without an `anchor` only explicit dates with a year are found.

    >>> [d.label for d in find_dates("Yesterday we met; on 3 June she moved", date(2023, 5, 8))]
    ['7 May 2023', '3 June 2023']
    """
    future = bool(_FUTURE.search(text))
    found: list[DateSpan] = []
    for pattern, reader in _COMPILED:
        for match in pattern.finditer(text):
            span = _read(reader, match, anchor, future)
            if span is not None and (anchor is not None or _names_year(match)):
                found.append(span)
    found.sort(key=lambda span: (span.start, -span.end))
    kept: list[DateSpan] = []
    for span in found:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def _read(reader: Reader, match: re.Match[str], anchor: date | None, future: bool) -> DateSpan | None:
    """None for words that are no date, and for a day outside the calendar ("10000 years ago")."""
    if not _written_as_date(match):
        return None
    try:
        return reader(match, anchor or date(2000, 1, 1), future)
    except (ValueError, OverflowError):
        return None


def _names_year(match: re.Match[str]) -> bool:
    return match.groupdict().get("year") is not None


def _written_as_date(match: re.Match[str]) -> bool:
    """Refuse "may", "march", "sat", "sun" in small letters: words, not dates."""
    groups = match.groupdict()
    name = groups.get("month") or groups.get("weekday") or "X"
    return name[0].isupper() or len(name) > 5


def parse_heading(line: str) -> date | None:
    """The day of a heading line such as "[8 May 2023, 13:56]"; None for "[undated]".

    >>> parse_heading("[8 May 2023, 13:56]")
    datetime.date(2023, 5, 8)
    """
    spans = find_dates(line)
    return spans[0].first if spans else None
