"""Stage `prepare`: turn one benchmark's raw files into histories and questions."""

import sys
from collections import Counter
from typing import Any

from tqdm import tqdm

from memgauge.datasets.catalogue import reader
from memgauge.datasets.describe import describe
from memgauge.datasets.prepared import stream_prepared, write_prepared
from memgauge.files import write_json
from memgauge.params import Params
from memgauge.stages.layout import METRICS, PREPARED, RAW


def main(params: Params, benchmark: str) -> None:
    """Write `data/prepared/BENCHMARK/` and the description `metrics/data/BENCHMARK.json`."""
    quirks: Counter[str] = Counter()
    options = dict(params[f"benchmark.{benchmark}.source"]) if benchmark != "synthetic" else {}
    pairs = reader(benchmark)(RAW / benchmark, quirks, **options)
    folder = PREPARED / benchmark
    bar: dict[str, Any] = {"unit": "history", "delay": 2}
    kept = tqdm(pairs, desc=f"prepare {benchmark}", **bar)
    write_prepared(folder, kept, quirks, params[f"benchmark.{benchmark}.select"])
    counted = tqdm(stream_prepared(folder), desc=f"describe {benchmark}", **bar)
    write_json(METRICS / "data" / f"{benchmark}.json", describe(benchmark, counted, +quirks))
    if met := +quirks:
        said = ", ".join(f"{name} {count}" for name, count in met.most_common())
        print(f"warning: {benchmark} has oddities, counted and kept: {said}", file=sys.stderr)
