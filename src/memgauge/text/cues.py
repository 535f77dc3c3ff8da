"""Surface cues that a statement is worth keeping: dates, names, numbers, negation, preference, decision."""

import re
from collections.abc import Collection
from dataclasses import dataclass

_MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_DATE = re.compile(
    rf"\b(?:{_MONTHS}|{_DAYS}|may \d|\d{{1,2}} may|yesterday|today|tonight|tomorrow|weekend|"
    r"(?:last|next|this) (?:week|month|year|summer|winter|spring|fall|autumn)|"
    r"(?:days?|weeks?|months?|years?) ago|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
# A capitalised word that no start of a sentence or line explains: a name.
_NAME = re.compile(r"(?<=[a-z0-9,;'’)] )(?!I['’])[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*")
_NUMBER = re.compile(
    r"\d+(?:[.,:]\d+)*|\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen|twice|hundred|thousand)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|never|no longer|none|nobody|nothing|neither|without|cannot)\b|n['’]t\b", re.IGNORECASE
)
_PREFERENCE = re.compile(
    r"\b(?:love[sd]?|like[sd]?|enjoy(?:s|ed)?|prefer(?:s|red)?|hate[sd]?|dislike[sd]?|favou?rite|"
    r"fan of|into|allergic|rather|passion(?:ate)?)\b",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:decid(?:e|es|ed)|plan(?:s|ned|ning)?|going to|will|signed up|start(?:ed|ing)?|quit|stopp?(?:ed)?|"
    r"mov(?:ed|ing)|bought|booked|chose|switch(?:ed)?|join(?:ed)?|finish(?:ed)?|got|adopted|changed)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Cues:
    """How many different cues of each kind a text holds."""

    dates: int
    names: int
    numbers: int
    negations: int
    preferences: int
    decisions: int


def count_cues(text: str, addressed: Collection[str] = ()) -> Cues:
    """Distinct cues of each kind, compared without case; case-folded names in `addressed` do not count.

    >>> count_cues("I never told Ann, but on 7 May Bob and Bob bought two cars.")
    Cues(dates=1, names=3, numbers=2, negations=1, preferences=0, decisions=1)
    """
    kinds = (_DATE, _NAME, _NUMBER, _NEGATION, _PREFERENCE, _DECISION)
    dates, names, *others = ({found.casefold() for found in kind.findall(text)} for kind in kinds)
    return Cues(len(dates), len(names.difference(addressed)), *map(len, others))
