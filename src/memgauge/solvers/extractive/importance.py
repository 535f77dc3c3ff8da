"""rate_importance without a language model: what an exchange tells of dates, names, numbers, change, taste.

Rarity is judged from the text alone, so that a rating does not depend on what else is rated: a word that the
cl100k vocabulary has to put together from pieces is rare.
"""

from collections.abc import Sequence

from memgauge.solvers.extractive.lexicon import STOP
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.tasks.rate_importance import LEAST, MOST, RateImportance
from memgauge.text.cues import count_cues
from memgauge.text.sentences import split_sentences, strip_fillers
from memgauge.text.tokens import count_many
from memgauge.text.words import words

_POINTS = {"dates": 1.5, "names": 1.0, "numbers": 0.75, "negations": 0.5, "preferences": 1.0, "decisions": 1.0}
_CAP = 2  # cues of one kind that count
_RARE = 2.0  # points when every content word is rare
_FULL = 12  # content words of an exchange that says enough for one more point


def rate_importances(tasks: Sequence[RateImportance], vectors: Vectors, weights: Weights) -> list[int]:
    """One whole number from 1 to 10 a task."""
    return [_rate(task) for task in tasks]


def _rate(task: RateImportance) -> int:
    names = sorted({speaker for speaker, _ in task.turns})
    text = " ".join(_statements(task, names))
    cues = count_cues(text, {name.casefold() for name in names})
    points = sum(weight * min(getattr(cues, kind), _CAP) for kind, weight in _POINTS.items())
    content = [word for word in words(text) if word not in STOP]
    points += min(len(content) / _FULL, 1.0) + _RARE * _rare_share(content)
    return int(max(LEAST, min(MOST, round(LEAST + points))))


def _statements(task: RateImportance, names: Sequence[str]) -> list[str]:
    """What is said without greetings and questions: asking tells nothing of the one who asks."""
    cores = [strip_fillers(sentence, names) for _, text in task.turns for sentence in split_sentences(text)]
    return [core for core in cores if not core.endswith("?")]


def _rare_share(content: Sequence[str]) -> float:
    if not content:
        return 0.0
    pieces = count_many([f" {word}" for word in content])
    return sum(count > 1 for count in pieces) / len(content)
