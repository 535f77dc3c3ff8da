"""The runtime that owns a store of episodes and facts: an operation is checked whole, then applied or skipped.

An operation is the output of one writer's task. It holds when the task, reading the reply that would say so, reads
that very output: a target that does not exist, a position twice or out of range, a note without a word do not.
What does not hold is counted and changes nothing.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from memgauge.memory.base import Encoder
from memgauge.memory.selection import Unit, Utility, select
from memgauge.memory.shared import count_result, split_text
from memgauge.records import Entry, History, Result
from memgauge.tasks.base import ParseFailure
from memgauge.tasks.write_episode import Episode
from memgauge.text.cues import count_cues
from memgauge.text.render import entry_tokens, plain_date
from memgauge.text.tokens import count_tokens, truncate
from memgauge.text.words import words

Vector = NDArray[np.float32]
Output = TypeVar("Output")
_DECIMALS = 6  # cosines closer than this are ties
FACT = "fact-"  # the ids of facts begin so, all others are episodes


class Operation(Protocol[Output]):
    """A writer's task whose reply is an operation."""

    name: ClassVar[str]

    def parse(self, reply: str) -> Output | ParseFailure: ...

    def reply_of(self, rationale: str, output: Output) -> str: ...


def checked(task: Operation[Output], result: Result[Output], counts: Counter[str]) -> Output | None:
    """The output of one task if it holds; counts every operation, and those that do not hold by their task."""
    count_result(result, counts)
    counts["operations"] += 1
    output = result.output
    if output is not None and task.parse(task.reply_of("", output)) == output:
        return output
    counts["operations_invalid"] += 1
    counts[f"{task.name}_invalid"] += 1
    return None


@dataclass(frozen=True, slots=True)
class Held:
    """What the store holds of one episode or one fact: its text, that text's vector, its turns in order."""

    text: str
    vector: Vector
    sources: tuple[str, ...]
    episode: Episode | None = None


class Draft:
    """A store while it is written; `encoder` gives the vectors by which its units find each other."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.episodes: list[Held] = []
        self.facts: list[Held] = []
        self._known: set[tuple[str, ...]] = set()

    def create(self, episode: Episode, sources: tuple[str, ...], vector: Vector) -> None:
        """Hold a new episode."""
        self.episodes.append(Held(episode.text, vector, sources, episode))

    def merge(self, position: int, episode: Episode, sources: Sequence[str]) -> None:
        """Put a merged episode in the place of an older one; it comes from the turns of both."""
        (vector,) = self._encoder.encode([episode.text])
        old = self.episodes[position]
        self.episodes[position] = Held(episode.text, vector, tuple(dict.fromkeys((*old.sources, *sources))), episode)

    def near(self, vector: Vector, most: int, above: float) -> list[int]:
        """Positions of the `most` closest episodes whose cosine is above the threshold, the closest first."""
        return [at for at, cosine in _closest(self.episodes, vector, most) if cosine > above]

    def known(self, vector: Vector, most: int) -> tuple[str, ...]:
        """The facts closest to something, the closest first."""
        return tuple(self.facts[at].text for at, _ in _closest(self.facts, vector, most))

    def learn(self, texts: Sequence[str], sources: tuple[str, ...]) -> int:
        """Hold the facts that are not held in the same words already; the number of new ones."""
        new = {tuple(words(text)): text for text in reversed(texts)}
        fresh = [text for key, text in reversed(new.items()) if key and key not in self._known]
        self._known.update(tuple(words(text)) for text in fresh)
        for text, vector in zip(fresh, self._encoder.encode(fresh) if fresh else (), strict=True):
            self.facts.append(Held(text, vector, sources))
        return len(fresh)


def _closest(units: Sequence[Held], vector: Vector, most: int) -> list[tuple[int, float]]:
    if not units:
        return []
    cosines = np.round(np.stack([unit.vector for unit in units]) @ vector, _DECIMALS)
    order = np.argsort(-cosines, kind="stable")[:most]
    return [(int(at), float(cosines[at])) for at in order]


def cut_episode(episode: Episode, budget_tokens: int) -> Episode:
    """The start of an episode that its budget holds, cut after a sentence where possible; at least a word of it."""
    if count_tokens(episode.text) <= budget_tokens:
        return episode
    title = truncate(episode.title, max(budget_tokens // 2, 1)).strip() or episode.title
    left = max(budget_tokens - count_tokens(f"{title}\n"), 1)
    content = next((piece.strip() for piece in split_text(episode.content, left) if piece.strip()), "")
    return replace(episode, title=title, content=content)


def episode_text(episode: Episode, dates: Sequence[str | None]) -> str:
    """An episode as its entry says it: a time that the entry's heading does not tell stands behind the title.

    `dates` are the distinct ISO dates of its sessions, in order; the heading tells the only one.

    >>> episode_text(Episode("A move", "Ann moved.", "2023-05-07"), ["2023-05-08T13:56"])
    'A move (7 May 2023)\\nAnn moved.'
    >>> episode_text(Episode("A move", "Ann moved.", "2023-05-08"), ["2023-05-08T13:56", "2023-05-20"])
    'A move (8 May 2023 to 20 May 2023)\\nAnn moved.'
    """
    days = [date[:10] for date in dates if date]
    told = {day: str(plain_date(day)) for day in days}
    if len(dates) > 1:
        time = " to ".join(dict.fromkeys(told[day] for day in (min(days), max(days)))) if days else ""
    else:
        own = (episode.date or "")[:10]
        time = "" if not own or own in days else str(plain_date(own))
    return f"{episode.title} ({time})\n{episode.content}" if time else episode.text


def entries_of(draft: Draft, history: History) -> list[Entry]:
    """Everything written, in history order, episodes first where turns are the same."""
    order = {turn.id: at for at, (_, turn) in enumerate(history.turns())}
    dates = {turn.id: session.date for session, turn in history.turns()}
    units: list[tuple[Held, str]] = [
        *((one, f"episode-{number}") for number, one in enumerate(draft.episodes, 1)),
        *((one, f"{FACT}{number}") for number, one in enumerate(draft.facts, 1)),
    ]
    entries = []
    for held, name in units:
        sources = tuple(sorted(held.sources, key=order.__getitem__))
        spanned = list(dict.fromkeys(dates[source] for source in sources))
        text = held.text if held.episode is None else episode_text(held.episode, spanned)
        entries.append(Entry(name, text, sources, spanned[0] if len(spanned) == 1 else None))
    return sorted(entries, key=lambda entry: order[entry.sources[0]])  # stable: episodes lead


def fitting(entries: Sequence[Entry], budget_tokens: int, speakers: set[str]) -> list[int]:
    """Positions, in order, of what the budget keeps: the most names, dates and numbers, the least repetition."""
    units = []
    for entry in entries:
        cues = count_cues(entry.text, speakers)
        details = cues.dates + cues.names + cues.numbers
        units.append(Unit(entry_tokens(entry), 0, details, frozenset(words(entry.text))))
    return sorted(select(units, budget_tokens, Utility(), set()))
