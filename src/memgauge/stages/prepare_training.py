"""Stage `prepare_training`: the histories of one benchmark that MemoryCPT may learn from, and those it must not see."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from memgauge.datasets.catalogue import reader
from memgauge.datasets.prepared import Pair, write_prepared
from memgauge.params import Params
from memgauge.records import Split
from memgauge.stages.fetch import bring
from memgauge.stages.layout import TRAINING

SPLITS: tuple[Split, ...] = ("train", "val", "test")


def main(params: Params, benchmark: str) -> None:
    """Write `data/training/SPLIT/`, a prepared benchmark a split: the first histories of each, as many as asked.

    `test` holds every history of the split: it is what the checks for leaks compare with. The raw files are this
    stage's own and do not stay, so `benchmarks` need not name what is learnt from.
    """
    chosen = params["prepare_training"]
    limits = {"train": chosen["train"], "val": chosen["val"], "test": None}
    TRAINING.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=TRAINING.parent, prefix=".training.") as scratch:
        raw = Path(scratch) / benchmark
        bring(params, benchmark, raw)
        for split in SPLITS:
            quirks: Counter[str] = Counter()
            pairs = reader(benchmark)(raw, quirks, **chosen["source"])
            write_prepared(TRAINING / split, _of_split(pairs, split), quirks, {"histories": limits[split]})


def _of_split(pairs: Iterator[Pair], split: Split) -> Iterator[Pair]:
    return (pair for pair in pairs if pair[0].split == split)
