"""How long a system's summaries are and how far they are the answer itself: a summariser may simply answer."""

from collections import Counter
from dataclasses import dataclass

from memgauge.experiments.qpc import Asked, QpcCell
from memgauge.stats.intervals import mean
from memgauge.text.normalise import is_word, tokens


@dataclass(frozen=True, slots=True)
class Overlap:
    """Words that a summary and its answer share, as a share of the summary's words and of the answer's."""

    of_summary: float
    of_answer: float


@dataclass(frozen=True, slots=True)
class Summaries:
    """One system's summaries: mean length, shares of empty ones and of those that are the answer word for word.

    Overlaps are means over summaries and answers that have words; None without any.
    """

    benchmark: str
    system: str
    summaries: int
    mean_tokens: float | None
    empty_share: float
    same_share: float
    of_summary: float | None
    of_answer: float | None


def overlap(summary: str, answer: str) -> Overlap | None:
    """Shared words, each counted as often as both have it; None where one of the two has none.

    >>> overlap("Ann moved to Oslo in May", "Oslo")
    Overlap(of_summary=0.16666666666666666, of_answer=1.0)
    >>> overlap("Oslo", "Oslo"), overlap("", "Oslo")
    (Overlap(of_summary=1.0, of_answer=1.0), None)
    """
    first, second = _words(summary), _words(answer)
    if not first or not second:
        return None
    shared = sum((first & second).values())
    return Overlap(shared / sum(first.values()), shared / sum(second.values()))


def summaries_of(cell: QpcCell) -> Summaries | None:
    """A cell's summaries; None for a system that makes none."""
    made = [asked for asked in cell.asked if asked.summary is not None]
    if not made:
        return None
    overlaps = [found for asked in made if (found := overlap(asked.summary or "", asked.answer)) is not None]
    return Summaries(
        benchmark=cell.benchmark,
        system=cell.system,
        summaries=len(made),
        mean_tokens=mean([asked.summary_tokens for asked in made if asked.summary_tokens is not None]),
        empty_share=sum(not (asked.summary or "").strip() for asked in made) / len(made),
        same_share=sum(_is_answer(asked) for asked in made) / len(made),
        of_summary=mean([each.of_summary for each in overlaps]),
        of_answer=mean([each.of_answer for each in overlaps]),
    )


def _is_answer(asked: Asked) -> bool:
    words = _words(asked.summary or "")
    return bool(words) and words == _words(asked.answer)


def _words(text: str) -> Counter[str]:
    return Counter(token for token in tokens(text) if is_word(token))
