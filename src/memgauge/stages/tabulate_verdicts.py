"""Stage `tabulate_verdicts`: one benchmark's judged scores, strict and generous, beside the judge's own errors."""

from collections.abc import Iterator
from dataclasses import asdict

from memgauge.files import read_json, read_jsonl, write_json, write_text
from memgauge.params import Params
from memgauge.protocol.judging import SideBySide, VerdictRecord, side_by_side
from memgauge.report.judged import JudgedRow, judged_report
from memgauge.stages.layout import METRICS, REFERENCES, VERDICTS
from memgauge.stages.source_verdict import source_verdict


def main(params: Params, benchmark: str) -> None:
    """Write `metrics/judged/BENCHMARK.json` and `.md`."""
    rows = [
        JudgedRow(reader, system, condition, found)
        for reader in params["readers"]
        for system in (REFERENCES, *params["systems"])
        for condition, found in _found(
            list(read_jsonl(VERDICTS / benchmark / reader / f"{system}.jsonl", VerdictRecord))
        )
    ]
    tree: dict[str, object] = {}
    for row in rows:
        node = tree.setdefault(row.reader, {})
        assert isinstance(node, dict)
        node.setdefault(row.system, {})[row.condition] = asdict(row.found)
    write_json(METRICS / "judged" / f"{benchmark}.json", tree)
    page = judged_report(benchmark, rows, read_json(METRICS / "judge.json"), source_verdict())
    write_text(METRICS / "judged" / f"{benchmark}.md", page)


def _found(verdicts: list[VerdictRecord]) -> Iterator[tuple[str, SideBySide]]:
    for condition in dict.fromkeys(each.condition for each in verdicts):
        of_condition = [each for each in verdicts if each.condition == condition]
        strict, generous = ([each for each in of_condition if each.variant == name] for name in ("strict", "generous"))
        yield condition, side_by_side(strict, generous)
