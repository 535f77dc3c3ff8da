"""Evidence units: records of one session merged where they overlap, and how a unit is written.

Two records overlap when they name the same source turns, or when their statements are near-equal: token-set
Jaccard of at least `NEAR_EQUAL`. A record joins the first unit with a near-equal statement, else the newest one of
its turns, that still fits its session's share with it: a unit that outgrows the share could never be kept, and
would take all its statements with it.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from memgauge.memory.selection import Unit
from memgauge.memory.session_notes import Planned
from memgauge.records import Entry
from memgauge.tasks.select_evidence import EvidenceRecord, source_label
from memgauge.text.dates import find_dates, parse_heading
from memgauge.text.entities import find_names
from memgauge.text.numbers import find_numbers
from memgauge.text.render import entry_tokens, render_date
from memgauge.text.words import words

NEAR_EQUAL = 0.8


@dataclass(frozen=True, slots=True)
class Evidence:
    """One or more records of one session as a unit; `turns` are 0-based positions, in order."""

    planned: Planned
    questions: tuple[str, ...]
    statements: tuple[str, ...]
    turns: tuple[int, ...]

    def entry(self, name: str) -> Entry:
        """The three-line record as an entry dated like its session."""
        session = self.planned.session
        labels = ", ".join(source_label(self.planned.position, turn) for turn in self.turns)
        text = f"[Q] {' '.join(self.questions)}\n[E] {' '.join(self.statements)}\n[S] {labels}"
        return Entry(name, text, tuple(session.turns[turn].id for turn in self.turns), session.date)

    def cost(self) -> int:
        """Tokens against the write budget."""
        return entry_tokens(self.entry(""))

    def words(self) -> frozenset[str]:
        """The distinct words of its statements."""
        return frozenset(words(" ".join(self.statements)))

    def unit(self) -> Unit:
        """What selection must know of it."""
        return Unit(self.cost(), len(self.questions), self.details(), self.words())

    def details(self) -> int:
        """Distinct names (speakers aside), numbers and dates of its statements; what is part of a date is no more."""
        session = self.planned.session
        speakers = {turn.speaker.casefold() for turn in session.turns}
        day = parse_heading(render_date(session.date))
        found: set[str] = set()
        for statement in self.statements:
            label, _, rest = statement.partition(": ")
            text = rest if label.casefold() in speakers else statement
            dates = find_dates(text, day)
            spans = [(span.start, span.text) for span in find_names(text)]
            spans += [(span.start, span.text) for span in find_numbers(text)]
            others = [
                said.casefold() for start, said in spans if not any(one.start <= start < one.end for one in dates)
            ]
            found |= {*others, *(span.label for span in dates)} - speakers
        return len(found)


def gather(planned: Planned, records: Sequence[EvidenceRecord], merge: bool) -> list[Evidence]:
    """The units of one session's records, in the order of their first record.

    Without merging a record is a unit, and only a record met before is left out.
    """
    distinct = dict.fromkeys(records)
    single = [Evidence(planned, (one.question,), (one.evidence,), one.turns) for one in distinct]
    return _merged(single) if merge else single


def _merged(single: Sequence[Evidence]) -> list[Evidence]:
    units: list[Evidence] = []
    newest: dict[tuple[int, ...], int] = {}
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    said: list[list[frozenset[str]]] = []
    for one in single:
        spoken = one.words()
        near = _near(spoken, by_word, said)
        place = len(units)
        for other in [*near, *([newest[one.turns]] if one.turns in newest else [])]:
            joined = _join(units[other], one)
            if joined.cost() <= one.planned.share:
                place, units[other] = other, joined
                break
        else:
            units.append(one)
            said.append([])
        said[place].append(spoken)
        newest[units[place].turns] = place
        for word in spoken:
            by_word[word].append(place)
    return units


def _near(spoken: frozenset[str], by_word: dict[str, list[int]], said: Sequence[list[frozenset[str]]]) -> list[int]:
    """Units in order with a near-equal statement: it shares most words, so at least one of a few rarest ones."""
    needed = ceil(NEAR_EQUAL * len(spoken))
    rarest = sorted(spoken, key=lambda word: (len(by_word.get(word, ())), word))[: len(spoken) - needed + 1]
    places = {place for word in rarest for place in by_word.get(word, ())}
    return [place for place in sorted(places) if any(_near_equal(spoken, other) for other in said[place])]


def _near_equal(one: frozenset[str], other: frozenset[str]) -> bool:
    """Token-set Jaccard of at least the threshold; texts without words equal nothing."""
    shared = len(one & other)
    total = len(one) + len(other) - shared
    return total > 0 and shared >= NEAR_EQUAL * total


def _join(unit: Evidence, one: Evidence) -> Evidence:
    """A near-equal statement adds its question and turns, and its wording only where that says more."""
    (text,) = one.statements
    statements = list(unit.statements)
    held = [frozenset(words(statement)) for statement in statements]
    twins = [at for at, other in enumerate(held) if _near_equal(one.words(), other)]
    if not twins:
        statements.append(text)
    elif len(one.words()) > len(held[twins[0]]):
        statements[twins[0]] = text
    return Evidence(
        unit.planned,
        tuple(dict.fromkeys((*unit.questions, *one.questions))),
        tuple(statements),
        tuple(sorted({*unit.turns, *one.turns})),
    )
