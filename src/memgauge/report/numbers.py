"""How numbers are printed: the only place that rounds."""

from memgauge.stats.intervals import Estimate, Interval

UNDEFINED = "n/a"


def number(value: float | None, digits: int = 3) -> str:
    """A fixed number of decimals, without a negative zero.

    >>> number(0.5), number(-0.0001), number(None)
    ('0.500', '0.000', 'n/a')
    """
    if value is None:
        return UNDEFINED
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def signed(value: float | None, digits: int = 3) -> str:
    """With its sign, for differences.

    >>> signed(0.04), signed(-0.04), signed(0.0)
    ('+0.040', '-0.040', '0.000')
    """
    text = number(value, digits)
    return f"+{text}" if value is not None and value > 0 and float(text) != 0 else text


def interval(value: Interval | None, digits: int = 3) -> str:
    """Both ends in brackets.

    >>> interval(Interval(0.1, 0.25), 2), interval(None)
    ('[0.10, 0.25]', 'n/a')
    """
    return UNDEFINED if value is None else f"[{number(value.low, digits)}, {number(value.high, digits)}]"


def estimate(value: Estimate, digits: int = 3) -> str:
    """A mean with its question interval.

    >>> estimate(Estimate(0.5, 2, Interval(0.0, 1.0)), 2)
    '0.50 [0.00, 1.00]'
    """
    if value.value is None:
        return UNDEFINED
    return f"{number(value.value, digits)} {interval(value.interval, digits)}"


def percent(value: float | None, digits: int = 0) -> str:
    """A share as a percentage.

    >>> percent(0.964), percent(None)
    ('96 %', 'n/a')
    """
    return UNDEFINED if value is None else f"{number(100 * value, digits)} %"


def p_value(value: float | None, draws: int) -> str:
    """A share of draws; 0 of them is printed as less than one draw.

    >>> p_value(0.0, 10_000), p_value(0.0, 400), p_value(0.0312, 10_000), p_value(None, 10_000)
    ('< 0.0001', '< 0.003', '0.0312', 'n/a')
    """
    if value is None:
        return UNDEFINED
    digits = len(str(max(draws - 1, 1)))  # as many as one draw needs
    return f"< {1 / draws:.{digits}f}" if value == 0 else number(value, digits)


def hundredths(value: int | None) -> str:
    """A published number held as whole hundredths, as its paper prints it.

    >>> hundredths(53), hundredths(-2), hundredths(None)
    ('0.53', '-0.02', 'n/a')
    """
    return UNDEFINED if value is None else number(value / 100, 2)


def estimate_numbers(name: str, found: Estimate) -> dict[str, float | None]:
    """An estimate for JSON: NAME and the ends of its two intervals, None where undefined; unrounded.

    >>> estimate_numbers("write_gap", Estimate(0.5, 2))["write_gap_low"] is None
    True
    """
    numbers: dict[str, float | None] = {name: found.value}
    for suffix, bounds in (("", found.interval), ("_clustered", found.clustered)):
        numbers[f"{name}{suffix}_low"] = None if bounds is None else bounds.low
        numbers[f"{name}{suffix}_high"] = None if bounds is None else bounds.high
    return numbers
