"""One answer scored: every per-question number that the tables and gaps are made of, at full precision."""

from collections.abc import Sequence
from dataclasses import dataclass

from memgauge.metrics.evidence import span_recall, turn_recall
from memgauge.metrics.lexical import best, contains_match, contains_match_strict, token_f1, unusable
from memgauge.metrics.locomo import explained_part, locomo_f1
from memgauge.records import Answer, Question
from memgauge.text.refusals import is_refusal
from memgauge.text.tokens import count_tokens

EXPLAINED_TYPE = "open-domain"


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """The scores of one answer; None where a metric does not apply.

    Answer metrics are None when `status` is not ok, for an abstention question, where `unscorable` says why no
    gold can be used, and under OE for a question without evidence (nothing was shown). Recalls are reader-free:
    given for CSM and RM whatever the status, but not for an abstention question.
    """

    question_id: str
    history_id: str
    group: str
    type: str
    condition: str
    status: str
    abstention: bool
    refused: bool
    contains_match: float | None
    contains_match_strict: float | None
    token_f1: float | None
    locomo_f1: float | None
    answer_tokens: int
    context_tokens: int
    unscorable: str | None
    turn_recall: float | None
    span_recall: float | None


def score_item(
    question: Question,
    answer: Answer,
    group: str,
    evidence_texts: Sequence[str],
    context_text: str,
    entry_texts: Sequence[str],
    official_locomo: bool,
) -> ScoredItem:
    """Score one answer to one question.

    `evidence_texts` are the gold turns, `context_text` and `entry_texts` what the reader was shown (read for
    CSM and RM only); `official_locomo` adds LoCoMo's own F1, for which the type must be a LoCoMo category.
    """
    golds = usable_golds(question)
    unscorable = None if question.abstention or golds else _reason(question)
    shown = answer.condition != "OE" or bool(question.evidence)  # without evidence OE would be a second NM
    scored = answer.status == "ok" and bool(golds) and shown
    memory = answer.condition in ("CSM", "RM") and not question.abstention
    return ScoredItem(
        question_id=question.id,
        history_id=question.history_id,
        group=group,
        type=question.type,
        condition=answer.condition,
        status=answer.status,
        abstention=question.abstention,
        refused=answer.status == "ok" and is_refusal(answer.text),
        contains_match=best(contains_match, answer.text, golds) if scored else None,
        contains_match_strict=best(contains_match_strict, answer.text, question.golds) if scored else None,
        token_f1=best(token_f1, answer.text, golds) if scored else None,
        locomo_f1=_official_f1(question, answer.text) if scored and official_locomo else None,
        answer_tokens=count_tokens(answer.text),
        context_tokens=answer.context_tokens,
        unscorable=unscorable,
        turn_recall=turn_recall(evidence_texts, entry_texts) if memory else None,
        span_recall=span_recall(golds, context_text) if memory else None,
    )


def usable_golds(question: Question) -> tuple[str, ...]:
    """The golds an answer can be scored against: none for abstention, no explanation for open-domain.

    >>> usable_golds(Question("q", "h", "?", "open-domain", ("Likely no; she left", "???")))
    ('Likely no',)
    """
    if question.abstention:
        return ()
    golds = question.golds
    if question.type == EXPLAINED_TYPE:
        golds = tuple(explained_part(gold) for gold in golds)
    return tuple(gold for gold in golds if unusable(gold) is None)


def _reason(question: Question) -> str:
    return next((reason for reason in map(unusable, question.golds) if reason), "no gold text")


def _official_f1(question: Question, text: str) -> float:
    return max(locomo_f1(text, gold, question.type) for gold in question.golds)
