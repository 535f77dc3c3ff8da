"""When sessions happen, how people say a day, and how a gold answer writes it."""

from datetime import date, datetime, time, timedelta

from memgauge.datasets.synthetic.draws import Draws

FIRST_DAY = date(2021, 1, 4)
WAKING_MINUTES = 900  # people chat between 07:00 and 22:00
USUAL_GAP = 5 * WAKING_MINUTES
LONGEST_SPAN = 1400 * WAKING_MINUTES  # a history of many sessions gets denser, not longer than four years
WORDS = (
    *(
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
    ),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)


def session_moments(draws: Draws, count: int) -> list[datetime]:
    """Strictly ascending moments, 1.5 to 8.5 waking days apart unless the history is long."""
    day = FIRST_DAY + timedelta(days=draws.below(1000))
    mean = max(2, min(USUAL_GAP, LONGEST_SPAN // count))
    minute = draws.below(WAKING_MINUTES)
    moments = []
    for _ in range(count):
        days, rest = divmod(minute, WAKING_MINUTES)
        moments.append(datetime.combine(day + timedelta(days=days), time(7)) + timedelta(minutes=rest))
        minute += draws.between(max(1, mean * 3 // 10), mean * 17 // 10)
    return moments


def date_golds(day: date) -> tuple[str, ...]:
    """Accepted spellings of one day.

    >>> date_golds(date(2023, 5, 5))
    ('5 May 2023', 'May 5, 2023', '2023-05-05')
    """
    return (f"{day.day} {day:%B} {day.year}", f"{day:%B} {day.day}, {day.year}", day.isoformat())


def say_past(draws: Draws, today: date) -> tuple[str, date]:
    """An adverb a person would use on `today`, and the one day it means."""
    form = draws.below(8)
    if form == 0:
        return "yesterday", today - timedelta(days=1)
    if form == 1:
        return "the day before yesterday", today - timedelta(days=2)
    if form == 2:
        back = draws.between(3, 12)
        return f"{WORDS[back]} days ago", today - timedelta(days=back)
    if form == 3:
        weeks = draws.between(1, 3)
        return ("a week ago", "two weeks ago", "three weeks ago")[weeks - 1], today - timedelta(weeks=weeks)
    if form in (4, 5):
        return _last_weekday(draws, today)
    day = today - timedelta(days=draws.between(2, 25))
    return (f"on {day:%B} {day.day}" if form == 6 else f"on {day.day} {day:%B}"), day


def _last_weekday(draws: Draws, today: date) -> tuple[str, date]:
    """`last Friday`, only where "the latest Friday" and "Friday of last week" are the same day."""
    least = today.weekday() + 1
    if least > 6:
        return "yesterday", today - timedelta(days=1)
    day = today - timedelta(days=draws.between(least, 6))
    return f"last {day:%A}", day


def say_future(draws: Draws, today: date) -> tuple[str, date]:
    """The same for a day to come."""
    form = draws.below(4)
    if form == 0:
        return "tomorrow", today + timedelta(days=1)
    if form == 1:
        ahead = draws.between(3, 12)
        return f"in {WORDS[ahead]} days", today + timedelta(days=ahead)
    if form == 2:
        weeks = draws.between(2, 4)
        return f"in {WORDS[weeks]} weeks", today + timedelta(weeks=weeks)
    day = today + timedelta(days=draws.between(3, 30))
    return f"on {day.day} {day:%B}", day


def days_golds(days: int) -> tuple[str, ...]:
    """Accepted spellings of a number of days.

    >>> days_golds(14)
    ('14 days', 'fourteen days', '2 weeks', 'two weeks')
    >>> days_golds(1)
    ('1 day', 'one day')
    """
    spelled = [f"{days} day{'s' * (days != 1)}"]
    if days < len(WORDS):
        spelled.append(f"{WORDS[days]} day{'s' * (days != 1)}")
    if days and days % 7 == 0:
        weeks = days // 7
        spelled.append(f"{weeks} week{'s' * (weeks != 1)}")
        if weeks < len(WORDS):
            spelled.append(f"{WORDS[weeks]} week{'s' * (weeks != 1)}")
    return tuple(spelled)
