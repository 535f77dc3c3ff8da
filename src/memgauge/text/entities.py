"""Names and titles in running text: capitalised runs and quoted titles, without a model."""

import re
from collections.abc import Collection
from dataclasses import dataclass

_WORD = r"[A-Z][\w'’&-]*[\w]|[A-Z]"
_RUN = re.compile(rf"(?:{_WORD})(?:(?:\s|\s(?:of|the|de|la|and the|for)\s|\s&\s|:\s|-|\.\s)(?:{_WORD}|\d+))*")
_QUOTED = re.compile(r"[\"“]([^\"“”\n]{2,80})[\"”]")
# Words whose capital says nothing: they open sentences, or are always written so.
CAPITALISED_BY_RULE = frozenset(
    str.split("""
    i i'm i've i'll i'd the a an and but or so if when while my your his her our their its it it's this
    that these those there here he she we they you what which who whom whose where why how is are
    was were do does did have has had can could will would should may might yes yeah yep no nope not
    ok okay oh wow hey hi hello thanks thank sure well also just then now as at by for from in of on
    to with after before since because although though let let's lets don't doesn't didn't can't
    won't that's there's what's who's he's she's we're they're you're we've you've some any all
    every each both many much more most even only still maybe perhaps great good nice cool awesome
    amazing congrats congratulations absolutely definitely totally really glad happy sorry sounds
    looks looking got they starting everyone everybody everything someone somebody something anyone
    anything nobody nothing people things life others another other such during without like such
    today's half get getting going gonna been being plus anyway actually honestly lately recently
    yesterday today tomorrow last next one two three four five six seven eight nine ten keep take
    took thx image lol haha btw omg aw yay monday tuesday wednesday thursday friday saturday sunday
    january february march april june july august september october november december""")
)
# "Milan has ...", "Ann, my ...": an opening word that acts like a name
_ACTS = re.compile(
    r"(?:'s)?,? (?:has|is|was|had|will|would|said|says|told|lives|works|loves|likes|wants|went|got|my|and I)\b"
)
PLACE_CUE = re.compile(
    r"\b(?:in|at|to|from|near|around|visit(?:ed|ing)?|through|across|outside|inside|into|toward|towards|"
    r"live[sd]?|moved|based)\s+(?:the\s+)?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Name:
    """A name at `text[start:end]`; `quoted` when it stood in quotation marks, `opening` when it began the text."""

    start: int
    end: int
    text: str
    quoted: bool = False
    opening: bool = False


def find_names(text: str, known: Collection[str] = ()) -> list[Name]:
    """Names left to right; a lone capitalised word that opens the text counts only when `known` (lower case).

    >>> [n.text for n in find_names('Yesterday Ann read "The Long Way" near Lake Como.')]
    ['Ann', 'The Long Way', 'Lake Como']
    """
    names = [Name(m.start(), m.end(), m[1], quoted=True) for m in _QUOTED.finditer(text)]
    taken = [(name.start, name.end) for name in names]
    for match in _RUN.finditer(text):
        if any(start <= match.start() < end for start, end in taken):
            continue
        name = _trim(text, match.start(), match.end(), known)
        if name is not None:
            names.append(name)
    return sorted(names, key=lambda name: (name.start, name.end))


def _trim(text: str, start: int, end: int, known: Collection[str]) -> Name | None:
    """Drop leading words that are capitalised by rule; refuse what is left when it is no name."""
    words = text[start:end].split()
    opening = _opens(text, start)
    while words and _bare(words[0]) in CAPITALISED_BY_RULE:
        start = text.index(words[0], start) + len(words[0])
        start += len(text[start:end]) - len(text[start:end].lstrip())
        words = words[1:]
        opening = False
    if not words:
        return None
    piece = text[start:end]
    if piece.endswith(("'s", "’s")):
        piece = piece[:-2]
    if opening and len(words) == 1 and not (_bare(piece) in known or piece.isupper() or _ACTS.match(text, end)):
        return None
    return Name(start, start + len(piece), piece, opening=opening)


def _bare(word: str) -> str:
    return word.lower().replace("’", "'").strip(".:")


def _opens(text: str, start: int) -> bool:
    before = text[:start].rstrip()
    return not before or before[-1] in '.!?:\n"“('


def find_places(text: str, known: Collection[str] = ()) -> list[Name]:
    """The names that follow a word of place ("in", "to", "visited").

    >>> [n.text for n in find_places("Ann flew to Rome with Tom, then stayed in Lake Como")]
    ['Rome', 'Lake Como']
    """
    return [name for name in find_names(text, known) if PLACE_CUE.search(text[: name.start])]
