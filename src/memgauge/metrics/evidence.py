"""Evidence recall without a reader (paper A, "Metrics"): which gold turns and details a memory still holds.

A gold answer's spans are, in this order and without overlap:
  dates    day, month, year in any usual order (day or year may be absent), ISO days, years, weekdays;
  numbers  digits with grouping, decimals, times or fractions, and the words "two" ... "thousand";
  names    runs of capitalised words, joined by "of", "de", "the" ...; function words and hedges
           ("The", "Yes", "Likely", "She") do not begin one; a sentence's first word alone
           is none where a lower-case word follows ("Watching movies").
A span is found when it stands in the context letter for letter at word edges, after quotes, dashes and case
are unified.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

from memgauge.text.normalise import clean_unicode, tokens

THRESHOLD = 0.5

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY, _YEAR = r"[0-3]?[0-9](?:st|nd|rd|th)?", r"[12][0-9]{3}"
_DATE = re.compile(
    rf"(?<![$€£¥.,:/\w])(?:{_YEAR}-[0-9]{{2}}-[0-9]{{2}}|{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?"
    rf"|{_MONTH} {_DAY}(?:,? {_YEAR})?(?![0-9])|{_MONTH},? {_YEAR}|{_YEAR}(?![0-9.:/]*[0-9])"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)(?!\w)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w.])(?<![0-9][,:/])[$€£¥]?[0-9]+(?:[.,:/][0-9]+)*(?:st|nd|rd|th|%)?(?!\w|[.,:/][0-9])"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy"
    r"|eighty|ninety|hundred|thousand|dozen)\b",
    re.IGNORECASE,
)
_PIECE = re.compile(r"(?:[A-Z]\.)+(?!\w)|(?:Dr|Mr|Mrs|Ms|St|Prof)\.|[\w&]+(?:['.-](?!s\b)[\w&]+)*|[^\w\s]")
# Most golds open with a capital that is no name ("Watching movies"): on LoCoMo about 6 of 7 such openers.
_OPENER = re.compile(
    r"(?:\A|(?<=[.!?] )(?<!\b[A-Z]\. )(?<!\b[DM][rs]\. )(?<!\bSt\. )(?<!\bMrs\. )(?<!\bProf\. ))[A-Z][a-z]+"
    r"(?=,? (?!(?:(?:and|or|of|de|la|the|du|von|van) )+[A-Z])[a-z])"
)
_JOINERS = frozenset({"of", "de", "la", "the", "du", "von", "van"})
_COMMON_WORDS = (
    "a an the yes no not likely unlikely possibly probably presumably maybe perhaps most somewhat "
    "definitely certainly he she it they we you i his her its their our your my him them this that "
    "these those there here in on at by to for from with without about after before during since until "
    "because when where while who what why how if as and or but so both each every all some any none "
    "one many more much several other another is are was were be been has have had do does did will "
    "would can could should may might must being having yesterday today tomorrow last next around "
    "approximately nothing never neither then"
)
_COMMON = frozenset(_COMMON_WORDS.split())


class EntryIndex:
    """The token sets of one store's entries, ready for "is there an entry this close to that turn?".

    Two sets with Jaccard above t share more than t of either set's tokens, so an entry that qualifies
    must hold one of the gold turn's rarest tokens: only the entries listed under those are compared.
    Exact, no estimate.
    """

    def __init__(self, entry_texts: Sequence[str]) -> None:
        self._sets = [token_set(text) for text in entry_texts]
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for place, words in enumerate(self._sets):
            for word in words:
                self._places[word].append(place)

    def closest(self, text: str) -> tuple[int, float] | None:
        """Position and Jaccard of the closest entry (the first of equals); None when none shares a token."""
        words = token_set(text)
        candidates = {place for word in words for place in self._places.get(word, ())}
        if not candidates:
            return None
        score, place = max((jaccard(words, self._sets[place]), -place) for place in candidates)
        return -place, score

    def keeps(self, text: str, threshold: float = THRESHOLD) -> bool:
        """Whether the closest entry's Jaccard is above the threshold (strictly; 0 <= threshold < 1)."""
        words = token_set(text)
        needed = int(threshold * len(words)) + 1
        rarest = sorted(words, key=lambda word: (len(self._places.get(word, ())), word))
        candidates = {place for word in rarest[: len(words) - needed + 1] for place in self._places.get(word, ())}
        return any(jaccard(words, self._sets[place]) > threshold for place in candidates)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared over all tokens; two empty sets have nothing in common (0).

    >>> jaccard(frozenset("ab"), frozenset("bc"))
    0.3333333333333333
    """
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


@lru_cache(maxsize=65536)
def token_set(text: str) -> frozenset[str]:
    """The distinct normalised tokens of a text."""
    return frozenset(tokens(text))


@lru_cache(maxsize=64)
def entry_index(entry_texts: tuple[str, ...]) -> EntryIndex:
    """The index of a store's entries, built once for all of its questions."""
    return EntryIndex(entry_texts)


