"""Numbers, amounts of money, durations and frequencies in running text."""

import re
from dataclasses import dataclass

_SMALL = str.split(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = str.split("twenty thirty forty fifty sixty seventy eighty ninety")
WORD_VALUES: dict[str, int] = (
    {word: value for value, word in enumerate(_SMALL)}
    | {word: 10 * value for value, word in enumerate(_TENS, 2)}
    | {
        "dozen": 12,
        "once": 1,
        "twice": 2,
        "thrice": 3,
        "both": 2,
        "couple": 2,
        "hundred": 100,
        "thousand": 1000,
    }
)
_TEN = "|".join(_TENS)
_WORD = rf"(?:(?:{_TEN})[- ](?:{'|'.join(_SMALL[1:10])})|{'|'.join(sorted(WORD_VALUES, key=len, reverse=True))})"
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
UNIT_DAYS = {
    "second": 1 / 86400,
    "minute": 1 / 1440,
    "hour": 1 / 24,
    "day": 1.0,
    "night": 1.0,
    "week": 7.0,
    "fortnight": 14.0,
    "month": 30.44,
    "year": 365.25,
    "decade": 3652.5,
}
_UNIT = rf"(?:{'|'.join(UNIT_DAYS)})s?"
_AMOUNT = rf"(?:{_DIGITS}|{_WORD}|an?|half an?|a few|several|many|a couple(?: of)?)"
_NUMBER = re.compile(
    rf"(?P<money>[$€£¥]\s?)?(?<![\w.,:])(?P<value>{_DIGITS}|\b{_WORD}\b)"
    rf"(?P<scale>\s?(?:k|m|million|billion|thousand|hundred)\b)?(?P<after>\s?%|\s(?:percent|dollars|euros|pounds|bucks)\b)?"
    r"(?![\d]|:\d|(?:st|nd|rd|th)\b)",
    re.IGNORECASE,
)
_DURATION = re.compile(
    rf"\b(?:(?:about|around|almost|nearly|over|more than|roughly|approximately)\s)?(?P<amount>{_AMOUNT})"
    rf"(?:[- ](?:and a half|whole|full|more))?[- ](?P<unit>{_UNIT})\b(?P<half>\sand\sa\shalf)?",
    re.IGNORECASE,
)
_FREQUENCY = re.compile(
    rf"\b(?:(?:{_WORD}|{_DIGITS}|a few|several|a couple(?: of)?)(?:\stimes)?\s(?:an?|per|every|each)\s{_UNIT}"
    r"|(?:every|each)\s(?:other\s|single\s)?(?:\w+\s)?(?:day|night|week|weekend|month|year|morning|evening|afternoon|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?"
    r"|daily|weekly|monthly|yearly|annually|biweekly|on (?:weekends|weekdays)|"
    r"on (?:mon|tues|wednes|thurs|fri|satur|sun)days)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NumberSpan:
    """A number at `text[start:end]`; `kind` is "money", "percent" or "plain", `noun` the word that follows."""

    start: int
    end: int
    text: str
    value: float
    kind: str
    noun: str


@dataclass(frozen=True, slots=True)
class DurationSpan:
    """A length of time at `text[start:end]`; `days` is its approximate length, a vague amount counting as 3."""

    start: int
    end: int
    text: str
    days: float


def word_value(word: str) -> float | None:
    """The value of a number in digits or words, None when it is neither.

    >>> word_value("twenty-one"), word_value("1,200.5"), word_value("many")
    (21, 1200.5, None)
    """
    word = word.lower().replace("-", " ").strip()
    if re.fullmatch(_DIGITS, word):
        return float(word.replace(",", ""))
    parts = word.split()
    if parts and all(part in WORD_VALUES for part in parts):
        return sum(WORD_VALUES[part] for part in parts)
    return None


_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "billion": 1e9, "hundred": 100}


def find_numbers(text: str) -> list[NumberSpan]:
    """Every number, left to right; ordinals, clock times and single "a" are none.

    >>> [(n.text, n.value, n.kind, n.noun) for n in find_numbers("two cats for $1,200, 35% off")]
    [('two', 2.0, 'plain', 'cats'), ('$1,200', 1200.0, 'money', ''), ('35%', 35.0, 'percent', 'off')]
    """
    spans: list[NumberSpan] = []
    for match in _NUMBER.finditer(text):
        value = word_value(match["value"])
        if value is None:
            continue
        scale = _SCALES.get((match["scale"] or "").strip().lower(), 1)
        following = re.match(r"[- ]([A-Za-z]+)", text[match.end() :])
        noun = following[1].lower() if following else ""
        spans.append(NumberSpan(match.start(), match.end(), match.group(), float(value * scale), _kind(match), noun))
    return spans


def _kind(match: re.Match[str]) -> str:
    after = (match["after"] or "").strip().lower()
    if match["money"] or after in {"dollars", "euros", "pounds", "bucks"}:
        return "money"
    return "percent" if after in {"%", "percent"} else "plain"


def find_durations(text: str) -> list[DurationSpan]:
    """Every length of time, left to right.

    >>> [(d.text, d.days) for d in find_durations("after three weeks and 2 days")]
    [('three weeks', 21.0), ('2 days', 2.0)]
    """
    spans: list[DurationSpan] = []
    for match in _DURATION.finditer(text):
        amount = match["amount"].lower()
        value = word_value(amount)
        if value is None:
            value = {"a": 1.0, "an": 1.0, "half a": 0.5, "half an": 0.5}.get(amount, 2.0 if "couple" in amount else 3.0)
        days = (value + (0.5 if match["half"] else 0)) * UNIT_DAYS[match["unit"].lower().removesuffix("s")]
        spans.append(DurationSpan(match.start(), match.end(), match.group(), days))
    return spans


def find_frequencies(text: str) -> list[str]:
    """Every statement of how often, left to right.

    >>> find_frequencies("I swim twice a week and read every night.")
    ['twice a week', 'every night']
    """
    return [match.group() for match in _FREQUENCY.finditer(text)]


def number_word(value: int) -> str:
    """A small count as a word, digits above nineteen.

    >>> number_word(4), number_word(25)
    ('four', '25')
    """
    return _SMALL[value] if 0 <= value < len(_SMALL) else str(value)
