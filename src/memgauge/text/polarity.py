"""Which side a yes/no answer takes, and which one its gold asks for."""

import re
from functools import lru_cache
from typing import Literal

from memgauge.text.normalise import clean_unicode
from memgauge.text.refusals import is_refusal, statements

Polarity = Literal["yes", "no"]

_HEDGES = (
    r"(?:(?:most|very|quite|highly|likely|probably|presumably|possibly|maybe|perhaps|definitely|certainly"
    r"|absolutely|of course|i think|i guess|i would say|well|oh),?\s+)*"
)
_END = r"(?=\s*(?:$|[,.;:!?)\"'*]|-\s|--))"
_GOLD_POLARITY = re.compile(rf"{_HEDGES}(?:(yes)|(no|not)){_END}")
_CLEAR = re.compile(
    r"(?<!\bnot )\b(?:(yes|yeah|yep|yup)\b(?![-'])"
    rf"|(?:nope|nah)\b|(?<!-)\bno(?:{_END}"
    r"|\s+(?:because|since|as|but|he|she|they|it|i|we|you)\b))"
    rf"|(?:^|[,:]\s*){_HEDGES}not(?:\s+(?:really|likely|exactly))?{_END}|^unlikely\b"
)
_NUMBER = re.compile(r"\bno\.\s*(?=[0-9])")


@lru_cache(maxsize=65536)
def gold_polarity(gold: str) -> Polarity | None:
    """The side of a yes/no gold: yes, no or not after hedges, then an end or a mark; else None.

    >>> gold_polarity("Likely no; she is busy"), gold_polarity("no more than 30"), gold_polarity("Yesterday")
    ('no', None, None)
    """
    found = _GOLD_POLARITY.match(clean_unicode(gold).casefold().strip())
    if found is None or re.match(r"no\.\s*[0-9]", clean_unicode(gold).casefold().strip()):
        return None
    return "yes" if found[1] else "no"


def answer_polarity(answer: str) -> Polarity | None:
    """The first clear yes or no of the last statement that has one; refusing statements say neither.

    A clear "no" stands alone or before a mark or a reason; as a determiner ("no doubt") it is not one, nor is
    "no." before a digit, which is short for number. "Not yes" says neither.

    >>> answer_polarity("There is no doubt: yes."), answer_polarity("Yes at first. Now no.")
    ('yes', 'no')
    """
    # Before the split, which would otherwise part "no." from its number.
    text = _NUMBER.sub("number ", clean_unicode(answer).casefold())
    for statement in reversed(statements(text)):
        found = _CLEAR.search(statement.lstrip("\"'*([- "))
        if found and not is_refusal(statement):
            return "yes" if found[1] else "no"
    return None
