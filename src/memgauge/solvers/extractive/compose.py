"""One short answer a question, by the kind of answer it expects."""

import re
from collections.abc import Callable

from memgauge.solvers.extractive import evidence, moments, spans
from memgauge.solvers.extractive.context import Sentence
from memgauge.solvers.extractive.kinds import Expected, Kind
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.ranked import Ranked
from memgauge.solvers.extractive.ranking import best_positions, strong

_THINGS = 6  # most sentences that a list is made of
_SENTENCES = 3  # most sentences of a phrase
UNKNOWN = "I don't know"


_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|\w+n't|cannot|stopped|quit|unable|used to|over now|"
    r"gave up|given up|allergic|hate[ds]?|dislike[ds]?|refused?|avoid(?:ed|s|ing)?|hardly|barely|impossible)\b",
    re.I,
)


_UNCHANGED = re.compile(
    r"\bnothing (?:has )?changed\b|\bno (?:doubt|wonder|problem|worries|change)\b|\bnot only\b|\bcan't wait\b",
    re.I,
)


def compose(ranked: Ranked) -> str:
    """The answer, or the fixed sentence of ignorance when nothing is close enough."""
    if not ranked.answerable():
        return UNKNOWN
    answer = _listed(ranked) or _BY_KIND[ranked.expected.kind](ranked)
    return (answer or _phrase(ranked)).strip() or UNKNOWN


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


_ASKED_PLACE = re.compile(
    rf"\b(?P<word>{'|'.join(_ORDINALS)})\b|\b(?P<digit>\d+)(?:st|nd|rd|th)\b|"
    r"\b(?:number|item|entry|point|step) (?P<number>\d+)\b"
)


_ENTRY = re.compile(r"(?:^|\s)\(?(\d{1,2})[.)]\s+(.+?)(?=[,;]?\s+\(?\d{1,2}[.)]\s|\.?\s*$|\.\s)")


def _listed(ranked: Ranked) -> str | None:
    """The n-th entry of a numbered list in the best messages, when the question asks for one by its place."""
    asked = max(_ASKED_PLACE.finditer(ranked.expected.question.lower()), key=lambda match: match.start(), default=None)
    if not asked or not re.search(r"\b(?:list|item|entry|listed|point|step|number)\b", ranked.expected.question, re.I):
        return None
    place = _ORDINALS.index(asked["word"]) + 1 if asked["word"] else int(asked["digit"] or asked["number"])
    for position in best_positions(ranked.scores, 5):
        first = ranked.index.sentences[position].line
        text = " ".join(line.text for line in ranked.index.parsed.lines[first : first + 25])
        entries = {int(match[1]): match[2].strip() for match in reversed(list(_ENTRY.finditer(text)))}
        if place in entries and len(entries) > 1:
            return entries[place]
    return None


def _total(ranked: Ranked) -> str | None:
    """The sum of the amounts of money that the closest messages name, one a message."""
    question = ranked.expected
    topic = set(question.terms) - set(content_stems("much spend spent cost total altogether overall add up sum"))
    amounts: dict[int, float] = {}
    for position in best_positions(ranked.scores, 12):
        sentence = ranked.index.sentences[position]
        money = [span for span in evidence.numbers(question, sentence) if span.kind == "money"]
        if (
            money
            and topic & set(content_stems(sentence.core))
            and not ranked.index.about_another(position, question.terms)
        ):
            amounts.setdefault(sentence.line, sum(span.value for span in money))
    return f"${sum(amounts.values()):,.10g}" if amounts else None


def _money(ranked: Ranked) -> str | None:
    if re.search(r"\b(?:total|altogether|in all|overall|combined|add up|sum)\b", ranked.expected.question, re.I):
        return _total(ranked) or _number(ranked)
    return _number(ranked)


def _number(ranked: Ranked) -> str | None:
    found = [span for s in ranked.best(4, 0.25) for span in evidence.numbers(ranked.expected, s)[:1]]
    return found[0].text if found else None


def _count(ranked: Ranked) -> str | None:
    """The number said of the counted thing, else how many different things the best sentences name."""
    focus = set(ranked.expected.focus)
    for sentence in ranked.best(4, 0.2):
        for span in evidence.numbers(ranked.expected, sentence):
            after = content_stems(sentence.core[span.end : span.end + 40])[:3]
            stated = span.text.isdigit() and focus & set(content_stems(sentence.core[: span.start]))
            if focus & set(after) or stated:
                return span.text
    items = _items(ranked)
    return str(len(items)) if len(items) > 1 else _number(ranked) or str(max(len(items), 1))


def _first_of(finder: Callable[[Expected, Sentence], list[str]]) -> Callable[[Ranked], str | None]:
    def find(ranked: Ranked) -> str | None:
        return next((text for s in ranked.best(3, 0.2) for text in finder(ranked.expected, s)), None)

    return find


def _place(ranked: Ranked) -> str | None:
    """A place with a name before any place told in common words."""
    return _first_of(evidence.named_places)(ranked) or _first_of(evidence.places)(ranked)


