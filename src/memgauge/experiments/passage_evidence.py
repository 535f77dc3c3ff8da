"""Reader-free companions of paper C's budgets: how much of the marked evidence the passages of each budget hold."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memgauge.experiments.passage_shown import Piece
from memgauge.memory.shared import turn_text
from memgauge.records import History, Question
from memgauge.stats.intervals import mean

KEPT = 0.5  # share of a turn's characters above which it counts as shown (paper A's threshold for a kept turn)
ALL = "all"
_TIER = re.compile(r"beam-(?P<tier>[0-9]+[KM])-")


@dataclass(frozen=True, slots=True)
class Recall:
    """One question's recall by budget; None where its annotator marked no turn."""

    question_id: str
    tier: str
    ability: str
    abstention: bool
    by_budget: Mapping[int, float | None]


@dataclass(frozen=True, slots=True)
class RecallRow:
    """The mean recall of one tier and ability over `questions` with marked evidence, by budget."""

    tier: str
    ability: str
    questions: int
    by_budget: Mapping[int, float | None]


def tier_of(history_id: str) -> str:
    """The size class that BEAM's own folders, and so its history ids, name; elsewhere one class for all.

    >>> tier_of("beam-500K-02"), tier_of("conv-26")
    ('500K', 'all')
    """
    found = _TIER.match(history_id)
    return found["tier"] if found else ALL


def question_recall(
    history: History, question: Question, passages: Sequence[Sequence[Piece]], budgets: Sequence[int]
) -> Recall:
    """Share of the question's evidence turns of which the first k passages show more than half the characters.

    A turn has the characters of its text and caption, as passages do. Turns with neither cannot be shown and do
    not count. The share never falls as the budget grows.
    """
    marked = set(question.evidence)
    texts = {turn.id: turn_text(turn) for _, turn in history.turns() if turn.id in marked}
    sizes = {turn_id: len(text) for turn_id, text in texts.items() if text}
    shown: Counter[str] = Counter()
    by_count: list[float | None] = [_share(sizes, shown)]
    for pieces in passages:
        for piece in pieces:
            if piece.turn_id in sizes:
                shown[piece.turn_id] += piece.end - piece.start
        by_count.append(_share(sizes, shown))
    recall = {budget: by_count[min(budget, len(passages))] for budget in budgets}
    return Recall(question.id, tier_of(history.id), question.type, question.abstention, recall)


def _share(sizes: Mapping[str, int], shown: Counter[str]) -> float | None:
    if not sizes:
        return None
    return sum(shown[turn_id] > KEPT * size for turn_id, size in sizes.items()) / len(sizes)


def recall_rows(recalls: Iterable[Recall]) -> tuple[RecallRow, ...]:
    """Rows by tier and ability, in order of appearance, each tier's total last, then the total of all tiers."""
    known = [each for each in recalls if not each.abstention and any(v is not None for v in each.by_budget.values())]
    tiers = list(dict.fromkeys(each.tier for each in known))
    rows: list[RecallRow] = []
    for tier in tiers:
        inside = [each for each in known if each.tier == tier]
        for ability in dict.fromkeys(each.ability for each in inside):
            rows.append(_row(tier, ability, [each for each in inside if each.ability == ability]))
        rows.append(_row(tier, ALL, inside))
    return (*rows, _row(ALL, ALL, known)) if len(tiers) > 1 else tuple(rows)


def _row(tier: str, ability: str, recalls: Sequence[Recall]) -> RecallRow:
    budgets = recalls[0].by_budget
    values = {budget: [each.by_budget[budget] for each in recalls] for budget in budgets}
    means = {budget: mean([value for value in found if value is not None]) for budget, found in values.items()}
    return RecallRow(tier, ability, len(recalls), means)
