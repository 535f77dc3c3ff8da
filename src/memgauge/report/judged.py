"""Judged scores as Markdown: strict and generous side by side, with what the judge gets wrong beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memgauge.protocol.judging import MAX_PARSE_FAILURES, JudgedScore, SideBySide
from memgauge.report.markdown import markdown_table
from memgauge.report.numbers import interval, number, percent

PREAMBLE = """\
# Judged scores: {benchmark}

Share of answerable questions that the judge calls correct. Bounds say what missing answers and verdicts leave open.
Between "strict" and "generous" only the judge's prompt differs; a score counts no more than the judge's own errors
below allow. Judge errors are calls that gave no verdict, strict and generous: they are in no score, and a row in
which they are more than {most} is invalid. Length: rank correlation of an answer's length with its credit."""


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """One condition of one (reader, system) under one judge; `system` is "references" for NM, TFC and OE."""

    reader: str
    system: str
    condition: str
    found: SideBySide


def judged_report(
    benchmark: str, rows: Sequence[JudgedRow], qualifications: Mapping[str, Any], source_verdict: str
) -> str:
    """The judge's own error rates, then every judged score.

    `qualifications` as `metrics/judge.json` holds them; `source_verdict` says whether it may rescore against sources.
    """
    preamble = PREAMBLE.format(benchmark=benchmark, most=percent(MAX_PARSE_FAILURES))
    parts = [preamble, _judge_table(qualifications), source_verdict, _score_table(rows)]
    return "\n\n".join(parts) + "\n"


def _judge_table(qualifications: Mapping[str, Any]) -> str:
    header = ["judge", "prompt", "qualified", "false accepts", "false rejects", "items", "why not"]
    return markdown_table(header, [_judge_row(each) for each in qualifications.values()])


def _judge_row(found: Mapping[str, Any]) -> list[str]:
    rates = [f"{number(found[key]['rate'])} of {found[key]['judged']}" for key in ("false_accepts", "false_rejects")]
    qualified = "yes" if found["qualified"] else "no"
    prompt = f"{found['variant']} {found['prompt_hash']}"
    return [found["judge"], prompt, qualified, *rates, str(found["items"]), "; ".join(found["failed"])]


def _score_table(rows: Sequence[JudgedRow]) -> str:
    header = ["reader", "system", "condition", "n", "strict", "bounds", "generous", "bounds", "both agree"]
    header += ["unanswerable", "strict", "judge errors, strict", "judge errors, generous", "valid", "length"]
    return markdown_table(header, [_score_row(each) for each in rows])


def _score_row(row: JudgedRow) -> list[str]:
    strict, generous = row.found.strict, row.found.generous
    both = row.found.both_correct + row.found.both_wrong
    judged = both + row.found.strict_only + row.found.generous_only
    return [
        *(row.reader, row.system, row.condition, str(strict.answerable)),
        *_score(strict),
        *_score(generous),
        percent(both / judged if judged else None),
        *(str(strict.abstention), number(strict.abstention_score)),
        *(_errors(strict), _errors(generous)),
        "yes" if strict.valid and generous.valid else "INVALID",
        number(strict.length_correlation, 2),
    ]


def _score(found: JudgedScore) -> tuple[str, str]:
    return number(found.score), interval(found.bounds)


def _errors(found: JudgedScore) -> str:
    """Calls without a verdict of all calls, and their share."""
    return f"{found.errors} of {found.asked} ({percent(found.errors / found.asked if found.asked else None)})"
