"""The forms a date takes in text, each with the reader that resolves it against the day of the dialogue."""

# ruff: noqa: E501  (a pattern reads best on one line)

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from dateutil.relativedelta import relativedelta

from memgauge.text.numbers import word_value

Grain = Literal["day", "week", "weekend", "month", "season", "year"]


MONTHS = str.split("january february march april may june july august september october november december")


WEEKDAYS = str.split("monday tuesday wednesday thursday friday saturday sunday")


_SEASON_START = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}


_MONTH = r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"


_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"


_YEAR = r"(?P<year>(?:19|20)\d\d)"


_WEEKDAY = rf"(?P<weekday>{'|'.join(WEEKDAYS)}|mon|tues?|wed|thurs?|fri|sat|sun)"


_COUNT = r"(?P<count>\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple(?: of)?|a few|few|several|some|many)"


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A date at `text[start:end]`.

    `first` and `last` bound it; `label` is how it is written out ("7 May 2023", "May 2023", "the week before
    9 June 2023"); `wording` is a second way to say the same day ("the Friday before 15 July 2023") or "".
    """

    start: int
    end: int
    first: date
    last: date
    grain: Grain
    label: str
    wording: str = ""
    explicit: bool = False


Reader = Callable[[re.Match[str], date, bool], DateSpan | None]


def render_day(day: date) -> str:
    """Day, month name, year, as the headings of contexts have it.

    >>> render_day(date(2023, 5, 7))
    '7 May 2023'
    """
    return f"{day.day} {day:%B} {day.year}"


def _span(match: re.Match[str], day: date, grain: Grain = "day", wording: str = "", explicit: bool = False) -> DateSpan:
    """The day, month or year that holds `day`."""
    if grain == "month":
        first = day.replace(day=1)
        last, label = first + relativedelta(months=1, days=-1), f"{day:%B} {day.year}"
    elif grain == "year":
        first, last, label = date(day.year, 1, 1), date(day.year, 12, 31), str(day.year)
    else:
        first, last, label = day, day, render_day(day)
    return DateSpan(match.start(), match.end(), first, last, grain, label, wording, explicit)


def _vague(match: re.Match[str], first: date, days: int, grain: Grain, label: str) -> DateSpan:
    return DateSpan(match.start(), match.end(), first, first + timedelta(days=days - 1), grain, label)


def month_number(name: str) -> int:
    """1 to 12 for a month's name or its first three letters."""
    return [month[:3] for month in MONTHS].index(name.lower()[:3]) + 1


def _iso(match: re.Match[str], anchor: date, future: bool) -> DateSpan | None:
    return _on(match, int(match["year"]), int(match["number"]), int(match["day"]))


def _on(match: re.Match[str], year: int, month: int, day: int) -> DateSpan | None:
    try:
        return _span(match, date(year, month, day), explicit=True)
    except ValueError:  # 31 June, 30 February: no such day
        return None


def _day_month(match: re.Match[str], anchor: date, future: bool) -> DateSpan | None:
    """A day and month; without a year, the year that brings it closest to the anchor."""
    month, day = month_number(match["month"]), int(match["day"])
    if match["year"]:
        return _on(match, int(match["year"]), month, day)
    spans = [span for shift in (0, -1, 1) if (span := _on(match, anchor.year + shift, month, day))]
    return min(spans, key=lambda span: abs((span.first - anchor).days), default=None)


def _month_only(match: re.Match[str], anchor: date, future: bool) -> DateSpan | None:
    groups = match.groupdict()
    month = month_number(match["month"])
    if groups.get("year"):
        return _span(match, date(int(match["year"]), month, 1), "month", explicit=True)
    which = (groups.get("which") or "").lower()
    year = anchor.year
    if which == "last" or (which not in ("next", "this") and not future and month > anchor.month):
        year -= month >= anchor.month
    elif which == "next" or future:
        year += month <= anchor.month if which == "next" else month < anchor.month
    return _span(match, date(year, month, 1), "month")


def _bare_year(match: re.Match[str], anchor: date, future: bool) -> DateSpan | None:
    return _span(match, date(int(match["year"]), 1, 1), "year", explicit=True)


_DAY_WORDS = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "the day after tomorrow": 2,
    "tomorrow": 1,
}


def _day_word(match: re.Match[str], anchor: date, future: bool) -> DateSpan | None:
    word = match.group().lower().split(" morning")[0].split(" evening")[0].split(" afternoon")[0].split(" night")[0]
    shift = _DAY_WORDS.get(match.group().lower(), _DAY_WORDS.get(word, 0))
    return _span(match, anchor + timedelta(days=shift))


def _counted(match: re.Match[str], anchor: date, future: bool) -> DateSpan | None:
    """ "Three weeks ago", "in two days", "a few months back"."""
    text, unit = match["count"].lower(), match["unit"].lower().removesuffix("s")
    value = word_value(text) or {"a": 1, "an": 1}.get(text)
    sign, side = (
        (1, "after") if match.group().lower().startswith("in ") or "from now" in match.group() else (-1, "before")
    )
    amount = int(value if value is not None else 2 if "couple" in text else 3)
    shift = _shift("week" if unit == "weekend" else unit, sign * amount)
    day = anchor + shift
    if value is None and unit not in ("month", "year"):
        return _vague(match, day, 1, "day", f"{text} {unit}s {side} {render_day(anchor)}")
    if unit == "day":
        return _span(match, day)
    if unit in ("month", "year"):
        return _span(match, day, "month" if unit == "month" else "year", f"{text} {unit}s {side} {render_day(anchor)}")
    named = f"the {unit} {side}" if amount == 1 else f"{text} {unit}s {side}"
    if unit == "week":
        return _span(match, day, wording=f"{named} {render_day(anchor)}")
    saturday = day - timedelta(days=day.weekday() - 5)
    return _vague(match, saturday, 2, "weekend", f"{named} {render_day(anchor)}")


