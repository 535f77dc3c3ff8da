"""Sentences of a message: where they end, and what of them carries no content."""

import re
from collections.abc import Collection

_ABBREVIATIONS = frozenset(
    str.split("mr mrs ms dr prof st vs etc approx dept inc ltd jr sr no fig a.m p.m e.g i.e u.s")
)
_END = re.compile(r"(?:[.!?…]+[\"'”’)\]]*|[\U0001F300-\U0001FAFF☀-➿]+)(?=\s+|$)|\n+")
_LIST_MARK = re.compile(r"^(?:[-*•#>]+|\d{1,2}[.)])\s+")
_FILLER = re.compile(
    r"^(?:(?:oh|ah|aw+|wow|whoa|hey|hi|hello|yeah+|yep|yes|yup|no|nope|nah|sure|thanks(?: a (?:lot|bunch))?|"
    r"thank you|thx|totally|absolutely|definitely|of course|exactly|congrats|congratulations|cool|nice|awesome|great|"
    r"ok|okay|well|so|anyway|actually|honestly|by the way|btw|also|haha+|lol|hm+|um+|uh|yay|and|but|plus|"
    r"right|true|i see|i know|you know|good question|glad to hear (?:it|that)|sounds (?:great|good|fun))"
    r"(?:,? [A-Z][a-z]+)?(?:\s*[,!.\-–—:;]+|(?<=so)|(?<=and)|(?<=but)|(?<=well)|(?<=also)|(?<=plus))\s+)",
    re.IGNORECASE,
)
_VOCATIVE_END = re.compile(r",\s+(?P<who>[A-Z][a-z]+|man|dude|buddy|guys|my friend|bro)(?P<end>[.!?]*)$")
_FRIENDLY = frozenset({"man", "dude", "buddy", "guys", "my friend", "bro"})
_TAG_END = re.compile(r",\s+(?:you know|right|too|though|haha+|lol|as well)([.!?]*)$", re.IGNORECASE)


def split_sentences(text: str) -> list[str]:
    """Sentences in order, without list marks; abbreviations, decimals and file names do not end one.

    >>> split_sentences("I met Dr. Lee at 3.30 p.m. on Monday! It went well")
    ['I met Dr. Lee at 3.30 p.m. on Monday!', 'It went well']
    """
    sentences: list[str] = []
    start = 0
    for match in _END.finditer(text):
        if _is_abbreviation(text, start, match):
            continue
        _keep(text[start : match.end()], sentences)
        start = match.end()
    _keep(text[start:], sentences)
    return sentences


def _keep(piece: str, sentences: list[str]) -> None:
    piece = _LIST_MARK.sub("", piece.strip())
    if any(character.isalnum() for character in piece):
        sentences.append(piece)
    elif piece and sentences and not piece.isspace():
        sentences[-1] = f"{sentences[-1]} {piece}" if len(piece) <= 2 else sentences[-1]


def _is_abbreviation(text: str, start: int, match: re.Match[str]) -> bool:
    if match.group() != ".":
        return False
    words = text[start : match.start()].split()
    last = words[-1].lower().lstrip("(\"'") if words else ""
    follows = text[match.end() : match.end() + 40].lstrip()
    if last in _ABBREVIATIONS:
        # "p.m." and "etc." may also close a sentence: then a capital follows.
        return not (last in {"a.m", "p.m", "etc", "inc", "u.s"} and follows[:1].isupper())
    return (len(last) == 1 and last.isalpha() and last != "i" and follows[:1].isupper()) or (
        len(words) == 1 and last.isdigit()
    )


def strip_fillers(sentence: str, names: Collection[str] = ()) -> str:
    """The sentence without greetings, interjections, closing tags, and the name (of `names`) it closes with.

    Only a listener's name is a vocative: in "I have a new coach, Petra." the name is the news.

    >>> strip_fillers("Hey Mel, yeah, I adopted a puppy, Melanie!", ["Melanie"])
    'I adopted a puppy!'
    """
    previous = None
    while previous != sentence:
        previous = sentence
        shorter = _FILLER.sub("", sentence, count=1)
        sentence = shorter if any(character.isalnum() for character in shorter) else sentence
        sentence = _TAG_END.sub(r"\1", sentence)
    vocative = _VOCATIVE_END.search(sentence)
    if vocative and (vocative["who"] in _FRIENDLY or any(name.startswith(vocative["who"]) for name in names)):
        sentence = sentence[: vocative.start()] + vocative["end"]
    return sentence.strip()