def _yes_no(ranked: Ranked) -> str:
    """Yes when the best sentence says so without a negation that the question lacks."""
    best = ranked.best(3, 0.15)[0]
    negated = bool(_NEGATION.search(_UNCHANGED.sub("", best.core))) != bool(_NEGATION.search(ranked.expected.question))
    return "No" if negated else "Yes"


def _choice(ranked: Ranked) -> str:
    """The option closest to what the best sentences say; options compared by day or price when that is asked."""
    options = ranked.expected.options
    compared = _compared(ranked) if len(ranked.parts) == len(options) else None
    if compared is not None:
        return options[compared]
    best = ranked.best(4, 0.25)
    said = [" ".join(content_stems(sentence.core)) for sentence in best]

    def support(position: int) -> float:
        terms = content_stems(options[position])
        named = sum(1 / (rank + 1) for rank, text in enumerate(said) for term in terms if term in text.split())
        near = float(ranked.parts[position].max()) if position < len(ranked.parts) else 0.0
        return named / max(len(terms), 1) + near + _nearness(options, position, said[0].split(), ranked.expected)

    return options[max(range(len(options)), key=lambda position: (support(position), -position))]


def _nearness(options: tuple[str, ...], position: int, said: list[str], expected: Expected) -> float:
    """Up to 1 for the option that stands next to a word of the question; 0 where not all options are named."""
    places = [[place for place, word in enumerate(said) if word in content_stems(option)] for option in options]
    stated = {stem for option in options for stem in content_stems(option)}
    anchors = [place for place, word in enumerate(said) if word in expected.terms and word not in stated]
    if not anchors or not all(places):
        return 0.0
    return 1 / (1 + min(abs(place - anchor) for place in places[position] for anchor in anchors))


def _compared(ranked: Ranked) -> int | None:
    """The position of the first, last, dearest or cheapest option; None when no such comparison is asked."""
    question = ranked.expected.question
    if re.search(r"\b(?:first|earlier|before|last|later|more recent(?:ly)?)\b", question, re.I):
        days = [moments.event_day(ranked.index, scores) for scores in ranked.parts]
        values = [day.toordinal() for day in days if day is not None]
        largest = bool(re.search(r"\b(?:last|later|recent(?:ly)?)\b", question, re.I))
    elif re.search(r"\b(?:cost|expensive|cheaper|price|pricier)\b", question, re.I):
        best = [ranked.index.sentences[best_positions(scores, 1)[0]] for scores in ranked.parts]
        values = [int(span.value * 100) for s in best for span in evidence.numbers(ranked.expected, s)[:1]]
        largest = not re.search(r"\b(?:less|cheaper)\b", question, re.I)
    else:
        return None
    if len(values) != len(ranked.parts):
        return None
    return values.index(max(values) if largest else min(values))


def _items(ranked: Ranked) -> list[str]:
    """Different things from the best sentences, in the order of the context."""
    close = strong(ranked.index.sentences, ranked.scores, _THINGS, ranked.weights.items)
    positions = sorted(close[:1] + [position for position in close[1:] if ranked.usable(position)])
    items: list[str] = []
    seen: set[str] = set()
    for position in positions:
        sentence = ranked.index.sentences[position]
        if ranked.expected.voice == "user" and ranked.index.about_another(position, ranked.expected.terms):
            continue
        for item in _things(ranked, sentence):
            stems = set(content_stems(item)) - set(ranked.expected.terms)
            if stems and not stems <= seen:
                seen |= stems
                items.append(item)
    return items


def _things(ranked: Ranked, sentence: Sentence) -> list[str]:
    expected = ranked.expected
    asked = expected.question.lower()
    if re.search(r"\b(?:books?|movies|films|songs|games|bands|shows|artists|authors|titles|names)\b", asked):
        return evidence.titles(expected, sentence) or [spans.new_part(sentence.core, expected, ranked.weights.item)]
    if re.search(r"\b(?:cities|countries|states|places|locations|areas|towns)\b", asked):
        return evidence.places(expected, sentence) or [spans.new_part(sentence.core, expected, ranked.weights.item)]
    return [spans.new_part(sentence.core, expected, ranked.weights.item)]


def _list(ranked: Ranked) -> str:
    return ", ".join(_items(ranked))


def _reason(ranked: Ranked) -> str | None:
    """What follows a word of reason in the best sentences, else None: then they answer whole."""
    return next((why for one in ranked.best(3, 0.2) if (why := spans.reason_part(one.core))), None)


def _phrase(ranked: Ranked) -> str:
    """The news of the best sentence, and of the next one when it is almost as close."""
    parts = (spans.whole(one.core, ranked.expected, ranked.weights.phrase) for one in ranked.supported(_SENTENCES))
    return "; ".join(dict.fromkeys(parts))


_BY_KIND: dict[Kind, Callable[[Ranked], str | None]] = {
    "date": moments.date_answer,
    "clock": moments.clock_answer,
    "duration": moments.duration_answer,
    "interval": moments.interval_answer,
    "frequency": moments.frequency_answer,
    "count": _count,
    "number": _number,
    "money": _money,
    "person": _first_of(evidence.people),
    "place": _place,
    "title": _first_of(evidence.titles),
    "yes_no": _yes_no,
    "choice": _choice,
    "list": _list,
    "reason": _reason,
    "phrase": _phrase,
}
