"""summarise_session without a language model: central, varied, telling sentences packed under the budget."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from memgauge.solvers.extractive.context import dates_of
from memgauge.solvers.extractive.ranking import Scores, Vectors, Weights
from memgauge.tasks.summarise_session import SummariseSession, SummaryLine
from memgauge.text.entities import find_names
from memgauge.text.numbers import find_numbers
from memgauge.text.sentences import split_sentences, strip_fillers
from memgauge.text.tokens import count_many

_CUES = (
    (0.10, re.compile(r"\b(?:not|never|no longer|stopped|quit|\w+n't|instead|changed|switched)\b", re.I)),
    (0.12, re.compile(r"\b(?:love|like|prefer|hate|favou?rite|enjoy|allergic|dislike|fan of)\b", re.I)),
    (0.12, re.compile(r"\b(?:decid|plan|going to|gonna|will|want to|hope|sign(?:ed)? up|start|finish|bought|moved|got|"
                      r"join|adopt|won|visit|went|made|work|job|live)\w*", re.I)),
    (0.06, re.compile(r"\b(?:I|my|we|our)\b")),
)  # fmt: skip
_RELATION = 0.5  # weight of a candidate's likeness to what is already chosen (MMR)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One sentence that may enter the summary, as it would be written, with the position of its turn."""

    text: str
    core: str
    turn: int


def summarise_sessions(
    tasks: Sequence[SummariseSession], vectors: Vectors, weights: Weights
) -> list[tuple[SummaryLine, ...]]:
    """One summary a task: lines in session order, each naming its speaker and its turn."""
    candidates = [find_candidates(task) for task in tasks]
    vectors.prepare([one.core for group in candidates for one in group])
    return [_summarise(task, group, vectors) for task, group in zip(tasks, candidates, strict=True)]


def find_candidates(task: SummariseSession) -> list[Candidate]:
    """Statements; questions and greetings say nothing that lasts."""
    day = date.fromisoformat(task.date[:10]) if task.date else None
    names = sorted({speaker for speaker, _ in task.turns})
    made: list[Candidate] = []
    for position, (speaker, text) in enumerate(task.turns):
        for sentence in split_sentences(text):
            core = strip_fillers(sentence, names)
            if len(core.split()) >= 4 and not core.endswith("?"):
                made.append(Candidate(f"{speaker}: {resolve_dates(core, day)}", core, position))
    return made


def resolve_dates(text: str, day: date | None) -> str:
    """Write after each relative date the day it means.

    >>> resolve_dates("We met yesterday.", date(2023, 5, 8))
    'We met yesterday (7 May 2023).'
    """
    for span in reversed(dates_of(text, day)):
        if not span.explicit and span.label.lower() not in text.lower():
            text = f"{text[: span.end]} ({span.label}){text[span.end :]}"
    return text


def _summarise(task: SummariseSession, candidates: list[Candidate], vectors: Vectors) -> tuple[SummaryLine, ...]:
    if not candidates:
        return ()
    matrix = vectors.matrix([one.core for one in candidates])
    day = date.fromisoformat(task.date[:10]) if task.date else None
    worth = matrix @ unit_vector(matrix.mean(axis=0)) + np.array([weigh_cues(one.core, day) for one in candidates])
    costs = count_many([f"{one.text}\n" for one in candidates])
    chosen = pick_varied(worth.astype(np.float32), matrix, costs, task.budget_tokens)
    return tuple(SummaryLine(candidates[p].text, (candidates[p].turn,)) for p in sorted(chosen))


def unit_vector(vector: Scores) -> Scores:
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def weigh_cues(core: str, day: date | None) -> float:
    """How much a sentence tells: dates, names, numbers, change, preference, decision; very short ones tell little."""
    total = sum(weight for weight, pattern in _CUES if pattern.search(core))
    total += 0.12 * bool(dates_of(core, day)) + 0.1 * min(len(find_names(core)), 2) + 0.06 * bool(find_numbers(core))
    return total - 0.15 * (len(core.split()) < 6) - 0.1 * core.endswith("!")


def pick_varied(worth: Scores, matrix: Scores, costs: list[int], budget: int) -> list[int]:
    """Greedy maximal marginal relevance; a sentence too long for what is left is passed over."""
    chosen: list[int] = []
    nearest = np.zeros(len(worth), dtype=np.float32)
    open_ = np.ones(len(worth), dtype=bool)
    left = budget
    while True:
        open_ &= np.array([cost <= left for cost in costs])
        if not open_.any():
            return chosen
        best = int(np.argmax(np.where(open_, worth - _RELATION * nearest, -np.inf)))
        chosen.append(best)
        left -= costs[best]
        open_[best] = False
        nearest = np.maximum(nearest, matrix @ matrix[best])
