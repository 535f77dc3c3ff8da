"""What a question asks for: the expected kind of answer, its focus, whose words to trust, which moment."""

# ruff: noqa: E501  (a pattern reads best on one line)

import re
from dataclasses import dataclass
from typing import Literal

from memgauge.solvers.extractive.lexicon import FUNCTION, content_stems
from memgauge.text.entities import find_names

Kind = Literal[
    "date", "clock", "duration", "interval", "frequency", "count", "number", "money", "person", "place", "yes_no", "choice",
    "list", "reason", "title", "phrase",
]  # fmt: skip
Order = Literal["", "newest", "oldest"]

_AUX = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|am|might|must|isn't|didn't|don't)"
_UNIT = r"(?:seconds|minutes|hours|days|nights|weeks|weekends|months|years|decades)"
_PLURAL = r"(?:(?!(?:does|has|was|goes|is|his|this|its)\b)[a-z]+(?:[^sui\W]s|ies|ches|shes|xes|sses)|people|children|kids|men|women|family members|advice and \w+)"
_TITLE = (
    r"(?:book|movie|film|song|game|show|series|novel|band|album|podcast|play|title|brand|company|app|website|breed)"
)
_PLACE = r"(?:city|country|state|place|town|location|venue|restaurant|park|store|shop|school|university|college|island|continent|neighborhood|cafe)"
# First match wins; "in what ways" and plural focus words come before the single phrase.
_RULES: tuple[tuple[Kind, str], ...] = (
    ("interval", rf"\bhow (?:many {_UNIT}|long)\b.*\b(?:between|passed|elapsed|ago|since|(?:did it take|after|before) .*\b(?:after|before|to|until|from)\b)"),
    ("interval", rf"\b(?:how many|number of) {_UNIT}\b.*\b(?:after|before|from|between|since)\b"),
    ("clock", r"\bwhat time\b|\bat what hour\b"),
    ("duration", rf"\bhow long\b|\bhow (?:fast|quick\w*) .*\b(?:finish|complete|run|ran|swim|cover)\w*\b|\bhow many {_UNIT}\b|\bhow much time\b|\b(?:what|which) (?:\w+ing|total) time\b|\b(?:what|which) (?:is the )?duration\b"),
    ("frequency", r"\bhow (?:often|frequently|regularly)\b"),
    ("money", r"\bwhat do .*\badd up to\b|\bhow much (?:money|did .* (?:cost|pay|spend|raise|earn|save)|does .* cost|is|was|were|are|has|have)\b|\bwhat (?:do|does|did) (?:\w+ ){1,2}pay\b|\b(?:what|which) .*\b(?:price|cost|budget|amount|salary|rent)\b|\bhow much\b.*\b(?:cost|spend|spent|pay|paid|save|saved|raised?|earn\w*)\b"),
    ("count", r"\bhow many\b|\b(?:total|the) number of\b"),
    ("number", r"\bhow (?:old|tall|far|big|large|fast|heavy|high|much)\b|\bwhat (?:percentage|percent|age|number|score|size|time)\b"),
    ("date", r"^(?:and |so |but |by |since |until )*when\b|\b(?:what|which) (?:date|day|month|year|week|weekend|season)\b|\bwhen (?:did|was|is|were|does|do|will|has|have|are)\b|\bhow (?:recently|soon)\b|\b(?:what|which|for what) .{0,20}\bdate\b"),
    ("reason", r"\bwhy\b|\b(?:what|which)\b.*\breasons?\b|\bhow come\b|\bwhat (?:motivat|inspir|prompt|caus|made|led|mak)\w*\b|^what .* for\?$"),
    ("person", r"^(?:and |so )?(?:with |to |from )?who(?:m|se)?\b|\bwhat (?:is|was|are|were) .*\bnames?\b"),
    ("place", rf"^(?:from |to )?where\b|\b(?:what|which) (?:\w+ )?{_PLACE}\b"),
    ("title", rf"\b(?:what|which) (?:\w+ )?{_TITLE}\b|\bnames? of\b|\bcalled\b|\bnamed\b|\bwhat .*\btitle\b"),
)  # fmt: skip
_COMPILED = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _RULES)
# "Could you name ..." asks for the thing, not for yes
_POLITE = re.compile(
    r"^(?:please |remind me:? |(?:can|could|would|will) you (?:please |also )?(?:tell me|remind me|recommend|suggest|name|list|say|"
    r"give me|help me|share|describe|explain|summari[sz]e)\b:?,?\s*)",
    re.IGNORECASE,
)
# asks for new advice, which what the user likes decides, not for advice given before
_FRESH = re.compile(
    r"\b(?:would|could|can|will|should) you (?:please |also )?(?:suggest|recommend|advise)\b|"
    r"^(?:please )?(?:suggest|recommend)\b|\bany (?:good )?(?:suggestions|recommendations|tips|advice)\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\b(?:which|what) [\w ]{3,40}?\b(?:recommend|suggest)|\byour (?:top|first) (?:suggestion|choice|pick)",
    re.I,
)
LONGEST = 120  # words of a question that are read: what is asked stands at its start or its end
_PRESENT = re.compile(r"\b(?:is|are|am|do|does|have|has|'s)\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:did|was|were|had|used)\b", re.IGNORECASE)
_YES_NO = re.compile(rf"^(?:and |so |but |[^,?]{{3,40}}, )?{_AUX}\b", re.IGNORECASE)
_LIST = re.compile(
    rf"\b(?:what|which|whose) (?:(?:are|were)\b.*?\b|(?:\w+[- ]){{0,3}}?){_PLURAL}\b|\b(?:list|name) (?:all|the|some|three|two)\b|"
    r"\bwhat all\b|\bin (?:what|which) ways\b|\b(?:what|which) (?:\w+ )?(?:kinds?|types?|sorts?) of \w+s\b",
    re.IGNORECASE,
)
_FALSE_PLURAL = re.compile(
    r"\b(?:what|which) (?:does|is|was|has|his|this|process|class|news|business|dress)\b", re.IGNORECASE
)
_OR = re.compile(r"(?P<left>[^,?]+?),? or (?P<right>[^,?]+)\?*\s*$", re.IGNORECASE)
_FOCUS = re.compile(r"\b(?:what|which|whose|how many|number of)\s+((?:[\w'-]+\s+){0,3}?[\w'-]+?)(?=\s+(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|in|on|at|of|for|to|from|that|who|with|by)\b|\?|$)", re.IGNORECASE)  # fmt: skip
_NEWEST = re.compile(
    r"\b(?:currently|current|now|nowadays|latest|most recent(?:ly)?|these days|at the moment|still|last)\b",
    re.I,
)
_OWNED = re.compile(rf"\bmy ((?:(?!(?:{'|'.join(sorted(FUNCTION))})\b)[a-z][\w-]*\s?){{1,3}})")
_OLDEST = re.compile(
    r"\b(?:first|originally|initially|used to|earliest|at the beginning|former(?:ly)?|previous(?:ly)?|before)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Expected:
    """A question understood: its kind, content stems, focus words ("book"), names (lower case), options of a choice.

    `voice` is "user" for "I/my", "assistant" for "you told me", else ""; `owned` the stems of what "my" opens.
    """

    question: str
    kind: Kind
    terms: tuple[str, ...]
    focus: tuple[str, ...]
    names: tuple[str, ...]
    options: tuple[str, ...] = ()
    order: Order = ""
    voice: str = ""
    owned: tuple[str, ...] = ()


def understand(question: str) -> Expected:
    """Read a question.

    >>> [understand(q).kind for q in ("When did Ann move?", "Did Ann move?", "Is it red or blue?", "What pets has Ann?")]
    ['date', 'yes_no', 'choice', 'list']
    """
    text = _shortened(question)
    options = _options(text)
    focus = _FOCUS.search(text)
    return Expected(
        question=text,
        kind="choice" if options else _kind(text),
        terms=content_stems(text),
        focus=content_stems(focus[1]) if focus else (),
        names=tuple(sorted({part.lower() for name in find_names(_lower_opening(text)) for part in name.text.split()})),
        options=options,
        order=_order(text),
        voice=_voice(text),
        owned=tuple(stem for match in _OWNED.finditer(text) for stem in content_stems(match[1])),
    )


def _shortened(question: str) -> str:
    """The question on one line; of a very long one the first and the last words, so that its cost is bounded."""
    words = question.split()
    if len(words) > LONGEST:
        words = [*words[: LONGEST // 2], *words[-LONGEST // 2 :]]
    return " ".join(word[:LONGEST] for word in words)


def _order(text: str) -> Order:
    """Which statement counts when several differ; a question in the present asks for the latest state."""
    if _NEWEST.search(text):
        return "newest"
    if _OLDEST.search(text):
        return "oldest"
    return "newest" if _PRESENT.search(text) and not _PAST.search(text) else ""


def _lower_opening(text: str) -> str:
    """The question with its first word in small letters, so that "Would" is no name."""
    first, _, rest = text.partition(" ")
    return f"{first.lower()} {rest}"


def _kind(text: str) -> Kind:
    fresh = _FRESH.search(text)
    polite = _POLITE.match(text)
    if polite:
        text = text[polite.end() :]
    elif _YES_NO.match(text):
        return "yes_no"
    if fresh:
        return "phrase"
    if _ADVICE.search(text):
        return "title"
    listed = bool(_LIST.search(text)) and not _FALSE_PLURAL.search(text)
    for kind, pattern in _COMPILED:
        if pattern.search(text):
            return "list" if listed and kind in ("title", "place", "person", "reason") else kind
    if listed or (polite and re.match(r"(?:all )?(?:the|my|your) (?:[a-z-]+ ){0,2}?[a-z]+s\b", text)):
        return "list"
    return "phrase"


def _options(text: str) -> tuple[str, ...]:
    """The alternatives of a choice question, else ()."""
    found = _OR.search(text)
    if not found or not re.match(rf"^(?:.*?\b(?:which|who|what|where)\b.*[,:?]|{_AUX}\b)", text, re.IGNORECASE):
        return ()
    left, right = found["left"].split(","), found["right"].strip()
    first = [piece.strip() for piece in left[-1:] if piece.strip()]
    size = max(len(right.split()), 1)
    # "Is it red or blue": the left option is as long as the right one; after a comma or colon it stands whole
    words = first[-1].rpartition(":")[2].split() if first else []
    opened = found.start() > 0 or (first and ":" in first[-1])
    whole = opened and not re.match(rf"{_AUX}\b", " ".join(words), re.IGNORECASE)
    options = [" ".join(words if whole else words[-size:]), right] if words else []
    if len(options) < 2 or right.lower() in {"not", "no", "so"}:
        return ()
    return tuple(options)


def _voice(text: str) -> str:
    if _FRESH.search(text):
        return "user"
    if re.search(
        r"\byour (?:\w+ )?(?:suggest|recommend|list|advice|answer|tip|choice|pick)|\byou(?:'ve| have| had)? (?:\w+ )?(?:recommend|suggest|told|tell|mention|said|say|gave|give|provid|list|advis)",
        text,
        re.I,
    ):
        return "assistant"
    return "user" if re.search(r"\b(?:I|my|me|we|our)\b", text) else ""
