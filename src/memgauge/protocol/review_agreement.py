"""How far a scorer and the reviewers of its sample agree, by criterion and by whole answer (paper C, figure 4)."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memgauge.errors import InputError
from memgauge.protocol.review_sheet import REFERENCE_RATINGS, Rating, Review
from memgauge.seeds import generator
from memgauge.stats.bootstrap import resample
from memgauge.stats.intervals import Interval, mean, percentile_interval

Marks = Mapping[tuple[str, int], Sequence[float | None]]  # (question, budget) -> the scorer's marks by criterion


@dataclass(frozen=True, slots=True)
class Agreement:
    """Reviewer against scorer over the pairs that both gave a mark.

    `kappa` is Cohen's over the marks 0, 0.5 and 1, `weighted_kappa` with quadratic weights; None where it is
    undefined (one mark only on both sides) or a score is no such mark (token F1, a mean). `difference` is
    reviewer minus scorer, its interval a 95 % percentile bootstrap over questions. `uncertain` pairs lack the
    reviewer's mark, `unscored` the scorer's.
    """

    pairs: int
    uncertain: int
    unscored: int
    agreeing: int
    share: float | None
    kappa: float | None
    weighted_kappa: float | None
    difference: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class ReviewFindings:
    """Agreement on criteria and on answers' means, and the references' ratings."""

    criteria: Agreement
    answers: Agreement
    references: Mapping[str, int]


def review_findings(review: Review, marks: Marks, draws: int, seed: int) -> ReviewFindings:
    """Compare; raises InputError for a rated answer that the scorer does not have, or another number of criteria."""
    rated: dict[tuple[str, int], list[Rating]] = {}
    for rating in review.ratings:
        rated.setdefault((rating.question_id, rating.budget), []).append(rating)
    criteria: list[tuple[str, float | None, float | None]] = []
    answers: list[tuple[str, float | None, float | None]] = []
    for cell, ratings in rated.items():
        given = _marks_of(marks, cell, len(ratings))
        own = [rating.mark for rating in sorted(ratings, key=lambda each: each.criterion)]
        criteria += [(cell[0], one, other) for one, other in zip(own, given, strict=True)]
        answers.append((cell[0], _whole(own), _whole(given)))
    counts = Counter(review.references.values())
    return ReviewFindings(
        criteria=agreement(criteria, draws, seed, "criteria"),
        answers=agreement(answers, draws, seed, "answers"),
        references={name: counts[name] for name in REFERENCE_RATINGS},
    )


def agreement(
    pairs: Sequence[tuple[str, float | None, float | None]], draws: int, seed: int, purpose: str
) -> Agreement:
    """Agreement of (question id, reviewer's mark, scorer's mark); marks are equal or not, means likewise."""
    both = [(name, one, other) for name, one, other in pairs if one is not None and other is not None]
    differences = [one - other for _, one, other in both]
    agreeing = sum(math.isclose(one, other, abs_tol=1e-9) for _, one, other in both)
    interval = None
    if both:
        stream = generator(seed, "review", purpose)
        drawn = resample(np.array(differences)[:, None], [name for name, _, _ in both], draws, stream)
        interval = percentile_interval(drawn.means()[:, 0], int(drawn.units[0]))
    halves = all(value in (0.0, 0.5, 1.0) for _, *values in both for value in values)
    labels = [(round(2 * one), round(2 * other)) for _, one, other in both] if halves else []
    return Agreement(
        pairs=len(both),
        uncertain=sum(one is None for _, one, _ in pairs),
        unscored=sum(one is not None and other is None for _, one, other in pairs),
        agreeing=agreeing,
        share=agreeing / len(both) if both else None,
        kappa=_kappa(labels, None),
        weighted_kappa=_kappa(labels, "quadratic"),
        difference=mean(differences),
        interval=interval,
    )


def _kappa(labels: Sequence[tuple[int, int]], weights: str | None) -> float | None:
    """Cohen's kappa; undefined when both sides know one label only."""
    if len({label for pair in labels for label in pair}) < 2:
        return None
    from sklearn.metrics import cohen_kappa_score

    first, second = zip(*labels, strict=True)
    value = float(cohen_kappa_score(first, second, labels=[0, 1, 2], weights=weights))
    return value if math.isfinite(value) else None


def _whole(marks: Sequence[float | None]) -> float | None:
    known = [mark for mark in marks if mark is not None]
    return mean(known) if len(known) == len(marks) else None


def _marks_of(marks: Marks, cell: tuple[str, int], criteria: int) -> list[float | None]:
    """The scorer's marks of one answer; all missing where the answer itself could not be scored."""
    given = marks.get(cell)
    if given is not None and all(mark is None for mark in given):
        return [None] * criteria
    if given is None or len(given) != criteria:
        raise InputError(
            f"the scores hold no {criteria} marks of question {cell[0]!r} at budget {cell[1]}; "
            "score the answers that the sheet was made from"
        )
    return list(given)
