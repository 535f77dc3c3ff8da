"""Stored answers judged, again and again if need be, without a call to their reader; one score per judge and prompt.

It knows nothing of where answers and verdicts are stored, nor of what a judge is worth (`qualification`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from memgauge.errors import InputError
from memgauge.prompts import template
from memgauge.records import Answer, Condition, Question, Result, Status, Usage
from memgauge.solvers.language_model import schema_text
from memgauge.stats.intervals import Interval, mean, mean_bounds
from memgauge.tasks.base import Solver, solve_all
from memgauge.tasks.judge_answer import JudgeAnswer, Variant, Verdict, template_of
from memgauge.text.tokens import count_tokens

MAX_PARSE_FAILURES = 0.05  # share of a judge's calls that gave no verdict; above it a run is not valid
UNREADABLE: tuple[Status, ...] = ("parse_error", "truncated", "empty")  # replies that gave no verdict


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """What one judge says of one stored answer.

    `status` is the judge's, None where it was not asked: the answer is not ok, or its question has neither a
    gold nor is an abstention question. `correct` is None unless `status` is ok.
    """

    question_id: str
    condition: Condition
    judge: str
    prompt_hash: str
    variant: Variant
    abstention: bool
    answer_status: Status
    answer_tokens: int
    status: Status | None
    correct: bool | None
    reason: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class JudgedScore:
    """One condition under one (judge, prompt, variant).

    `score` is the share correct of the answerable questions that were judged, `bounds` what the missing ones
    leave open; `abstention_score` is the same over abstention questions and in no other number. `statuses`
    counts the judge's replies, `not_judged` the questions it was not asked about. `parse_failure_rate` is the
    share of replies that are UNREADABLE; `valid` is False when too many calls gave no verdict for whatever
    reason (`errors`), or none was made. `mean_answer_tokens`
    (cl100k_base) is over all judged answers; `length_correlation` is Spearman's between answer tokens and
    credit, None where one of them does not vary: a judge that long answers can talk round shows here.
    """

    condition: Condition
    judge: str
    prompt_hash: str
    variant: Variant
    score: float | None
    bounds: Interval | None
    answerable: int
    abstention_score: float | None
    abstention: int
    statuses: Mapping[str, int]
    not_judged: int
    parse_failure_rate: float | None
    valid: bool
    mean_answer_tokens: float | None
    length_correlation: float | None

    @property
    def asked(self) -> int:
        """Calls of the judge."""
        return sum(self.statuses.values())

    @property
    def errors(self) -> int:
        """Calls of the judge that gave no verdict, for whatever reason."""
        return self.asked - self.statuses.get("ok", 0)


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Strict and generous verdicts of one judge on the same answers; counts of questions judged by both."""

    strict: JudgedScore
    generous: JudgedScore
    both_correct: int
    strict_only: int
    generous_only: int
    both_wrong: int


def prompt_hash(variant: Variant) -> str:
    """16 hex digits of SHA-256 over the variant's template and the schema: all wording a judge is shown."""
    schema = schema_text(JudgeAnswer("", (), "", variant=variant))
    return sha256(f"{template(template_of(variant))}\0{schema}".encode()).hexdigest()[:16]


def judge_stored(
    questions: Sequence[Question], answers: Sequence[Answer], solver: Solver, judge: str, variant: Variant
) -> list[VerdictRecord]:
    """One record per answer, in order; `judge` names the solver's model in every record.

    Only answers of status ok are judged. Raises InputError for an answer whose question is not given.
    """
    by_id = {question.id: question for question in questions}
    for answer in answers:
        if answer.question_id not in by_id:
            raise InputError(f"an answer names question {answer.question_id!r}, which is not given; give its benchmark")
    asked = [at for at, answer in enumerate(answers) if _is_judged(by_id[answer.question_id], answer)]
    tasks = [_task(by_id[answers[at].question_id], answers[at], variant) for at in asked]
    results = solve_all(solver, tasks)
    judged = dict(zip(asked, results, strict=True))
    digest = prompt_hash(variant)
    return [
        _record(by_id[answer.question_id], answer, judged.get(at), judge, digest, variant)
        for at, answer in enumerate(answers)
    ]


