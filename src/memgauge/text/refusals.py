"""Refusals: how an answer that declines is told.

An answer declines when
  1. its first statement opens (after a lead-in such as "Based on the context,") with one of OPENINGS, the
     reader's own "I don't know" and "No information available." among them, and no ", but ..." follows; or
  2. its first statement holds one of PHRASES, or says that one of SOURCES does not tell; or
  3. the whole answer is one of WHOLE.
A partial answer with an aside ("Paris. I don't know the year.") therefore does not decline.
"""

import re
from itertools import dropwhile

from memgauge.text.normalise import clean_unicode

OPENINGS = (
    "i do not know",
    "we do not know",
    "i do not have enough information",
    "i do not have that information",
    "i do not have any information",
    "i do not have any record",
    "i do not have a record",
    "i have no information",
    "i have no record",
    "i can not answer",
    "i can not determine",
    "i can not tell",
    "i could not find",
    "no information is available",
    "not enough information",
    "insufficient information",
    "there is not enough information",
    "there is no information",
    "i do not have information",
    "there is insufficient information",
    "there is no evidence",
    "it is not possible to determine",
    "it is not possible to tell",
    "it is not possible to say",
    "it is impossible to determine",
    "it is impossible to tell",
    "it is impossible to say",
    "it does not say",
    "it was not discussed",
    "this was not discussed",
    "that was not discussed",
    "unable to determine",
    "can not be determined",
    "it can not be determined",
    "this can not be determined",
    "that can not be determined",
)
PHRASES = (
    "not mentioned",
    "not specified",
    "not stated",
    "never mentioned",
    "never specified",
    "never stated",
    "no mention of",
    "no record of",
    "not enough information",
    "insufficient information",
    "information is not enough",
    "information is not available",
    "information is not provided",
    "can not be determined",
    "could not be determined",
    "you did not mention",
    "you did not say",
    "you never mentioned",
)
SOURCES = (
    "context", "conversation", "conversations", "dialogue", "text", "passage", "passages", "history",
    "memory", "memories", "information", "excerpt", "excerpts", "chat", "record", "records",
)  # fmt: skip
WHOLE = frozenset({"unknown", "n/a", "not known", "not sure", "i am not sure", "no answer", "unanswerable", "no idea"})

_LEAD_IN = re.compile(
    r"(?:(?:sorry|i am sorry|i am afraid|unfortunately|however|but|so|therefore|thus|and)\b(?: that)?,?\s*"
    r"|(?:based on|according to|from|given|in)\s[^,]{0,60},\s*)*"
)
# Bare "no information" also opens answers ("No information was lost"), so what follows it is limited.
_OPENS = re.compile(
    rf"{_LEAD_IN.pattern}(?:(?:{'|'.join(map(re.escape, OPENINGS))})\b"
    r"|no information(?=[^\w]*$| (?:about|on|available|regarding)\b))(?!.*, but\b)"
)
_HOLDS = re.compile(
    rf"\b(?:{'|'.join(map(re.escape, PHRASES))})\b"
    rf"|\b(?:{'|'.join(SOURCES)})\b(?: \w+){{0,3}} (?:does|do|did) not"
    r" (?:mention|say|specify|state|contain|provide|include|tell|indicate)\b"
)
_APOLOGY = re.compile(r"(?:i am )?(?:so |very )?sorry\W*|(?:i apologi[sz]e|my apologies)\W*")  # says nothing itself
_STATEMENTS = re.compile(r"(?<=[.!?;])(?:[\"')\]*]*)\s+|\n+")


def statements(text: str) -> list[str]:
    """The statements of a text: split after . ! ? ; and at line breaks, without outer white space.

    >>> statements("Yes. She went; he stayed")
    ['Yes.', 'She went;', 'he stayed']
    """
    return [part.strip() for part in _STATEMENTS.split(text) if part.strip()]


def is_refusal(text: str | None) -> bool:
    """Whether an answer declines to answer; an empty answer does not (it is an answer of no words).

    >>> is_refusal("I don't know."), is_refusal("No information available."), is_refusal("He does not know")
    (True, True, False)
    """
    parts = [_spell_out(part) for part in statements(clean_unicode(text or "").casefold())]
    parts = list(dropwhile(_APOLOGY.fullmatch, parts))
    if not parts:
        return False
    if len(parts) == 1 and parts[0].strip(" .!\"'*") in WHOLE:
        return True
    return bool(_HOLDS.search(parts[0])) or bool(_OPENS.match(parts[0]))


def _spell_out(statement: str) -> str:
    """Contractions spelled out, opening quotes and marks off, one space between words."""
    full = statement.replace("can't", "can not").replace("cannot", "can not").replace("won't", "will not")
    full = full.replace("dont ", "do not ").replace("n't", " not").replace("i'm", "i am").replace("there's", "there is")
    return " ".join(full.split()).lstrip("\"'*([- ")
