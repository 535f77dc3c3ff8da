"""Stage `report`: join the benchmarks' diagnoses into one metrics file, one document and one plot."""

import csv
import io
from typing import Any

from memgauge.files import read_bytes, read_json, write_json, write_text
from memgauge.params import Params
from memgauge.records import PRIMARY
from memgauge.report.card import baseline_card
from memgauge.stages.layout import METRICS

GAPS = ("write_gap", "retrieval_gap", "rm")


def main(params: Params) -> None:
    """Write `metrics/diagnosis.json`, `metrics/diagnosis.md`, `metrics/gaps.csv` and `metrics/baselines.md`."""
    names = params["benchmarks"]
    tree = {name: read_json(METRICS / "cells" / f"{name}.json") for name in names}
    write_json(METRICS / "diagnosis.json", tree)
    documents = [read_bytes(METRICS / "tables" / f"{name}.md").decode("utf-8") for name in names]
    write_text(METRICS / "diagnosis.md", "\n".join(documents))
    write_text(METRICS / "gaps.csv", _gaps(tree))
    write_text(METRICS / "baselines.md", baseline_card(params["systems"], params["memory"]))


def _gaps(tree: dict[str, Any]) -> str:
    """One row a cell and gap, for `dvc plots`; a cell without the primary metric has no row."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["cell", "gap", "value"])
    for benchmark, readers in tree.items():
        for reader, systems in readers.items():
            for system, numbers in systems.items():
                for gap in GAPS if PRIMARY in numbers else ():
                    writer.writerow([f"{benchmark} {reader} {system} {gap}", gap, numbers[PRIMARY][gap]])
    return stream.getvalue()
