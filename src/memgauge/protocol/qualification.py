"""What a judge is worth: how often it errs on hand-written answers whose verdict is known.

Kinds begin with "right" or "wrong". Items of the "dev" half may be looked at when a judge is improved; the
"test" half (other questions) is for reporting. Both halves together are the default for a judge that was
improved on neither.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import sqrt
from typing import Literal

import msgspec

from memgauge.protocol.judging import MAX_PARSE_FAILURES, prompt_hash
from memgauge.records import Result
from memgauge.stats.intervals import Interval
from memgauge.tasks.base import Solver, solve_all
from memgauge.tasks.judge_answer import JudgeAnswer, Variant, Verdict

# A judge that errs on a share e of answers moves a score by at most e. The interval's upper end is held, not
# the rate, so that a lucky draw of few items does not qualify; 0.15 asks for a rate of about 0.08 on this set.
MAX_ERROR = 0.15
MAX_MISSING = MAX_PARSE_FAILURES
_Z = 1.959963984540054  # the normal quantile of a 95 % interval


@dataclass(frozen=True, slots=True)
class QualificationItem:
    """One answer with its true verdict; an abstention item has no golds."""

    kind: str
    half: Literal["dev", "test"]
    question: str
    golds: tuple[str, ...]
    answer: str
    correct: bool
    abstention: bool


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Errors among `judged` items with the 95 % Wilson interval; `missing` items have no verdict and no share in it."""

    kind: str
    errors: int
    judged: int
    missing: int
    rate: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Qualification:
    """One judge, prompt and variant on the set.

    False accepts are over wrong answers, false rejects over right ones, `kinds` in alphabetic order.
    `statuses` counts every result; `failed` says in words which bounds are not kept, empty when `qualified`.
    """

    judge: str
    prompt_hash: str
    variant: Variant
    items: int
    statuses: Mapping[str, int]
    false_accepts: ErrorRate
    false_rejects: ErrorRate
    kinds: tuple[ErrorRate, ...]
    qualified: bool
    failed: tuple[str, ...]


@cache
def qualification_items() -> tuple[QualificationItem, ...]:
    """The whole set, in the order of its file."""
    decoder = msgspec.json.Decoder(QualificationItem)
    text = files(__package__).joinpath("qualification_set.jsonl").read_bytes()
    return tuple(decoder.decode(line) for line in text.splitlines())


def qualify(
    solver: Solver, variant: Variant, judge: str, items: Sequence[QualificationItem] | None = None
) -> Qualification:
    """Let a judge mark every item (default: the whole set); `judge` names its model.

    A reply without a verdict is no error and no success: it is missing, and too many of them disqualify.
    """
    items = qualification_items() if items is None else items
    tasks = [JudgeAnswer(one.question, one.golds, one.answer, one.abstention, variant) for one in items]
    results = solve_all(solver, tasks)
    marked = list(zip(items, results, strict=True))
    accepts = _rate("wrong", [pair for pair in marked if not pair[0].correct])
    rejects = _rate("right", [pair for pair in marked if pair[0].correct])
    names = sorted({item.kind for item in items})
    failed = _failed(accepts, rejects)
    return Qualification(
        judge=judge,
        prompt_hash=prompt_hash(variant),
        variant=variant,
        items=len(items),
        statuses=dict(sorted(Counter(result.status for result in results).items())),
        false_accepts=accepts,
        false_rejects=rejects,
        kinds=tuple(_rate(name, [pair for pair in marked if pair[0].kind == name]) for name in names),
        qualified=not failed,
        failed=failed,
    )


def render_qualification(found: Qualification) -> str:
    """The qualification as lines for people: the finding, both rates, every kind, and why it failed.

    >>> print(render_qualification(Qualification(
    ...     "m", "ab12", "strict", 3, {"ok": 2, "empty": 1},
    ...     ErrorRate("wrong", 1, 2, 1, 0.5, Interval(0.1, 0.9)), ErrorRate("right", 0, 0, 0, None, None),
    ...     (), False, ("false rejects: no item was judged",))))
    judge m, strict prompt ab12, 3 items (2 ok, 1 empty): not qualified
      false accepts     1 of 2    0.500 [0.100, 0.900]  1 missing
      false rejects     0 of 0    undefined
      not kept: false rejects: no item was judged
    """
    statuses = ", ".join(
        f"{count} {status}" for status, count in sorted(found.statuses.items(), key=lambda one: -one[1])
    )
    finding = "qualified" if found.qualified else "not qualified"
    lines = [
        f"judge {found.judge}, {found.variant} prompt {found.prompt_hash}, {found.items} items ({statuses}): {finding}",
        _line("false accepts", found.false_accepts),
        _line("false rejects", found.false_rejects),
        *(_line(kind.kind, kind) for kind in found.kinds),
        *(f"  not kept: {reason}" for reason in found.failed),
    ]
    return "\n".join(lines)


def _line(name: str, rate: ErrorRate) -> str:
    share = "undefined"
    if rate.rate is not None and rate.interval is not None:
        share = f"{rate.rate:.3f} [{rate.interval.low:.3f}, {rate.interval.high:.3f}]"
    missing = f"  {rate.missing} missing" if rate.missing else ""
    return f"  {name:<16}  {f'{rate.errors} of {rate.judged}':<9} {share}{missing}"


def wilson(errors: int, count: int) -> Interval | None:
    """The 95 % score interval of a share (Wilson 1927); None of nothing.

    >>> wilson(0, 10), wilson(0, 0)
    (Interval(low=0.0, high=0.2775327998628892), None)
    """
    if not count:
        return None
    share, z2 = errors / count, _Z**2
    centre = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = _Z * sqrt(share * (1 - share) / count + z2 / (4 * count**2)) / (1 + z2 / count)
    # At the ends the formula gives 0 and 1 but for rounding.
    low = 0.0 if errors == 0 else centre - half
    return Interval(low, 1.0 if errors == count else centre + half)


def _rate(kind: str, marked: Sequence[tuple[QualificationItem, Result[Verdict]]]) -> ErrorRate:
    judged = [(item, result.output) for item, result in marked if result.status == "ok" and result.output is not None]
    errors = sum(verdict.correct != item.correct for item, verdict in judged)
    share = errors / len(judged) if judged else None
    return ErrorRate(kind, errors, len(judged), len(marked) - len(judged), share, wilson(errors, len(judged)))


def _failed(accepts: ErrorRate, rejects: ErrorRate) -> tuple[str, ...]:
    """The bounds that are not kept, each with its number."""
    failed: list[str] = []
    for name, rate in (("false accepts", accepts), ("false rejects", rejects)):
        if rate.interval is None:
            failed.append(f"{name}: no item was judged")
        elif rate.interval.high > MAX_ERROR:
            failed.append(f"{name}: the interval reaches {rate.interval.high:.3f}, allowed is {MAX_ERROR}")
    count, missing = accepts.judged + rejects.judged, accepts.missing + rejects.missing
    if missing > MAX_MISSING * (count + missing):
        failed.append(f"missing verdicts: {missing} of {count + missing}, allowed is a share of {MAX_MISSING}")
    return tuple(failed)
