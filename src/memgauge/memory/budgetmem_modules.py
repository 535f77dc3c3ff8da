"""BudgetMem's modules at their tiers without a language model, and the tasks that their High tier asks instead.

Where the release calls REBEL for triplets (Mid relations), statements of the passages ranked by likeness to the
question take their place: no relation model belongs to this suite. spaCy's part (Low relations) is done by the
suite's own patterns of names and dates.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memgauge.memory.base import Encoder, Query
from memgauge.records import Entry
from memgauge.solvers.extractive.context import Sentence, parse_context
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.summary import resolve_dates
from memgauge.tasks.extract_relations import ASPECTS, Aspect
from memgauge.text.entities import find_names
from memgauge.text.render import render_entries
from memgauge.text.tokens import count_tokens, truncate

Tier = Literal["low", "mid", "high"]
TIERS: tuple[Tier, ...] = ("low", "mid", "high")
LISTED = 12  # names, dates or words of a Low list
HEADINGS: dict[Aspect, str] = {"entity": "Who and what", "temporal": "When", "topic": "About what"}
LISTS: dict[Aspect, str] = {
    "entity": "The names in it are",
    "temporal": "The dates in it are",
    "topic": "The words most used in it are",
}
Notes = Mapping[Aspect, tuple[Entry, ...]]
Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Settings:
    """What the modules are told: see `budgetmem.Budgetmem`."""

    keyword_weight: float
    threshold: float
    least_score: int
    notes: int
    summary_tokens: int
    as_released: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the passages found for it, in store order."""

    query: Query
    passages: tuple[Entry, ...]

    def shown(self) -> tuple[tuple[str | None, str], ...]:
        """The passages as tasks take them."""
        return tuple((passage.date, passage.text) for passage in self.passages)


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of a passage: under its speaker's name, days written out.

    `core` are its own words alone, which is what gets encoded; `days` are the days named (ISO, as written).
    """

    text: str
    core: str
    date: str | None
    names: tuple[str, ...]
    days: tuple[tuple[str, str], ...]
    stems: tuple[str, ...]


# --- M1 filter


def keyword_shares(asked: Asked) -> Vectors:
    """The share of the question's content words that each passage has, shape (passages,); 0 for a wordless one."""
    wanted = set(content_stems(asked.query.text))
    held = [wanted & set(content_stems(passage.text)) for passage in asked.passages]
    return np.array([len(one) / max(len(wanted), 1) for one in held], dtype=np.float32)


def mixed_shares(asked: Asked, encoder: Encoder, settings: Settings) -> Vectors:
    """The Mid filter's score: keyword share and cosine, weighted w and 1 - w. Shape (passages,)."""
    vectors = encoder.encode([asked.query.text, *(passage.text for passage in asked.passages)])
    weight = np.float32(settings.keyword_weight)
    mixed: Vectors = (1 - weight) * (vectors[1:] @ vectors[0]) + weight * keyword_shares(asked)
    return np.round(mixed, 6)


def passing(asked: Asked, scores: Sequence[float] | Vectors, least: float) -> tuple[Entry, ...]:
    """The passages of at least `least`; where none is, the best one, since an empty context answers nothing."""
    kept = tuple(passage for passage, score in zip(asked.passages, scores, strict=True) if score >= least)
    return kept or asked.passages[int(np.argmax(scores)) :][:1] if asked.passages else ()


# --- M2 entity, M3 temporal, M5 topic


def listed(aspect: Aspect, passages: Sequence[Entry]) -> tuple[Entry, ...]:
    """The Low relations: one line that lists names, dates or words, the most frequent first."""
    said = [one for passage in passages for one in statements(passage.date, passage.text)]
    words = {
        "entity": (name for one in said for name in one.names),
        "temporal": (label for one in said for _, label in one.days),
        "topic": (stem for one in said for stem in one.stems),
    }
    found = [word for word, _ in Counter(words[aspect]).most_common(LISTED)]
    return (Entry("", f"{LISTS[aspect]} {', '.join(found)}.", ()),) if found else ()


