"""The part of a sentence that is news to the question: a short answer cut out of the sentence that holds it."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from memgauge.solvers.extractive.kinds import Expected
from memgauge.solvers.extractive.lexicon import (
    ADVERBS,
    AUXILIARIES,
    CONJUNCTIONS,
    FUNCTION,
    PREPOSITIONS,
    PRONOUNS,
    stem,
)
from memgauge.solvers.extractive.lexicon import words as words_of

_TOKEN = re.compile(r"[$€£]?[^\W_]+(?:['’.:-][^\W_]+)*")
_BREAK = re.compile(
    r"[;:()—–]|\s-+\s|\.\s|,\s+(?=(?:but|so|and (?:i|we|it|he|she|they)|which|who|it|i|we|that|because)\b)",
    re.I,
)
_CONTRACTED = words_of("i'm it's i've we're that's he's she's")
_KEPT = words_of("to my his her our their your more many much never")
_LEADING = (CONJUNCTIONS | PRONOUNS | AUXILIARIES | ADVERBS | _CONTRACTED) - _KEPT
_TRAILING = (CONJUNCTIONS | PREPOSITIONS | AUXILIARIES | {"the", "a", "an", "i", "we", "it's", "very", "so"}) - {
    "up",
    "out",
    "off",
    "down",
}
_COMPLETES = re.compile(r"\w*\d|[a-z]+(?:ing|ed) (?:the|a|an|in|to|from|with|by)\b|(?:with|of|made) ")
_REASON = re.compile(
    r"\b(?:because(?: of)?|since|so that|so (?=i|we|he|she|they)|due to|thanks to|"
    r"in order to|inspired by|motivated by)\s+(?P<why>.+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a sentence: its place, its small letters, and whether the question already has it."""

    start: int
    end: int
    lower: str
    given: bool
    light: bool


def _words(text: str, given: Collection[str]) -> list[Word]:
    words = []
    for match in _TOKEN.finditer(text):
        lower = match.group().lower().replace("’", "'")
        light = lower.split("'")[0] in FUNCTION or lower in ADVERBS
        words.append(Word(match.start(), match.end(), lower, not light and stem(lower) in given, light))
    return words


def new_part(text: str, expected: Expected, longest: int = 20) -> str:
    """The stretch with the most words that the question lacks, trimmed of its edges; at most `longest` words.

    >>> from memgauge.solvers.extractive.kinds import understand
    >>> new_part("My brother gave me a handwritten letter", understand("What did her brother give Ann?"), 4)
    'a handwritten letter'
    """
    given = set(expected.terms) | {stem(name) for name in expected.names}
    words = _words(text, given)
    breaks = [match.start() for match in _BREAK.finditer(text)]
    best: tuple[float, int, int] = (0.0, 0, len(words))
    for first, last in _runs(words, breaks):
        score = _score(words, breaks, first, last)
        if score > best[0]:
            best = (score, first, last)
    first, last = _trim(words, *_widen(words, breaks, best[1], best[2], longest))
    last = min(last, first + longest)
    # "locker 250", "abstract art": the word that the question asks for belongs to the answer
    if last < len(words) and words[last].given and stem(words[last].lower) in expected.focus and last - first < 5:
        last += 1
    if 0 < first < last and words[first - 1].given and stem(words[first - 1].lower) in expected.terms:
        first -= bool(_COMPLETES.match(text, words[first].start)) or _opens_clause(words, breaks, first - 1)
    return text[words[first].start : words[last - 1].end] if first < last else text.strip(" .!?,")


def _opens_clause(words: list[Word], breaks: list[int], position: int) -> bool:
    """Whether a word comes right after a break within the sentence: in "a novel: novels told in letters"."""
    return position > 0 and any(words[position - 1].end <= stop < words[position].start for stop in breaks)


def _widen(words: list[Word], breaks: list[int], first: int, last: int, longest: int) -> tuple[int, int]:
    """The whole sentence, its clause, or the rest of that to the right: the most that `longest` words allow.

    A longer answer holds the gold more often, a shorter one overlaps it better; `longest` sets the balance.
    """
    clause = _clause(words, breaks, first, last)
    start, end = words.index(clause[0]), words.index(clause[-1]) + 1
    for wider in ((0, len(words)), (start, end), (first, end)):
        trimmed = _trim(words, *wider)
        if trimmed[1] - trimmed[0] <= longest:
            return wider
    return first, last


def _runs(words: list[Word], breaks: list[int]) -> list[tuple[int, int]]:
    """Maximal stretches without a given word and without a clause break, as (first, last + 1)."""
    runs: list[tuple[int, int]] = []
    first = 0
    for position, word in enumerate(words):
        broken = position > first and any(words[position - 1].end <= stop < word.start for stop in breaks)
        if word.given or broken:
            runs.append((first, position))
            first = position + 1 if word.given else position
    return [run for run in [*runs, (first, len(words))] if run[0] < run[1]]


def _score(words: list[Word], breaks: list[int], first: int, last: int) -> float:
    """News, plus what ties the stretch to the question: words of it in the same clause, and right before."""
    news = sum(not word.light for word in words[first:last])
    if not news:
        return 0.0
    near = sum(word.given for word in _clause(words, breaks, first, last))
    follows = first > 0 and words[first - 1].given
    # "what I like for a party: dinners for four": a colon after a word of the question announces the answer
    announced = _opens_clause(words, breaks, first) and words[first - 1].given
    follows = follows or announced
    near += announced
    return min(news, 3) + 0.1 * news + 1.2 * follows + 1.2 * min(near, 3)


def _clause(words: list[Word], breaks: list[int], first: int, last: int) -> list[Word]:
    """The words between the clause breaks round a stretch."""
    before = max((stop for stop in breaks if stop < words[first].start), default=-1)
    after = min((stop for stop in breaks if stop >= words[last - 1].end), default=words[-1].end)
    return [word for word in words if before < word.start < after]


def _trim(words: list[Word], first: int, last: int) -> tuple[int, int]:
    while first < last and words[first].lower in _LEADING:
        first += 1
    # a sentence that goes to its end is whole: "starts like that"
    while first < last < len(words) and words[last - 1].lower in _TRAILING:
        last -= 1
    # "in the lake": a preposition before the thing is kept out too
    while first < last - 1 and words[first].lower in PREPOSITIONS and words[first].lower != "to":
        first += 1
    return first, last


def reason_part(text: str) -> str | None:
    """What follows a word of reason.

    >>> reason_part("I quit because the pay was bad.")
    'the pay was bad'
    """
    match = _REASON.search(text)
    return match["why"].strip(" .!?,") if match else None


def whole(text: str, expected: Expected, longest: int) -> str:
    """The sentence without its closing mark; of one with more than `longest` words the part that is news."""
    return text.strip(" .!?,") if len(text.split()) <= longest else new_part(text, expected, longest)
