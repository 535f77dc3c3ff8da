"""list_facts, profile_user and decide_update without a language model: statements as they were said, days written out.

A fact is a sentence that says something: no question, no greeting, at least two words of content.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.probes import day_of
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.solvers.extractive.summary import resolve_dates
from memgauge.tasks.decide_update import DecideUpdate, Note, Update
from memgauge.tasks.list_facts import DatedTurn, ListFacts, SourcedFact
from memgauge.tasks.profile_user import Portrait, ProfileUser
from memgauge.text.cues import Cues, count_cues
from memgauge.text.numbers import find_numbers
from memgauge.text.sentences import split_sentences, strip_fillers
from memgauge.text.tokens import count_tokens

_TELLING = 2  # cues from which on a statement is worth a place in long-term memory
_SHARED = 0.5  # of a note's content that a newer one must share to speak of the same matter


def list_facts(tasks: Sequence[ListFacts], vectors: Vectors, weights: Weights) -> list[tuple[SourcedFact, ...]]:
    """Every statement of every turn, in order, under its speaker's name."""
    return [tuple(SourcedFact(at, text) for at, text, _ in _statements(task.turns)) for task in tasks]


def _statements(turns: Sequence[DatedTurn]) -> Iterator[tuple[int, str, Cues]]:
    """Position of its turn, text and cues of every statement."""
    for date, group in groupby(enumerate(turns), key=lambda pair: pair[1][0]):
        said = list(group)
        names = sorted({speaker for _, (_, speaker, _) in said})
        folded = {name.casefold() for name in names}
        for at, (_, speaker, text) in said:
            for sentence in split_sentences(text):
                core = strip_fillers(sentence, names)
                greets = core.endswith("!") and len(core.split()) < 3
                if not (core.endswith("?") or greets) and len(content_stems(core)) > 1:
                    yield at, f"{speaker}: {resolve_dates(core, day_of(date))}", count_cues(core, folded)


def profile_users(tasks: Sequence[ProfileUser], vectors: Vectors, weights: Weights) -> list[Portrait]:
    """What the user likes as the profile, the newest that fits; statements of at least two cues as facts."""
    return [_profile(task) for task in tasks]


def _profile(task: ProfileUser) -> Portrait:
    likes = [line for line in task.profile.splitlines() if line.strip()]
    facts: dict[bool, list[SourcedFact]] = {True: [], False: []}
    for at, text, cues in _statements(task.turns):
        by_user = task.turns[at][1] == task.user
        if by_user and cues.preferences:
            likes.append(text)
        if cues.dates + cues.names + cues.numbers + cues.negations + cues.preferences + cues.decisions >= _TELLING:
            facts[by_user].append(SourcedFact(at, text))
    return Portrait(_newest_lines(likes, task.budget_tokens), tuple(facts[True]), tuple(facts[False]))


def _newest_lines(lines: Sequence[str], budget_tokens: int) -> str:
    """The newest distinct lines that fit, in order."""
    kept: list[str] = []
    for line in reversed(dict.fromkeys(lines)):
        budget_tokens -= count_tokens(f"{line}\n")
        if budget_tokens < 0:
            break
        kept.append(line)
    return "\n".join(reversed(kept))


def decide_updates(tasks: Sequence[DecideUpdate], vectors: Vectors, weights: Weights) -> list[Update]:
    """Delete what a newer note on the same matter denies or counts otherwise; reword what one tells more fully.

    The newest note that does either decides; notes of different speakers are on different matters.
    """
    return [_decide(task) for task in tasks]


def _decide(task: DecideUpdate) -> Update:
    _, text = task.entry
    mine = set(content_stems(text))
    for _, newer in sorted(task.newer, key=_moment, reverse=True):
        theirs = set(content_stems(newer))
        if _speaker(newer) != _speaker(text) or len(mine & theirs) < _SHARED * len(mine):
            continue
        if _denied(text) != _denied(newer) or _counted_otherwise(text, newer):
            return Update("delete")
        if mine < theirs:
            return Update("update", newer)
    return Update("ignore")


def _moment(note: Note) -> str:
    return note[0] or ""


def _speaker(text: str) -> str:
    speaker, colon, _ = text.partition(": ")
    return speaker if colon else ""


def _denied(text: str) -> bool:
    return count_cues(text).negations > 0


def _counted_otherwise(text: str, newer: str) -> bool:
    mine, theirs = ({span.text.casefold() for span in find_numbers(one)} for one in (text, newer))
    return bool(mine and theirs) and mine.isdisjoint(theirs)
