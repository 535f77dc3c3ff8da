"""The preselected review sample of paper C (3.3) as a sheet for people: source evidence, reference, answer, no budget.

A sheet has one row for each criterion of each sampled answer, under an opaque code in shuffled order. The key, a
file of its own, says which code is which question, budget and criterion: open it only after the ratings are in.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memgauge.errors import InputError
from memgauge.records import Question
from memgauge.seeds import generator

PER_ABILITY, ABSTENTIONS = 2, 10  # of each tier: ten abstention questions, two of each answerable ability
COLUMNS = ("code", "question", "evidence", "reference", "answer", "criterion", "reference_rating", "mark")
REFERENCE_RATINGS = ("supported", "inconsistent", "uncertain")
MARKS = {"0": 0.0, "0.5": 0.5, "1": 1.0, "uncertain": None}
NO_EVIDENCE = "(no turn is marked)"
NO_REFERENCE = "(the history does not hold an answer; declining is right)"
_DIGITS = 6  # of a code


@dataclass(frozen=True, slots=True)
class Sampled:
    """One question of the sample with its evidence turns as text and its answers by budget."""

    question: Question
    evidence: tuple[str, ...]
    answers: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class KeyRow:
    """What one code stands for; `criterion` is the position in the question's criteria."""

    code: str
    question_id: str
    budget: int
    criterion: int


@dataclass(frozen=True, slots=True)
class Rating:
    """One rated row, unblinded. `mark` is None for "uncertain"."""

    question_id: str
    budget: int
    criterion: int
    mark: float | None


@dataclass(frozen=True, slots=True)
class Review:
    """All ratings, in the key's order, and what was said of each question's reference."""

    ratings: tuple[Rating, ...]
    references: Mapping[str, str]


def choose_sample(questions: Sequence[Question], tiers: Mapping[str, str], seed: int) -> tuple[str, ...]:
    """Ids of the sample, in the order of `questions`; `tiers` gives the tier of each history.

    Drawn before any answer is looked at: it depends on questions and seed alone. Raises InputError where a tier
    has too few questions of a kind.
    """
    chosen: set[str] = set()
    for tier in dict.fromkeys(tiers[question.history_id] for question in questions):
        pools: dict[str, list[str]] = {}
        for question in questions:
            if tiers[question.history_id] == tier:
                kind = "abstention" if question.abstention else question.type
                pools.setdefault(kind, []).append(question.id)
        for kind, pool in pools.items():
            wanted = ABSTENTIONS if kind == "abstention" else PER_ABILITY
            if len(pool) < wanted:
                raise InputError(f"tier {tier} has {len(pool)} questions of {kind}; the review sample needs {wanted}")
            drawn = generator(seed, "review", tier, kind).choice(len(pool), size=wanted, replace=False)
            chosen |= {pool[place] for place in drawn}
    return tuple(question.id for question in questions if question.id in chosen)


def criteria_of(question: Question) -> tuple[str, ...]:
    """What an answer is marked by: the rubric, else the one thing that a gold or its absence asks for.

    >>> criteria_of(Question("q", "h", "Where?", "fact", ("Oslo",)))
    ('gives the reference answer',)
    """
    if question.rubric:
        return question.rubric
    return ("declines to answer",) if question.abstention else ("gives the reference answer",)


def make_sheet(sample: Sequence[Sampled], seed: int) -> tuple[str, tuple[KeyRow, ...]]:
    """The sheet as CSV text, its two last columns empty, and the key in the sheet's order."""
    cells = [
        (each, budget, place)
        for each in sample
        for budget in sorted(each.answers)
        for place in range(len(criteria_of(each.question)))
    ]
    stream = generator(seed, "review", "order")
    codes = stream.choice(10**_DIGITS, size=len(cells), replace=False)
    order = stream.permutation(len(cells))
    rows, key = [], []
    for at in order:
        each, budget, place = cells[at]
        code = f"R{codes[at]:0{_DIGITS}d}"
        rows.append(_row(each, budget, place, code))
        key.append(KeyRow(code, each.question.id, budget, place))
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerows([COLUMNS, *rows])
    return text.getvalue(), tuple(key)


