"""Which kinds of thing a sentence holds: what makes it able to answer a kind of question."""

# ruff: noqa: E501  (a pattern reads best on one line)

import re
from collections.abc import Callable

from memgauge.solvers.extractive.context import Sentence
from memgauge.solvers.extractive.kinds import Expected, Kind
from memgauge.solvers.extractive.lexicon import FUNCTION, content_stems, stem
from memgauge.text.entities import CAPITALISED_BY_RULE, Name, find_names, find_places
from memgauge.text.numbers import NumberSpan, find_durations, find_frequencies, find_numbers

_REASON = re.compile(
    r"\b(?:because|since|so that|as|due to|to \w+|thanks to|inspired|motivated|wanted to|want to|helps?|in order|for my|after)\b",
    re.IGNORECASE,
)
_TIE = re.compile(
    r"\b(?:my|his|her|our|their) (?:\w+ )?(?:mom|mother|dad|father|sister|brother|friends?|wife|husband|partner|boss|aunt|uncle|"
    r"cousin|grandma|grandmother|grandpa|grandfather|kids?|children|son|daughter|family|coach|teacher|neighbor|colleagues?|"
    r"girlfriend|boyfriend|roommate|team|coworkers?|nephew|niece|parents|mentor|therapist|doctor)\b(?-i:,? [A-Z][a-z]+)?",
    re.IGNORECASE,
)
_NOUN = rf"(?!(?:{'|'.join(sorted(FUNCTION))})\b)[a-z][\w-]*"
_PLACE_PHRASE = re.compile(
    r"\b(?:at|in|to|on|near|by|from|inside|outside|around|into|under|behind)\s"
    rf"((?:the|a|an|my|our|this|that|his|her|their)\s{_NOUN}(?:\s{_NOUN}){{0,2}}(?:\s(?:of|above|below|behind|beside|under|near|by|in|on|at)\s(?:my|the|a|our)\s{_NOUN}(?:\s{_NOUN})?)?)"
)
_NAMED_PLACE = re.compile(
    r"\b(?:what|which) (?:city|cities|country|countries|state|states|town|towns|island|continent)\b", re.I
)
_ANOTHER = re.compile(r"(?:[Tt]he [\w ]{2,30} of )?[Mm]y (?P<tie>(?:[a-z-]+ ){1,3})[A-Z][a-z]+|[SH]h?e(?:'s)? ")
_MINE = re.compile(r"\bmy ([a-z-]+(?: [a-z-]+)?)")
_ACTOR = re.compile(r"([A-Z][a-z]+) (?:never |always )?[a-z]+(?:s|ed)\b")
CLOCK = re.compile(
    r"\b(?:[01]?\d|2[0-3]):[0-5]\d(?:\s?[ap]\.?m\b\.?)?|\b1?\d\s?[ap]\.?m\b\.?|\bnoon\b|\bmidnight\b",
    re.IGNORECASE,
)


def other_names(expected: Expected, sentence: Sentence) -> list[Name]:
    """Names in a sentence that the question does not give away."""
    known = set(expected.names) | {sentence.speaker}
    return [name for name in find_names(sentence.core) if not {part.lower() for part in name.text.split()} <= known]


def titles(expected: Expected, sentence: Sentence) -> list[str]:
    """Quoted titles first, then names."""
    names = other_names(expected, sentence)
    return [name.text for name in names if name.quoted] + [name.text for name in names if not name.quoted]


def people(expected: Expected, sentence: Sentence) -> list[str]:
    """Named people, then kin and friends ("my sister")."""
    elsewhere = {name.text for name in find_places(sentence.core)}
    names = [name.text for name in other_names(expected, sentence) if not name.quoted and name.text not in elsewhere]
    ties = [match.group() for match in _TIE.finditer(sentence.core)]
    named = [tie for tie in ties if any(tie.endswith(f" {name}") for name in names)]
    return [*named, *names, *ties]


def named_places(expected: Expected, sentence: Sentence) -> list[str]:
    """Places by name, other than what the question names."""
    return [name.text for name in find_places(sentence.core) if name.text.lower() not in expected.names]


def places(expected: Expected, sentence: Sentence) -> list[str]:
    """Named places, then phrases of place ("the local shelter") unless the question wants a name."""
    named = named_places(expected, sentence)
    if _NAMED_PLACE.search(expected.question):
        return named
    phrases = [match[1] for match in _PLACE_PHRASE.finditer(sentence.core) if not _timely(match[1])]
    return named + [phrase for phrase in phrases if not set(content_stems(phrase)) <= set(expected.terms)]


def _timely(phrase: str) -> bool:
    return bool(
        re.search(
            r"\b(?:day|week|month|year|morning|night|time|moment|end|way|future|past|start|weekend)s?\b",
            phrase,
        )
    )


def numbers(expected: Expected, sentence: Sentence) -> list[NumberSpan]:
    """Numbers that are no part of a date; those whose noun the question names come first."""
    dates = [(span.start, span.end) for span in sentence.dates]
    found = [span for span in find_numbers(sentence.core) if not any(start <= span.start < end for start, end in dates)]
    if expected.kind == "money":
        return [span for span in found if span.kind == "money"] or found
    if expected.kind == "count":
        found = [span for span in found if span.kind == "plain"]
    wanted = set(expected.focus)
    return sorted(found, key=lambda span: stem(span.noun) not in wanted if span.noun else True)


def another(sentence: Sentence) -> frozenset[str] | None:
    """None unless the subject is a third person ("My friend Dana ...", "Dana has ..."); then the tie's stems."""
    tied = _ANOTHER.match(sentence.core)
    if tied:
        return frozenset(content_stems(tied["tie"] or ""))
    actor = _ACTOR.match(sentence.core)
    named = actor is not None and actor[1].lower() not in CAPITALISED_BY_RULE and not actor[1].endswith("ing")
    # "Omar is my coach" is about the coach
    ties = (stem for match in _MINE.finditer(sentence.core) for stem in content_stems(match[1]))
    return frozenset(ties) if named else None


_HOLDS: dict[Kind, Callable[[Expected, Sentence], object]] = {
    "date": lambda expected, sentence: sentence.dates,
    "clock": lambda expected, sentence: CLOCK.search(sentence.core),
    "interval": lambda expected, sentence: sentence.dates or find_durations(sentence.core),
    "duration": lambda expected, sentence: find_durations(sentence.core),
    "frequency": lambda expected, sentence: find_frequencies(sentence.core),
    "count": numbers,
    "number": numbers,
    "money": lambda expected, sentence: any(span.kind == "money" for span in find_numbers(sentence.core)),
    "person": people,
    "place": places,
    "title": titles,
    "reason": lambda expected, sentence: _REASON.search(sentence.core),
    "choice": lambda expected, sentence: any(option.lower() in sentence.core.lower() for option in expected.options),
}


def carries(expected: Expected, sentence: Sentence) -> float:
    """1 when the sentence holds something of the expected kind, else 0.

    For kinds that any sentence can answer (lists, yes/no, phrases) it is 0.
    """
    holds = _HOLDS.get(expected.kind)
    return 1.0 if holds is not None and holds(expected, sentence) else 0.0
