"""note_facts and manage_memories without a language model: a turn's statements, and rules on what they do to entries.

The rules look at one fact and the entry it is likest, of the same speaker: repeated, it changes nothing; said in
more words, or with a word of change, it updates; denied (or no longer denied), it replaces.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date

from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.solvers.extractive.summary import find_candidates, weigh_cues
from memgauge.tasks.manage_memories import ManageMemories, Operation
from memgauge.tasks.note_facts import MOST, NoteFacts
from memgauge.tasks.summarise_session import SummariseSession

_TELLING = 0.1  # cues below which a statement is small talk
_SAME = 0.95  # cosines of one thing said twice, of the same matter, and of a matter that has changed
_ALIKE = 0.7
_CHANGED = 0.6
_SHARED = 0.5  # of the shorter text's content words, below which two texts are about different things
_SPEAKER = re.compile(r"^([^:\n]{1,40}): ")
_DENIAL = re.compile(r"\b(?:not|never|no longer|none|nobody|nothing|without|cannot|stopped|quit)\b|n['’]t\b", re.I)
_CHANGE = re.compile(
    r"\b(?:now|instead|anymore|any more|no longer|switch(?:ed)?|chang(?:ed|es?)|moved|replaced|actually|"
    r"these days|from now on|turns? out|used to|since then)\b",
    re.IGNORECASE,
)


def note_facts(tasks: Sequence[NoteFacts], vectors: Vectors, weights: Weights) -> list[tuple[str, ...]]:
    """The statements of the turns that tell something, under their speaker's name, days written out."""
    return [_facts(task) for task in tasks]


def _facts(task: NoteFacts) -> tuple[str, ...]:
    day = date.fromisoformat(task.date[:10]) if task.date else None
    told = find_candidates(SummariseSession(task.date, task.turns, 0))
    return tuple(dict.fromkeys(one.text for one in told if weigh_cues(one.core, day) >= _TELLING))[:MOST]


def manage_memories(tasks: Sequence[ManageMemories], vectors: Vectors, weights: Weights) -> list[tuple[Operation, ...]]:
    """The operations of each task, facts in order; no entry is changed twice."""
    vectors.prepare([text for task in tasks for text in (*task.facts, *(kept for _, kept in task.entries))])
    return [tuple(_operations(task, vectors)) for task in tasks]


def _operations(task: ManageMemories, vectors: Vectors) -> Iterator[Operation]:
    entries = [text for _, text in task.entries]
    free = set(range(len(entries)))
    for fact in task.facts:
        voice = _speaker(fact)
        own = [number for number in sorted(free) if _speaker(entries[number]) == voice]
        if not own:
            yield Operation("ADD", text=fact)
            continue
        cosines = vectors.matrix([entries[number] for number in own]) @ vectors.matrix([fact])[0]
        best = int(cosines.argmax())
        made = _decide(fact, entries[own[best]], own[best], float(cosines[best]))
        yield from made
        free -= {one.number for one in made if one.number is not None and one.event != "NONE"}


def _decide(fact: str, entry: str, number: int, cosine: float) -> tuple[Operation, ...]:
    new, old = set(content_stems(_said(fact))), set(content_stems(_said(entry)))
    denied = bool(_DENIAL.search(fact)) != bool(_DENIAL.search(entry))
    close = len(new & old) >= _SHARED * max(min(len(new), len(old)), 1)
    if not denied and (cosine >= _SAME or new <= old):
        return (Operation("NONE", number),)
    if denied and close and cosine >= _CHANGED:
        return Operation("DELETE", number), Operation("ADD", text=fact)
    if old < new and cosine >= _ALIKE:
        return (Operation("UPDATE", number, fact, entry),)
    if _CHANGE.search(fact) and close and cosine >= _CHANGED:
        return (Operation("UPDATE", number, f"{fact} (before: {_said(entry)})", entry),)
    return (Operation("ADD", text=fact),)


def _speaker(text: str) -> str:
    found = _SPEAKER.match(text)
    return found[1] if found else ""


def _said(text: str) -> str:
    return _SPEAKER.sub("", text)
