"""Whether a source-aware judge may rescore: it must pass both checks of every synthetic case (paper C, 3.3).

A case holds a source, a question, a reference and an answer. The source check asks what the source says of the
reference, the answer check what it says of the answer: two calls a case. One failed or unreadable check fails it.
This comes beside the judge's error rates on stored answers (`qualification`), which ask nothing about sources.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

import msgspec

from memgauge.prompts import template
from memgauge.records import Result
from memgauge.solvers.language_model import schema_text
from memgauge.tasks.base import Solver, solve_all
from memgauge.tasks.check_source import CheckSource, SourceLabel

PUBLISHED_CASES, PUBLISHED_PASSED = 31, 22  # paper C's replacement judge, which was not qualified
READS_NO_SOURCE = "it compares words and reads no source"


class SourceCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One case: `kind` says what it probes, the labels what a sound judge replies."""

    kind: str
    source: str
    question: str
    reference: str
    reference_label: SourceLabel
    answer: str
    answer_label: SourceLabel


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """What the judge said of one case; None where its reply could not be used."""

    kind: str
    source_label: str | None
    answer_label: str | None
    source_passed: bool
    answer_passed: bool

    @property
    def passed(self) -> bool:
        """Whether both checks hold."""
        return self.source_passed and self.answer_passed


@dataclass(frozen=True, slots=True)
class SourceQualification:
    """One judge on all cases; `remark` says why it was not asked, "" where it was."""

    judge: str
    prompt_hash: str
    cases: int
    passed: int
    failed_source: int
    failed_answer: int
    unreadable: int
    failed_kinds: tuple[str, ...]
    qualified: bool
    remark: str = ""


@cache
def source_cases() -> tuple[SourceCase, ...]:
    """The whole set, in the order of its file."""
    decoder = msgspec.json.Decoder(SourceCase)
    text = files(__package__).joinpath("source_cases.jsonl").read_bytes()
    return tuple(decoder.decode(line) for line in text.splitlines())


def source_prompt_hash() -> str:
    """16 hex digits of SHA-256 over the template and the schema."""
    schema = schema_text(CheckSource("", "", ""))
    return sha256(f"{template(CheckSource.name)}\0{schema}".encode()).hexdigest()[:16]


def qualify_source(solver: Solver, judge: str, cases: Sequence[SourceCase] | None = None) -> SourceQualification:
    """Let a judge take both checks of every case; `judge` names its model. No case at all qualifies nobody."""
    cases = source_cases() if cases is None else cases
    tasks = [CheckSource(case.source, case.question, text) for case in cases for text in (case.reference, case.answer)]
    results = solve_all(solver, tasks)
    found = [
        _outcome(case, source, answer) for case, source, answer in zip(cases, results[::2], results[1::2], strict=True)
    ]
    passed = sum(one.passed for one in found)
    return SourceQualification(
        judge=judge,
        prompt_hash=source_prompt_hash(),
        cases=len(cases),
        passed=passed,
        failed_source=sum(not one.source_passed for one in found),
        failed_answer=sum(not one.answer_passed for one in found),
        unreadable=sum(result.status != "ok" for result in results),
        failed_kinds=tuple(sorted({one.kind for one in found if not one.passed})),
        qualified=bool(cases) and passed == len(cases),
    )


def not_asked(judge: str, remark: str = READS_NO_SOURCE) -> SourceQualification:
    """The verdict on a judge that cannot take the checks: not qualified, and why."""
    return SourceQualification(judge, source_prompt_hash(), len(source_cases()), 0, 0, 0, 0, (), False, remark)


def verdict_text(found: SourceQualification) -> str:
    """One sentence that stands beside every judged score.

    >>> verdict_text(SourceQualification("m", "ab12", 31, 22, 5, 6, 0, ("late_update",), False))
    'Judge m is not qualified to rescore against sources: it passed 22 of 31 cases (failed: late_update).'
    """
    if found.remark:
        return f"Judge {found.judge} is not qualified to rescore against sources: {found.remark}."
    state = "qualified" if found.qualified else "not qualified"
    failed = f" (failed: {', '.join(found.failed_kinds)})" if found.failed_kinds else ""
    return (
        f"Judge {found.judge} is {state} to rescore against sources: "
        f"it passed {found.passed} of {found.cases} cases{failed}."
    )


def _outcome(case: SourceCase, source: Result[str], answer: Result[str]) -> CaseOutcome:
    first = source.output if source.status == "ok" else None
    second = answer.output if answer.status == "ok" else None
    return CaseOutcome(case.kind, first, second, first == case.reference_label, second == case.answer_label)
