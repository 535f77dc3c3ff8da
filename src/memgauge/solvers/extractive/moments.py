"""Answers in time: dates, clock times, durations, intervals between events, frequencies."""

import re
from datetime import date

from memgauge.solvers.extractive import evidence
from memgauge.solvers.extractive.context import Sentence
from memgauge.solvers.extractive.kinds import Expected
from memgauge.solvers.extractive.ranked import Ranked
from memgauge.solvers.extractive.ranking import Index, Scores, best_positions
from memgauge.text.dates import DateSpan, render_day
from memgauge.text.numbers import find_durations, find_frequencies

_WEEKDAY = re.compile(r"\b((?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)s?\b")
_WEEKDAY_ASKED = re.compile(
    r"\b(?:day|days) of the week\b|\bweekday\b|\b(?:what|which) days? (?:do|does|is|are)\b", re.I
)


def clock_answer(ranked: Ranked) -> str | None:
    found = (match for s in ranked.best(3, 0.2) for match in [evidence.CLOCK.search(s.core)] if match)
    first = next(found, None)
    return first.group() if first else None


def date_answer(ranked: Ranked) -> str | None:
    """The date named in the best sentence, else in its message, else the day it was said."""
    best = ranked.best(3, 0.12)
    if _WEEKDAY_ASKED.search(ranked.expected.question):
        return _weekday(best)
    for sentence in best:
        spans_here = sentence.dates
        if spans_here:
            return _written(spans_here[0], ranked.expected)
        beside = [s for s in ranked.index.sentences if s.line == sentence.line and s.dates]
        if beside:
            return _written(beside[0].dates[0], ranked.expected)
    day = best[0].day
    return None if day is None else _at_grain(day, ranked.expected) or render_day(day)


def _weekday(best: list[Sentence]) -> str | None:
    """The day of the week that a sentence names, else that of the first date."""
    named = (match[1] for sentence in best if (match := _WEEKDAY.search(sentence.core)))
    days = (span.first for sentence in best for span in sentence.dates)
    day = next(days, None)
    return next(named, None) or (f"{day:%A}" if day else None)


def _at_grain(day: date, expected: Expected) -> str | None:
    """The month or year alone, when that is what the question names."""
    asked = re.search(r"\b(?:what|which) (month|year)\b", expected.question, re.IGNORECASE)
    if not asked:
        return None
    return f"{day:%B} {day.year}" if asked[1].lower() == "month" else str(day.year)


def _written(span: DateSpan, expected: Expected) -> str:
    coarse = _at_grain(span.first, expected)
    if coarse and span.grain in ("day", "week", "weekend", "month"):
        return coarse
    return f"{span.wording} ({span.label})" if span.wording else span.label


def interval_answer(ranked: Ranked) -> str | None:
    """Days between two events, or between one event and the day of the question."""
    ago = [
        d
        for s in ranked.best(2, 0.15)
        for d in find_durations(s.core)
        if re.search(rf"{re.escape(d.text)} ago", s.core)
    ]
    if ago and ranked.asked is None and len(ranked.parts) < 2:
        return f"{ago[0].text} ago" if "ago" in ranked.expected.question else ago[0].text
    days = [event_day(ranked.index, scores) for scores in ranked.parts]
    if len(days) == 1 and ranked.asked is not None:
        days.append(ranked.asked)
    if len(days) < 2 or days[0] is None or days[1] is None:
        return duration_answer(ranked)
    return _length(abs((days[1] - days[0]).days), ranked.expected.question)


def event_day(index: Index, scores: Scores) -> date | None:
    sentence = index.sentences[best_positions(scores, 1)[0]]
    found = sentence.dates
    return found[0].first if found else sentence.day


def _length(days: int, question: str) -> str:
    """A number of days in the unit the question names.

    >>> _length(21, "How many weeks passed?"), _length(1, "How many days?"), _length(61, "How long?")
    ('3 weeks', '1 day', '2 months')
    """
    named = re.search(r"\b(day|week|month|year)s\b", question, re.IGNORECASE)
    unit = (
        named[1].lower()
        if named
        else "day"
        if days < 14
        else "week"
        if days < 56
        else "month"
        if days < 700
        else "year"
    )
    count = round(days / {"day": 1, "week": 7, "month": 30.44, "year": 365.25}[unit])
    return f"{count} {unit}{'' if count == 1 else 's'}"


def duration_answer(ranked: Ranked) -> str | None:
    return next((length for s in ranked.best(4, 0.25) if (length := first_length(s.core))), None)


def first_length(text: str) -> str | None:
    """The first length of time with its smaller units.

    >>> first_length("I ran it in two hours and five minutes after three weeks")
    'two hours and five minutes'
    """
    found = find_durations(text)
    if not found:
        return None
    end = found[0].end
    for one in found[1:]:
        if not re.fullmatch(r",? (?:and )?", text[end : one.start]):
            break
        end = one.end
    return text[found[0].start : end]


def frequency_answer(ranked: Ranked) -> str | None:
    return next((text for s in ranked.best(4, 0.25) for text in find_frequencies(s.core)), None)
