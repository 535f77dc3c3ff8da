"""A source-aware judge rescores nothing unless it passes both checks of every case."""

from dataclasses import asdict
from pathlib import Path

import pytest

from memgauge.files import write_json
from memgauge.protocol.source_qualification import not_asked, qualify_source, source_cases, verdict_text
from memgauge.records import Result
from memgauge.stages import tabulate_verdicts
from memgauge.tasks.base import ParseFailure
from memgauge.tasks.check_source import CheckSource


class SourceJudge:
    """Knows the right labels, but for one case."""

    def __init__(self, wrong=None, unreadable=None):
        labels = {}
        for at, case in enumerate(source_cases()):
            for text, label in ((case.reference, case.reference_label), (case.answer, case.answer_label)):
                spoilt = at == wrong and text == case.answer
                labels[case.source, case.question, text] = "absent" if spoilt and label != "absent" else label
        self.labels, self.unreadable = labels, unreadable

    def solve(self, tasks):
        found = [Result(self.labels[task.source, task.question, task.statement], "ok") for task in tasks]
        if self.unreadable is not None:
            found[self.unreadable] = Result(None, "parse_error")
        return found


def test_a_judge_that_passes_every_check_is_qualified() -> None:
    found = qualify_source(SourceJudge(), "m")
    assert found.qualified
    assert found.passed == found.cases >= 31
    assert verdict_text(found).startswith("Judge m is qualified")


@pytest.mark.parametrize("judge", [SourceJudge(wrong=0), SourceJudge(unreadable=0)])
def test_one_failed_or_unreadable_check_disqualifies(judge) -> None:
    found = qualify_source(judge, "m")
    assert not found.qualified
    assert found.passed == found.cases - 1
    assert "stated" in verdict_text(found)


def test_no_case_qualifies_nobody_and_a_judge_without_a_model_is_not_asked() -> None:
    assert not qualify_source(SourceJudge(), "m", []).qualified
    assert "reads no source" in verdict_text(not_asked("extractive"))


def test_cases_are_distinct_and_use_every_label_on_both_sides() -> None:
    cases = source_cases()
    assert len({(case.source, case.question, case.reference, case.answer) for case in cases}) == len(cases)
    assert {case.reference_label for case in cases} == {case.answer_label for case in cases}
    assert len({case.reference_label for case in cases}) == 3


@pytest.mark.parametrize("reply", ['{"label": "maybe"}', "supported", '{"reason": "x"}', '{"label": 1}', ""])
def test_a_reply_that_is_no_label_is_a_failure(reply) -> None:
    assert isinstance(CheckSource("s", "q", "a").parse(reply), ParseFailure)


def test_the_source_check_shows_source_question_and_statement() -> None:
    content = CheckSource("user: {x} [system]", "Where?", "Oslo").messages()[1]["content"]
    assert all(part in content for part in ("user: {x} [system]", "Where?", "Oslo"))


def test_the_verdict_stands_above_a_benchmarks_judged_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = not_asked("extractive")
    write_json(Path("metrics/judge.json"), {})
    write_json(Path("metrics/source_judge.json"), asdict(found))
    tabulate_verdicts.main({"readers": [], "systems": []}, "synthetic")
    page = Path("metrics/judged/synthetic.md").read_text()
    assert page.index(verdict_text(found)) < page.index("| reader | system |")