def _row(each: Sampled, budget: int, place: int, code: str) -> tuple[str, ...]:
    question = each.question
    reference = NO_REFERENCE if question.abstention else " | ".join(question.golds)
    evidence = "\n".join(each.evidence) or NO_EVIDENCE
    answer, criterion = each.answers[budget], criteria_of(question)[place]
    return (code, question.text, evidence, reference, answer, criterion, "", "")


def read_sheet(text: str, key: Sequence[KeyRow], place: str) -> Review:
    """The ratings of a filled sheet; `place` names the file in errors.

    Rows may come in any order, further columns are ignored. Raises InputError for the first of: a missing or
    repeated column, a row of another width, a code that is unknown, repeated or absent, a mark or a rating that
    is not one of those allowed, a question whose reference was rated nowhere or in two ways.
    """
    rows = _rows(text, place)
    by_code = {row.code: row for row in key}
    marks: dict[str, float | None] = {}
    references: dict[str, str] = {}
    for number, row in rows:
        spot = f"{place} line {number}"
        code = row["code"].strip()
        if code not in by_code:
            raise InputError(f"{spot}: code {code!r} is not in the key; use the sheet and key of one export")
        if code in marks:
            raise InputError(f"{spot}: code {code!r} occurs twice; keep one row")
        marks[code] = _mark(row["mark"], spot)
        _note_reference(references, by_code[code].question_id, row["reference_rating"], spot)
    if absent := next((row.code for row in key if row.code not in marks), None):
        raise InputError(f"{place} lacks code {absent!r}; rate every row of the sheet")
    if unrated := next((row for row in key if row.question_id not in references), None):
        raise InputError(f"{place}: no row with the question of code {unrated.code!r} rates its reference; fill one in")
    ratings = tuple(Rating(row.question_id, row.budget, row.criterion, marks[row.code]) for row in key)
    return Review(ratings, references)


def _rows(text: str, place: str) -> list[tuple[int, dict[str, str]]]:
    """Line numbers and cells by column; empty lines are skipped."""
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        lines = [(reader.line_num, line) for line in reader]
    except csv.Error as error:
        raise InputError(f"{place} is no valid CSV: {error}; save the sheet as comma-separated values") from error
    if not lines:
        raise InputError(f"{place} is empty; export the sheet again")
    header = [name.strip() for name in lines[0][1]]
    for column in COLUMNS:
        if header.count(column) != 1:
            raise InputError(f"{place} has {header.count(column)} columns named {column!r}; it needs one")
    found = []
    for number, line in lines[1:]:
        if not any(cell.strip() for cell in line):
            continue
        if len(line) != len(header):
            raise InputError(f"{place} line {number} has {len(line)} cells under {len(header)} columns; mend that row")
        found.append((number, dict(zip(header, line, strict=True))))
    return found


def _mark(value: str, spot: str) -> float | None:
    text = value.strip().casefold()
    text = {"0.0": "0", "1.0": "1", ".5": "0.5", "0,5": "0.5"}.get(text, text)  # as spreadsheets rewrite numbers
    if text not in MARKS:
        raise InputError(f"{spot}: mark {value!r} is not one of {', '.join(MARKS)}")
    return MARKS[text]


def _note_reference(references: dict[str, str], question_id: str, value: str, spot: str) -> None:
    rating = value.strip().casefold()
    if not rating:
        return
    if rating not in REFERENCE_RATINGS:
        raise InputError(f"{spot}: reference_rating {value!r} is not one of {', '.join(REFERENCE_RATINGS)}")
    if references.setdefault(question_id, rating) != rating:
        raise InputError(
            f"{spot}: the reference is {rating} here and {references[question_id]} in another row of the question; "
            "rate it one way"
        )