def turn_recall(gold_texts: Sequence[str], entry_texts: Sequence[str]) -> float | None:
    """Share of gold turns whose token-set Jaccard with the closest entry is above 0.5; None without turns.

    >>> turn_recall(["Ann: I moved to Rome", "Bob: fine"], ["Ann: I moved to Rome today"])
    0.5
    """
    if not gold_texts:
        return None
    index = entry_index(tuple(entry_texts))
    return sum(index.keeps(text) for text in gold_texts) / len(gold_texts)


def span_recall(golds: Sequence[str], context: str) -> float | None:
    """Share of a gold's distinct spans found in the context, best gold counts; None when no gold has a span.

    >>> span_recall(["Ann moved to Rome in May 2023"], "[8 May 2023]\\nBob: Ann is in Rome!")
    1.0
    >>> span_recall(["5 dogs", "3.5 dogs"], "15 dogs, 3.5 cats"), span_recall(["a dog"], "a dog")
    (1.0, None)
    """
    wanted = [found for found in (spans(gold) for gold in golds) if found]
    if not wanted:
        return None
    text = _searchable(context)
    return max(sum(_stands_in(span, text) for span in found) / len(found) for found in wanted)


@lru_cache(maxsize=65536)
def spans(gold: str) -> tuple[str, ...]:
    """The distinct dates, numbers and names of a gold answer, case-folded, in that order.

    >>> spans("She saw Ann's 3 dogs and the Tower of London on 7 May 2023")
    ('7 may 2023', '3', 'ann', 'tower of london')
    >>> spans("Likely no"), spans("Two cats")
    ((), ('two',))
    """
    text = " ".join(clean_unicode(gold).split())
    found: list[str] = []
    for pattern in (_DATE, _NUMBER):
        found.extend(match.group() for match in pattern.finditer(text))
        text = pattern.sub("|", text)
    found.extend(_names(_OPENER.sub("|", text)))
    return tuple(dict.fromkeys(span.casefold() for span in found if span))


def _names(text: str) -> list[str]:
    """Runs of capitalised words as they stand in the text; a joiner belongs between two of its words."""
    found: list[str] = []
    start, end = 0, 0  # of the present run; empty when equal
    for piece in _PIECE.finditer(text):
        word = piece.group()
        if word[0].isupper() and not (start == end and word.casefold() in _COMMON):
            start, end = (start if start < end else piece.start()), piece.end()
        elif start < end and word not in _JOINERS:
            found.append(text[start:end])
            start = end
    return [*found, text[start:end]]


@lru_cache(maxsize=64)
def _searchable(context: str) -> str:
    return " ".join(clean_unicode(context).casefold().split())


def _stands_in(span: str, text: str) -> bool:
    """Whether the span stands in the text with no letter or digit, nor more of its number, on either side."""
    words = span.split()
    start = text.find(span)
    while start >= 0:
        before, after = text[max(start - 2, 0) : start], text[start + len(span) : start + len(span) + 2]
        if not (_runs_on(words[0], span[0], before[::-1]) or _runs_on(words[-1], span[-1], after)):
            return True
        start = text.find(span, start + 1)
    return False


def _runs_on(word: str, edge: str, outside: str) -> bool:
    """Whether the text beyond an edge continues the word or number there ("3" in "3.5" or "1,300")."""
    if not edge.isalnum() or not outside:
        return False
    more = outside[0] in ".,:/" and outside[1:].isdigit() and not any(map(str.isalpha, word))
    return outside[0].isalnum() or more
