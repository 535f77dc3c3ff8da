"""extract_facts without a language model: what is said of a speaker's life that neither the note nor the store has."""

import re
from collections.abc import Sequence

from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.probes import statements, worth
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.solvers.extractive.reasons import Reasoned, listed
from memgauge.solvers.extractive.summary import Candidate, pick_varied
from memgauge.tasks.extract_facts import LONGEST_FACT, ExtractFacts

_KNOWN = 0.8  # share of a statement's stems that the note or a known statement already has
_LIKE = 0.9  # cosine at which two statements say the same
_LASTING = re.compile(
    r"\b(?:my (?:\w+ ){1,3}(?:is|are|was|'s)|I(?:'m| am) (?:a|an|the|allergic|from|in|at|into|on|not|\w+ing)|"
    r"I(?:'ve| have) (?:a|an|been|had|two|three|four|never|always|no|\d+)|I (?:live|work|study|teach|own|keep|play|"
    r"speak|love|like|prefer|hate|enjoy|need|use|drive|can't|don't|never|always|usually|grew up|moved|joined|started|"
    r"quit|stopped|switched|bought|got|adopted|named|call)|favou?rite|"
    r"every (?:day|week|morning|evening|night|month|year)|"
    r"(?:is|are|was) (?:my|called|named|born)|our (?:\w+ ){1,2}(?:is|are|'s)|no longer|instead of)\b",
    re.IGNORECASE,
)


def extract_facts(tasks: Sequence[ExtractFacts], vectors: Vectors, weights: Weights) -> list[Reasoned]:
    """For each task at most `most` new lasting statements in order, each under its speaker's name."""
    candidates = [_lasting(task) for task in tasks]
    vectors.prepare([one.core for group in candidates for one in group])
    vectors.prepare([statement for task in tasks for statement in task.known])
    return [_new(task, group, vectors) for task, group in zip(tasks, candidates, strict=True)]


def _lasting(task: ExtractFacts) -> list[Candidate]:
    """Statements about lasting things that the note leaves out."""
    told = set(content_stems(task.episode.content))
    found = [one for one in statements(task.date, task.turns) if _LASTING.search(one.core)]
    return [one for one in found if not _covered(one, told) and len(one.text) <= LONGEST_FACT]


def _covered(statement: Candidate, told: set[str]) -> bool:
    stems = set(content_stems(statement.core))
    return len(stems & told) >= _KNOWN * len(stems)


def _new(task: ExtractFacts, candidates: list[Candidate], vectors: Vectors) -> Reasoned:
    known = [set(content_stems(statement)) for statement in task.known]
    fresh = [one for one in candidates if not any(_covered(one, stems) for stems in known)]
    if task.known and fresh:
        likest = (vectors.matrix([one.core for one in fresh]) @ vectors.matrix(task.known).T).max(axis=1)
        fresh = [one for one, like in zip(fresh, likest, strict=True) if like < _LIKE]
    if not fresh:
        return Reasoned((), "Nothing new that lasts.")
    matrix = vectors.matrix([one.core for one in fresh])
    picked = sorted(pick_varied(worth(fresh, task.date, matrix), matrix, [1] * len(fresh), task.most))
    numbers = [str(fresh[at].turn + 1) for at in picked]
    return Reasoned(
        tuple(fresh[at].text for at in picked), f"New and lasting: message {listed(numbers, len(numbers))}."
    )
