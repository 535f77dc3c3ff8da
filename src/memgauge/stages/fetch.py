"""Stage `fetch`: bring one benchmark's raw files, from a local folder or by download, or generate them."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from memgauge.datasets.fetch import fetch
from memgauge.datasets.synthetic.generate import generate
from memgauge.datasets.synthetic.options import SyntheticOptions
from memgauge.files import write_jsonl
from memgauge.params import Params
from memgauge.records import History, Question
from memgauge.stages.layout import RAW
from memgauge.stages.options import options_as


def main(params: Params, benchmark: str) -> None:
    """Write `data/raw/BENCHMARK/`; `MEMGAUGE_DATA` names a folder that already holds the published files."""
    bring(params, benchmark, RAW / benchmark)


def bring(params: Params, benchmark: str, target: Path) -> None:
    """Fill `target` with one benchmark's raw files."""
    source = params[f"benchmark.{benchmark}.source"]
    if benchmark == "synthetic":
        _generate(target, source, params["seed"])
        return
    local = os.environ.get("MEMGAUGE_DATA")
    fetch(benchmark, target, Path(local) if local else None, source)


def _generate(target: Path, source: Mapping[str, object], seed: int) -> None:
    """Write histories.jsonl as they are made, and questions.jsonl."""
    options = options_as(SyntheticOptions, "option of the synthetic benchmark", source)
    questions: list[Question] = []

    def histories() -> Iterator[History]:
        for history, asked in generate(options, seed):
            questions.extend(asked)
            yield history

    write_jsonl(target / "histories.jsonl", histories())
    write_jsonl(target / "questions.jsonl", questions)