def _shift(unit: str, amount: int) -> relativedelta:
    """So many days, weeks, months or years; the end of a month stays inside it."""
    if unit == "day":
        return relativedelta(days=amount)
    if unit == "week":
        return relativedelta(weeks=amount)
    return relativedelta(months=amount) if unit == "month" else relativedelta(years=amount)


def _weekday(match: re.Match[str], anchor: date, future: bool) -> DateSpan | None:
    """ "Last Friday", "next Friday", or "on Friday", whose side of the anchor the sentence's tense decides."""
    which = (match["which"] or "").lower()
    target = [day[:3] for day in WEEKDAYS].index(match["weekday"].lower()[:3])
    forward = any(word in which for word in ("next", "coming")) or (
        future and not any(word in which for word in ("last", "past", "previous"))
    )
    distance = (target - anchor.weekday() - 1) % 7 + 1 if forward else (target - anchor.weekday()) % 7 - 7
    side = "after" if forward else "before"
    wording = f"the {WEEKDAYS[target].capitalize()} {side} {render_day(anchor)}"
    return _span(match, anchor + timedelta(days=distance), wording=wording)


def _period(match: re.Match[str], anchor: date, future: bool) -> DateSpan | None:
    """ "Last week", "this month", "next year", "last weekend", "this summer"."""
    which, unit = match["which"].lower().split()[-1], match["unit"].lower()
    sign = 1 if which in ("next", "coming", "upcoming", "following") else 0 if which == "this" else -1
    if unit in ("month", "year"):
        return _span(match, anchor + _shift(unit, sign), "month" if unit == "month" else "year")
    if unit in _SEASON_START:
        return _season(match, anchor, unit, sign)
    monday = anchor - timedelta(days=anchor.weekday())
    side = {1: "after", 0: "of", -1: "before"}[sign]
    if unit == "weekend":
        if sign == 0 and not future and anchor.weekday() < 5:
            sign, side = -1, "before"  # on a working day "this weekend" in the past tense is the one gone by
        first = monday + timedelta(days=5 + 7 * (sign if anchor.weekday() >= 5 or sign < 0 else 0))
        return _vague(match, first, 2, "weekend", f"the weekend {side} {render_day(anchor)}")
    return _vague(match, monday + timedelta(days=7 * sign), 7, "week", f"the week {side} {render_day(anchor)}")


def _season(match: re.Match[str], anchor: date, unit: str, sign: int) -> DateSpan:
    start = date(anchor.year, _SEASON_START[unit], 1)
    if sign < 0 and start + timedelta(days=90) > anchor:
        start = start.replace(year=start.year - 1)
    if sign > 0 and start <= anchor:
        start = start.replace(year=start.year + 1)
    return _vague(match, start, 90, "season", f"{unit} {start.year}")


_WHICH = r"(?P<which>(?:this |the )?(?:last|past|previous|next|coming|upcoming|following)|this)"


_IN = r"(?:(?<=in )|(?<=of )|(?<=since )|(?<=by )|(?<=during )|(?<=early )|(?<=late )|(?<=mid )|(?<=until )|(?<=around )|(?<=for )|(?<=from ))"


PATTERNS: tuple[tuple[str, Reader], ...] = (
    (r"(?P<year>(?:19|20)\d\d)-(?P<number>\d\d)-(?P<day>\d\d)", _iso),
    (r"(?P<number>1[0-2]|0?[1-9])/(?P<day>3[01]|[12]\d|0?[1-9])/(?P<year>(?:19|20)\d\d)", _iso),
    (rf"(?:the )?{_DAY}(?: of)? {_MONTH}(?:,? ?{_YEAR})?", _day_month),
    (rf"{_MONTH} {_DAY}(?!\d|:)(?:,? {_YEAR})?", _day_month),
    (rf"(?<!\d ){_MONTH},? (?:of )?{_YEAR}", _month_only),
    (rf"(?:(?P<which>last|this|next) |{_IN}){_MONTH}", _month_only),
    (r"the day before yesterday|the day after tomorrow|yesterday(?: morning| afternoon| evening| night)?|last night|"
     r"tomorrow(?: morning| afternoon| evening| night)?|today|tonight|this (?:morning|afternoon|evening)", _day_word),
    (rf"{_COUNT} (?P<unit>(?:day|weekend|week|month|year)s?) (?:ago|back|earlier|from now)", _counted),
    (rf"in {_COUNT} (?P<unit>(?:day|weekend|week|month|year)s?)(?! of\b)", _counted),
    (rf"{_WHICH} {_WEEKDAY}", _weekday),
    (rf"{_WHICH} (?P<unit>weekend|week|month|year|spring|summer|fall|autumn|winter)", _period),
    (rf"(?P<which>on )?{_WEEKDAY}(?!s)", _weekday),
    (rf"{_IN}{_YEAR}", _bare_year),
)  # fmt: skip
