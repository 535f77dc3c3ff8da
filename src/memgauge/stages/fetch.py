"""Stage `fetch`: bring one benchmark's raw files, from a local folder or by download, or generate them."""

import os
from pathlib import Path

from memgauge.datasets.fetch import fetch
from memgauge.datasets.synthetic.generate import SyntheticOptions, generate, write_raw
from memgauge.params import Params
from memgauge.stages.layout import RAW


def main(params: Params, benchmark: str) -> None:
    """Write `data/raw/BENCHMARK/`; `MEMGAUGE_DATA` names a folder that already holds the published files."""
    target = RAW / benchmark
    source = params[f"benchmark.{benchmark}.source"]
    if benchmark == "synthetic":
        write_raw(target, generate(SyntheticOptions.from_mapping(source), params["seed"]))
        return
    local = os.environ.get("MEMGAUGE_DATA")
    fetch(benchmark, target, Path(local) if local else None, source)
