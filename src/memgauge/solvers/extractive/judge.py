"""judge_answer without a language model: words, numbers, dates, lengths of time and polarity compared.

An answer is right when it holds all that a gold states, at the gold's precision, without offering a choice;
everything else is wrong. It knows no synonyms, so it rejects many paraphrases. Generous means: a wider date
that holds the gold's counts, half of the gold's words are enough, and a choice that includes the gold counts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.tasks.judge_answer import JudgeAnswer, Verdict
from memgauge.text.date_forms import MONTHS
from memgauge.text.dates import find_dates
from memgauge.text.normalise import clean_unicode, normalise
from memgauge.text.numbers import find_durations, find_numbers
from memgauge.text.polarity import answer_polarity, gold_polarity
from memgauge.text.refusals import is_refusal, statements

Moment = tuple[int | None, int | None, int | None]  # year, month, day; None where not stated

IMPLIED = 0.6  # share of a yes/no question's words that a statement must repeat to answer it
HALF = 0.5  # share of a gold's words that is enough for a generous verdict
SAME_LENGTH = 0.02  # relative: 21 days are three weeks, 30 days are no month

_ANCHOR = date(2000, 7, 1)  # gives dates without a year one; it is taken off again
_MONTH = re.compile(rf"\b(?:{'|'.join(month[:3] for month in MONTHS)})[a-z]*\b|\d[-/]\d", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d$€£¥.,:/-])(?:19|20)\d\d(?![\d%:/-]|[.,]\d)")
_CLOCK = re.compile(
    r"\b(1[0-2]|0?\d)(?:[:.]([0-5]\d))?\s?([ap])\.?\s?m\b\.?|\b([01]?\d|2[0-3]):([0-5]\d)\b", re.IGNORECASE
)
_GLUED = re.compile(rf"(?<=\d)(?=(?:{'|'.join(MONTHS)})\b)", re.IGNORECASE)  # "23January" in LoCoMo's golds
_VAGUE = re.compile(r"\b(?:few|several|some|many|couple)\b", re.IGNORECASE)
_SIDE = re.compile(r"\b(?:before|after|since|until|between)\b", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|never|no longer|cannot|neither|nor|without)\b|n't\b", re.IGNORECASE)
_DENIED = re.compile(rf"(?:{_NEGATION.pattern})(?:(?!\buntil\b)[^,;])*", re.IGNORECASE)
_DENIES = re.compile(r"\W*(?:not|never|hardly)\b", re.IGNORECASE)
_CONTRAST = re.compile(r"\bbut(?: rather)?\b|\binstead\b|\bthough\b|\balthough\b", re.IGNORECASE)
_CHOICE = re.compile(r"\bor\b(?! so\b)|\beither\b|\bone of (?:those|these|them)\b", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|might|could|likely|probably|hard to (?:say|tell|be sure)|not (?:sure|certain))\b",
    re.IGNORECASE,
)
_ITEMS = re.compile(r"[,;\n]|\band\b|&")


@dataclass(frozen=True, slots=True)
class Values:
    """What a text states that words alone do not compare: moments, lengths in days, minutes of the day, numbers.

    `numbers` are (value, kind) as `find_numbers` has them; `rest` is the text without all of these.
    """

    dates: tuple[Moment, ...]
    lengths: tuple[float, ...]
    clocks: tuple[int, ...]
    numbers: tuple[tuple[float, str], ...]
    rest: str


def judge_answers(tasks: Sequence[JudgeAnswer], vectors: Vectors, weights: Weights) -> list[Verdict]:
    """One verdict a task, in order; neither vectors nor weights are needed."""
    return [_judge(task) for task in tasks]


def _judge(task: JudgeAnswer) -> Verdict:
    declines = is_refusal(task.answer)
    if task.abstention:
        return Verdict(declines, "it declines" if declines else "it names something where nothing is known")
    if declines:
        return Verdict(False, "it declines")
    faults = [_fault(task, gold) for gold in task.golds]
    if None in faults:
        return Verdict(True, "it states all that the gold states")
    return Verdict(False, next((fault for fault in faults if fault), "there is no gold"))


def _fault(task: JudgeAnswer, gold: str) -> str | None:
    """Why the answer does not state this gold; None when it does."""
    answer, generous = clean_unicode(task.answer), task.variant == "generous"
    if not answer.strip():
        return "it is empty"
    if normalise(answer) == normalise(gold):
        return None
    wanted = gold_polarity(gold)
    if wanted is not None:
        side = answer_polarity(answer) or implied_polarity(task.question, answer)
        return None if side == wanted else f"the gold says {wanted}, the answer {side or 'neither'}"
    clauses = [clause for one in statements(answer) for clause in _asserted(one, task.question, gold)]
    fault = values_fault(read_values(gold), read_values(". ".join(clauses)), generous)
    fault = fault or _words_fault(gold, clauses, generous)
    if fault is None and not generous and _offers_choice(task, gold):
        return "it offers a choice"
    return fault


def read_values(text: str) -> Values:
    """The values of a text, each part of it read once: dates, then clock times, lengths of time, numbers.

    >>> values = read_values("2 Oct 2023, 6:30 am: $480")
    >>> values.dates, values.clocks, values.numbers, values.rest
    (((2023, 10, 2),), (390,), ((480.0, 'money'),), ' ,  :  ')
    """
    rest = re.sub(r"\bhalf a dozen\b", "six", _GLUED.sub(" ", clean_unicode(text)), flags=re.IGNORECASE)
    dates, rest = _take_dates(rest)
    clocks = [_minutes(match) for match in _CLOCK.finditer(rest)]
    rest = _CLOCK.sub(" ", rest)
    lengths = [span for span in find_durations(rest) if not _VAGUE.search(span.text)]
    rest = _without(rest, [(span.start, span.end) for span in lengths])
    numbers = find_numbers(rest)
    rest = _without(rest, [(span.start, span.end) for span in numbers])
    return Values(
        dates=tuple(dates),
        lengths=tuple(span.days for span in lengths),
        clocks=tuple(clocks),
        numbers=tuple((span.value, span.kind) for span in numbers),
        rest=rest,
    )


def values_fault(gold: Values, answer: Values, generous: bool) -> str | None:
    """Which value of the gold the answer lacks; None when it has all."""
    for moment in gold.dates:
        if not any(_states(one, moment, generous) for one in answer.dates):
            return f"it does not state the date {'-'.join(str(part) for part in moment if part)}"
    if gold.dates and not generous and _sides(gold.rest) - _sides(answer.rest):
        return "it does not say before or after as the gold does"
    for days in gold.lengths:
        if not any(abs(one - days) <= SAME_LENGTH * days for one in answer.lengths):
            return f"it does not state the length of {days:g} days"
    if set(gold.clocks) - set(answer.clocks):
        return "it does not state the time of day"
    for value, kind in gold.numbers:
        if not any(value == other and (kind == form or "plain" in (kind, form)) for other, form in answer.numbers):
            return f"it does not state the number {value:g}"
    return None


def implied_polarity(question: str, answer: str) -> str | None:
    """The side of an answer that has no clear yes or no but repeats the question's words, negated or not.

    >>> implied_polarity("Does Petra eat meat?", "Petra does not eat meat.")
    'no'
    """
    if _DENIES.match(answer):
        return "no"
    asked = set(content_stems(question))
    for statement in reversed(statements(answer)):
        if asked and len(asked & set(content_stems(statement))) >= IMPLIED * len(asked):
            return "no" if _NEGATION.search(statement) else "yes"
    return None


def _words_fault(gold: str, clauses: Sequence[str], generous: bool) -> str | None:
    """Which of the gold's words besides its values no clause holds; strictly each item of a list in one clause."""
    wanted = set(content_stems(read_values(gold).rest))
    if not wanted:
        return None
    if generous:
        found = wanted & {stem for clause in clauses for stem in content_stems(clause)}
        return None if len(found) >= HALF * len(wanted) else "it states less than half of the gold"
    for item in _ITEMS.split(gold):
        stems = set(content_stems(read_values(item).rest))
        if not any(stems <= set(content_stems(clause)) for clause in clauses):
            return f"it does not state {item.strip()!r}"
    return None