def score_verdicts(records: Sequence[VerdictRecord], max_parse_failures: float = MAX_PARSE_FAILURES) -> JudgedScore:
    """The score of one condition under one judge, prompt and variant.

    Raises InputError when there is no record, when records of different ones are mixed, or when a question
    comes twice.
    """
    first = _one_run(records)
    statuses = Counter(record.status for record in records if record.status is not None)
    asked = sum(statuses.values())
    failures = sum(statuses[status] for status in UNREADABLE) / asked if asked else None
    answerable = [_credit(record) for record in records if not record.abstention]
    abstention = [_credit(record) for record in records if record.abstention]
    return JudgedScore(
        condition=first.condition,
        judge=first.judge,
        prompt_hash=first.prompt_hash,
        variant=first.variant,
        score=mean([one for one in answerable if one is not None]),
        bounds=mean_bounds(answerable),
        answerable=len(answerable),
        abstention_score=mean([one for one in abstention if one is not None]),
        abstention=len(abstention),
        statuses=dict(sorted(statuses.items())),
        not_judged=len(records) - asked,
        parse_failure_rate=failures,
        valid=asked > 0 and asked - statuses["ok"] <= max_parse_failures * asked,
        mean_answer_tokens=mean([record.answer_tokens for record in records if record.correct is not None]),
        length_correlation=length_correlation(records),
    )


def side_by_side(strict: Sequence[VerdictRecord], generous: Sequence[VerdictRecord]) -> SideBySide:
    """Both variants of one judge over the same answers of one condition; raises InputError when they differ."""
    one, other = score_verdicts(strict), score_verdicts(generous)
    if (one.variant, other.variant) != ("strict", "generous"):
        raise InputError(f"variants are {one.variant} and {other.variant}; give strict verdicts, then generous ones")
    if (one.judge, one.condition) != (other.judge, other.condition):
        raise InputError(
            f"{one.judge} on {one.condition} and {other.judge} on {other.condition} are two runs; "
            "compare variants of one judge on one condition"
        )
    later = {record.question_id: record for record in generous}
    if later.keys() != {record.question_id for record in strict}:
        raise InputError("the two variants judged different questions; judge the same answers with both")
    pairs = Counter((record.correct, later[record.question_id].correct) for record in strict)
    return SideBySide(one, other, pairs[True, True], pairs[True, False], pairs[False, True], pairs[False, False])


def length_correlation(records: Sequence[VerdictRecord]) -> float | None:
    """Spearman's rank correlation of answer tokens and credit over judged answerable questions."""
    judged = [record for record in records if record.correct is not None and not record.abstention]
    lengths = _ranks([record.answer_tokens for record in judged])
    credit = _ranks([int(record.correct or 0) for record in judged])
    if len(judged) < 2 or np.ptp(lengths) == 0 or np.ptp(credit) == 0:
        return None
    return float(np.corrcoef(lengths, credit)[0, 1])


def _ranks(values: Sequence[int]) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Ranks from 1, equal values sharing the mean of theirs."""
    _, inverse, counts = np.unique(np.array(values, dtype=np.int64), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: np.ndarray[tuple[int], np.dtype[np.float64]] = (last - (counts - 1) / 2)[inverse]
    return ranks


def _is_judged(question: Question, answer: Answer) -> bool:
    return answer.status == "ok" and (question.abstention or bool(question.golds))


def _task(question: Question, answer: Answer, variant: Variant) -> JudgeAnswer:
    return JudgeAnswer(question.text, question.golds, answer.text, question.abstention, variant)


def _record(
    question: Question, answer: Answer, result: Result[Verdict] | None, judge: str, digest: str, variant: Variant
) -> VerdictRecord:
    verdict = result.output if result is not None and result.status == "ok" else None
    return VerdictRecord(
        question_id=answer.question_id,
        condition=answer.condition,
        judge=judge,
        prompt_hash=digest,
        variant=variant,
        abstention=question.abstention,
        answer_status=answer.status,
        answer_tokens=count_tokens(answer.text),
        status=None if result is None else result.status,
        correct=None if verdict is None else verdict.correct,
        reason="" if verdict is None else verdict.reason,
        usage=Usage() if result is None else result.usage,
    )


def _credit(record: VerdictRecord) -> float | None:
    return None if record.correct is None else float(record.correct)


def _run(record: VerdictRecord) -> tuple[str, ...]:
    return record.judge, record.prompt_hash, record.variant, record.condition


def _one_run(records: Sequence[VerdictRecord]) -> VerdictRecord:
    """The first record, after the check that all belong together."""
    if not records:
        raise InputError("there are no verdicts to score; judge the answers first")
    runs = sorted({_run(one) for one in records})
    if len(runs) > 1:
        named = "; ".join(" ".join(run) for run in runs)
        raise InputError(f"verdicts of {len(runs)} runs are mixed ({named}); score each alone")
    twice = [question for question, count in Counter(one.question_id for one in records).items() if count > 1]
    if twice:
        raise InputError(f"question {twice[0]!r} has several verdicts; keep one for each")
    return records[0]
