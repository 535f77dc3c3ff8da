"""The three benchmarks' ways of writing a date, read into naive ISO 8601."""

from datetime import datetime

from memgauge.errors import InputError

LOCOMO = "%I:%M %p on %d %B, %Y"
LONGMEMEVAL = "%Y/%m/%d (%a) %H:%M"
BEAM = "%B-%d-%Y"


def iso(stamp: str, pattern: str, place: str) -> str:
    """A date in ISO form, to the minute, or a bare day when the pattern has no time.

    >>> iso("1:56 pm on 8 May, 2023", LOCOMO, "x"), iso("March-15-2024", BEAM, "x")
    ('2023-05-08T13:56', '2024-03-15')
    >>> iso("2023/07/12 (Wed) 10:14", LONGMEMEVAL, "x")
    '2023-07-12T10:14'
    """
    try:
        moment = datetime.strptime(stamp.strip(), pattern)
    except ValueError as error:
        raise InputError(f"{place}: date {stamp!r} does not read as {pattern!r}; correct it") from error
    return moment.isoformat(timespec="minutes") if "%M" in pattern else moment.date().isoformat()
