"""judge_continuity, describe_chain, name_themes and pick_keywords without a language model.

What an assistant says is about what it was asked: where somebody else speaks, only they are read.
"""

from collections.abc import Sequence

from memgauge.solvers.extractive.gist import merge_speakers, write_gists
from memgauge.solvers.extractive.lexicon import STOP
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.solvers.extractive.summary import summarise_sessions
from memgauge.tasks.describe_chain import DescribeChain
from memgauge.tasks.judge_continuity import JudgeContinuity, Turns
from memgauge.tasks.name_themes import LONGEST_KEYWORD, NameThemes, Theme
from memgauge.tasks.pick_keywords import PickKeywords
from memgauge.tasks.summarise_session import SummariseSession
from memgauge.tasks.write_gist import WriteGist
from memgauge.text.entities import find_names
from memgauge.text.tokens import count_many, truncate
from memgauge.text.words import words

_ALIKE = 0.3  # cosine of two pages of one session that are on one subject
_ALIKE_LATER = 0.5  # and of two sessions: people come back to a subject less often than they stay on it
_SUMMARY_TOKENS = 32
_KEYWORDS = 5


def judge_continuities(tasks: Sequence[JudgeContinuity], vectors: Vectors, weights: Weights) -> list[bool]:
    """Whether the pages are alike enough, by cosine; of different dates they must be more alike."""
    vectors.prepare([_said(_own(turns)) for task in tasks for _, turns in (task.previous, task.page)])
    judged = []
    for task in tasks:
        first, second = vectors.matrix([_said(_own(turns)) for _, turns in (task.previous, task.page)])
        least = _ALIKE if task.previous[0] == task.page[0] else _ALIKE_LATER
        judged.append(round(float(first @ second), 6) >= least)
    return judged


def _said(turns: Turns) -> str:
    return " ".join(text for _, text in turns)


def describe_chains(tasks: Sequence[DescribeChain], vectors: Vectors, weights: Weights) -> list[str]:
    """A gist of the description so far and what was said since, within the budget."""
    gists = [WriteGist(None, (*_lines(task.so_far), *_own(task.turns)), task.budget_tokens) for task in tasks]
    return write_gists(gists, vectors, weights)


def _lines(so_far: str | None) -> Turns:
    """A description as turns again: a line of a gist names its speaker."""
    parts = (line.partition(": ") for line in (so_far or "").splitlines())
    return tuple((speaker, text) for speaker, _, text in parts if text)


def _own(turns: Turns) -> Turns:
    """The turns of all but the assistant, where there are some."""
    return tuple(turn for turn in turns if turn[0] != "assistant") or turns


def name_themes(tasks: Sequence[NameThemes], vectors: Vectors, weights: Weights) -> list[tuple[Theme, ...]]:
    """One theme: the most telling sentences of the piece and its rarest words, names first."""
    pieces = [SummariseSession(None, _own(task.turns), _SUMMARY_TOKENS) for task in tasks]
    return [
        (Theme(merge_speakers(lines, piece.turns).replace("\n", " ") or _opening(piece.turns), _keywords(piece.turns)),)
        for piece, lines in zip(pieces, summarise_sessions(pieces, vectors, weights), strict=True)
    ]


def _opening(turns: Turns) -> str:
    """How a piece that states nothing begins."""
    return truncate(" ".join(f"{speaker}: {' '.join(text.split())}" for speaker, text in turns), _SUMMARY_TOKENS)


def _keywords(turns: Turns) -> tuple[str, ...]:
    speakers = {word for speaker, _ in turns for word in words(speaker)}
    return _rarest(_said(turns), speakers, _KEYWORDS)


def pick_keywords(tasks: Sequence[PickKeywords], vectors: Vectors, weights: Weights) -> list[tuple[str, ...]]:
    """The rarest words of a question, names first."""
    return [_rarest(task.question, set(), task.limit) for task in tasks]


def _rarest(text: str, left_out: set[str], most: int) -> tuple[str, ...]:
    """Distinct words: parts of names, then those that the cl100k vocabulary takes most pieces for, then long ones."""
    named = {part for name in find_names(text) for part in words(name.text)}
    found = [word for word in dict.fromkeys(words(text)) if word not in STOP and word not in left_out]
    found = [word for word in found if 2 < len(word) <= LONGEST_KEYWORD]
    pieces = dict(zip(found, count_many([f" {word}" for word in found]), strict=True))
    return tuple(sorted(found, key=lambda word: (word not in named, -pieces[word], -len(word)))[:most])
