"""Facts of a ranked cohort that need no reader: passages shown, their size, short rankings, evidence recall."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memgauge.errors import NothingScoredError
from memgauge.experiments.passage_budgets import BUDGETS, Ranking, history_windows, rank_history, turn_labels
from memgauge.experiments.passage_evidence import Recall, RecallRow, question_recall, recall_rows
from memgauge.experiments.passage_shown import Piece
from memgauge.records import History, Question
from memgauge.text.qwen import count_qwen

OTHER_TOKENS = 175  # instructions, question and answer of one call; paper C's totals imply 160 to 220
REFERENCE = 10  # paper C's budget that ratios are stated against


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """One ranking: characters and Qwen2.5 tokens of each passage, labels of date and speaker in the tokens."""

    question_id: str
    characters: tuple[int, ...]
    tokens: tuple[int, ...]
    recall: Recall


@dataclass(frozen=True, slots=True)
class Facts:
    """A cohort by budget. `short` holds rankings with fewer passages than the largest budget.

    `tokens` are passages alone, with their labels; `ratio_percent` adds OTHER_TOKENS a question to both sides.
    """

    questions: int
    passages: Mapping[int, int]
    characters: Mapping[int, int]
    tokens: Mapping[int, int]
    ratio_percent: Mapping[int, float]
    short: Mapping[str, int]
    recall: tuple[RecallRow, ...]


def history_facts(pair: tuple[History, Sequence[Question]]) -> tuple[QuestionFacts, ...]:
    """Rank one history's questions at the largest budget and measure what is shown."""
    history, questions = pair
    rankings = rank_history(history, questions, windows=history_windows(history))
    labels = turn_labels(history)
    ids = [turn.id for _, turn in history.turns()]
    tokens = _passage_tokens(rankings, labels)
    return tuple(
        QuestionFacts(
            question.id,
            tuple(sum(len(piece.text) for piece in passage.pieces) for passage in ranking.passages),
            counted,
            question_recall(history, question, _pieces(ranking, ids), BUDGETS),
        )
        for question, ranking, counted in zip(questions, rankings, tokens, strict=True)
    )


def cohort_facts(found: Iterable[QuestionFacts]) -> Facts:
    """The cohort's totals by budget; raises NothingScoredError without a question."""
    rows = list(found)
    if not rows:
        raise NothingScoredError("the cohort holds no question; read other tiers or another folder")
    tokens = {budget: sum(sum(row.tokens[:budget]) for row in rows) for budget in BUDGETS}
    other = OTHER_TOKENS * len(rows)
    return Facts(
        questions=len(rows),
        passages={budget: sum(len(row.tokens[:budget]) for row in rows) for budget in BUDGETS},
        characters={budget: sum(sum(row.characters[:budget]) for row in rows) for budget in BUDGETS},
        tokens=tokens,
        ratio_percent={budget: 100 * (tokens[budget] + other) / (tokens[REFERENCE] + other) for budget in BUDGETS},
        short={row.question_id: len(row.tokens) for row in rows if len(row.tokens) < max(BUDGETS)},
        recall=recall_rows(row.recall for row in rows),
    )


def _passage_tokens(rankings: Sequence[Ranking], labels: Sequence[str]) -> list[tuple[int, ...]]:
    """Tokens of every passage of every ranking; text that several questions are shown is counted once."""
    texts = [
        [[labels[piece.document] + piece.text for piece in passage.pieces] for passage in ranking.passages]
        for ranking in rankings
    ]
    distinct = list(dict.fromkeys(text for each in texts for pieces in each for text in pieces))
    count = dict(zip(distinct, count_qwen(distinct), strict=True)) if distinct else {}
    return [tuple(sum(count[text] for text in pieces) for pieces in each) for each in texts]


def _pieces(ranking: Ranking, ids: Sequence[str]) -> list[list[Piece]]:
    return [
        [Piece(ids[piece.document], piece.start, piece.end) for piece in passage.pieces] for passage in ranking.passages
    ]