def ranked(aspect: Aspect, asked: Asked, encoder: Encoder, limit: int) -> tuple[Entry, ...]:
    """The Mid relations: the statements of the aspect that are most like the question, dated ones oldest first."""
    of_aspect: dict[Aspect, Callable[[Statement], bool]] = {
        "entity": lambda one: bool(one.names),
        "temporal": lambda one: bool(one.days),
        "topic": lambda one: True,
    }
    best = closest([one for one in _said(asked.passages) if of_aspect[aspect](one)], asked.query, encoder, limit)
    if aspect == "temporal":
        best.sort(key=lambda one: one.days[0][0])
    return tuple(Entry("", one.text, (), one.date) for one in best)


def closest(said: Sequence[Statement], query: Query, encoder: Encoder, limit: int) -> list[Statement]:
    """The statements most like the question, in the order said."""
    if not said:
        return []
    vectors = encoder.encode([query.text, *(one.core for one in said)])
    order = np.argsort(-np.round(vectors[1:] @ vectors[0], 6), kind="stable")[:limit]
    return [said[at] for at in sorted(order.tolist())]


def _said(passages: Iterable[Entry]) -> list[Statement]:
    """All statements in order, each once."""
    return list(dict.fromkeys(one for passage in passages for one in statements(passage.date, passage.text)))


@lru_cache(maxsize=16_384)
def statements(day: str | None, text: str) -> tuple[Statement, ...]:
    """What a passage states, questions left out; remembered, since many questions find the same passages."""
    parsed = parse_context(render_entries([Entry("", text, (), day)]))
    return tuple(
        _statement(one, parsed.lines[one.line].speaker, day)
        for one in parsed.sentences
        if not one.text.rstrip().endswith("?")
    )


def _statement(sentence: Sentence, speaker: str, day: str | None) -> Statement:
    said = " ".join(resolve_dates(sentence.core, sentence.day).split())
    return Statement(
        f"{speaker}: {said}" if speaker else said,
        sentence.core,
        day,
        tuple(name.text for name in find_names(sentence.core)),
        tuple((span.first.isoformat(), span.label) for span in sentence.dates),
        content_stems(sentence.core),
    )


# --- M4 summary


def concatenated(notes: Notes, passages: Sequence[Entry]) -> str:
    """The Low summary: the passages and all notes, uncut (the harness's read budget is what bounds it)."""
    return "\n".join(filter(None, (render_entries(passages), render_entries(_notes(notes)))))


def sectioned(notes: Notes, asked: Asked, encoder: Encoder, limit_tokens: int) -> str:
    """The Mid summary: notes under a heading for each aspect, then the statements most like the question.

    The last line goes until all fit; a first line that is too long is cut.
    """
    noted = [(f"{HEADINGS[aspect]}.", list(notes.get(aspect, ()))) for aspect in ASPECTS]
    known = {entry.text for _, entries in noted for entry in entries}
    more = [one for one in closest(_said(asked.passages), asked.query, encoder, LISTED) if one.text not in known]
    groups = [*noted, ("Said.", [Entry("", one.text, (), one.date) for one in more])]
    while count_tokens(text := _sections(groups)) > limit_tokens:
        fullest = next(entries for _, entries in reversed(groups) if entries)
        if sum(len(entries) for _, entries in groups) == 1:
            return truncate(text, limit_tokens)
        fullest.pop()
    return text


def context_of(notes: Notes, passages: Sequence[Entry], as_released: bool) -> str:
    """What the High summary reads: passages and notes; `as_released` the notes alone, as the released prompt has it."""
    return render_entries(_notes(notes)) if as_released else concatenated(notes, passages)


def _sections(groups: Sequence[tuple[str, list[Entry]]]) -> str:
    return "\n".join(f"{heading}\n{render_entries(entries)}" for heading, entries in groups if entries)


def _notes(notes: Notes) -> list[Entry]:
    return list(dict.fromkeys(entry for aspect in ASPECTS for entry in notes.get(aspect, ())))