def _asserted(statement: str, question: str, gold: str) -> list[str]:
    """What a statement says is so: without the words that a negation reaches, up to the next comma.

    Of a contrast ("fine with walnuts but allergic to sesame") the parts with most words of the question count.
    A gold that itself denies or contrasts is looked for in the whole statement.
    """
    if _NEGATION.search(gold) or _CONTRAST.search(gold):
        return [statement]
    parts = _CONTRAST.split(statement)
    asked = set(content_stems(question))
    shared = [len(asked & set(content_stems(part))) for part in parts]
    return [_DENIED.sub(" ", part) for part, count in zip(parts, shared, strict=True) if count == max(shared)]


def _offers_choice(task: JudgeAnswer, gold: str) -> bool:
    if _CHOICE.search(gold) or _CHOICE.search(task.question):
        return False
    stems = set(content_stems(gold))
    near = [one for one in statements(task.answer) if stems & set(content_stems(one))]
    return any(_CHOICE.search(one) for one in near) or len(_HEDGE.findall(task.answer)) >= 2


def _take_dates(text: str) -> tuple[list[Moment], str]:
    """The moments that name a month or a year, and the text without them."""
    dated = {(span.start, span.end) for span in find_dates(text)}
    moments: list[Moment] = []
    taken: list[tuple[int, int]] = []
    for span in find_dates(text, _ANCHOR):
        piece = text[span.start : span.end]
        if span.grain in ("day", "month", "year") and (_MONTH.search(piece) or _YEAR.search(piece)):
            has_year = (span.start, span.end) in dated
            month = span.first.month if span.grain != "year" else None
            day = span.first.day if span.grain == "day" else None
            moments.append((span.first.year if has_year else None, month, day))
            taken.append((span.start, span.end))
    rest = _without(text, taken)
    moments += [(int(match.group()), None, None) for match in _YEAR.finditer(rest)]
    return moments, _YEAR.sub(" ", rest)


def _states(said: Moment, wanted: Moment, generous: bool) -> bool:
    """Whether a moment has every part that is wanted; generous: whether no part of it differs."""
    pairs = list(zip(said, wanted, strict=True))
    if generous:
        return all(None in pair or pair[0] == pair[1] for pair in pairs)
    return all(part is None or have == part for have, part in pairs)


def _minutes(match: re.Match[str]) -> int:
    if match[4]:
        return 60 * int(match[4]) + int(match[5])
    return 60 * (int(match[1]) % 12 + 12 * (match[3].lower() == "p")) + int(match[2] or 0)


def _sides(text: str) -> set[str]:
    return {word.lower() for word in _SIDE.findall(text)}


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in sorted(spans, reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return text
