"""score_rubric_item without a language model: the share of a criterion's words and values that the answer covers."""

import re
from collections.abc import Sequence

from memgauge.solvers.extractive.judge import read_values, values_fault
from memgauge.solvers.extractive.lexicon import content_stems
from memgauge.solvers.extractive.ranking import Vectors, Weights
from memgauge.tasks.score_rubric_item import ScoreRubricItem
from memgauge.text.polarity import answer_polarity
from memgauge.text.refusals import is_refusal

FULL = 0.8  # share of a criterion's words that makes a whole mark
PART = 0.4  # and half a mark

# "The response should state: ..." is the rubric's own wording, which no answer repeats.
_FRAME = re.compile(
    r"^\W*(?:(?:the|this|llm|your)\s+)*(?:response|answer|reply|output|it)\s+(?:should|must|needs to|has to|will)\s+"
    r"(?:(?:clearly|explicitly|correctly|also)\s+)?(?:state|mention|say|include|contain|name|note|list|give|identify|"
    r"acknowledge|indicate|recommend|explain|describe|point out|specify)s?(?:\s+that)?\s*:?\s*",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"\b(?:no|not enough|insufficient) (?:information|mention|record|evidence|details?)\b"
    r"|\b(?:not|never) (?:mentioned|specified|stated|provided|discussed|known)\b|\b(?:declines?|abstains?|unknown)\b"
    r"|\b(?:cannot|can't|does not|doesn't) (?:be determined|know|answer|say)\b",
    re.IGNORECASE,
)


def score_criteria(tasks: Sequence[ScoreRubricItem], vectors: Vectors, weights: Weights) -> list[float]:
    """One mark a task, in order: 1, 0.5 or 0; neither vectors nor weights are needed."""
    return [_mark(task.criterion, task.answer) for task in tasks]


def _mark(criterion: str, answer: str) -> float:
    """The mark of one criterion; one that asks for "unknown" is met by declining and by nothing else.

    >>> _mark("The response should state: she moved to Oslo in 2021", "She moved to Oslo in 2021, by train.")
    1.0
    >>> _mark("The response should state: she moved to Oslo in 2021", "She moved to Oslo in 2020.")
    0.5
    >>> _mark("says there is no information about Oslo", "I don't know.")
    1.0
    """
    if _UNKNOWN.search(criterion):
        return float(is_refusal(answer))
    if is_refusal(answer) or not answer.strip():
        return 0.0
    stated = _FRAME.sub("", criterion)
    side = answer_polarity(stated)
    if side is not None and answer_polarity(answer) not in (None, side):
        return 0.0
    wanted = read_values(stated)
    stems = set(content_stems(wanted.rest))
    share = len(stems & set(content_stems(answer))) / len(stems) if stems else 1.0
    lacks_value = values_fault(wanted, read_values(answer), generous=False) is not None
    if share >= FULL and not lacks_value:
        return 1.0
    return 0.5 if share >= PART and (stems or not lacks_value) else 0.0
