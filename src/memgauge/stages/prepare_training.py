"""Stage `prepare_training`: the histories of one benchmark that MemoryCPT may learn from, and those it must not see."""

from collections import Counter
from collections.abc import Iterator

from memgauge.datasets.catalogue import reader
from memgauge.datasets.prepared import Pair, write_prepared
from memgauge.params import Params
from memgauge.records import Split
from memgauge.stages.layout import RAW, TRAINING

SPLITS: tuple[Split, ...] = ("train", "val", "test")


def main(params: Params) -> None:
    """Write `data/training/SPLIT/`, a prepared benchmark a split: the first histories of each, as many as asked.

    `test` holds every history of the split: it is what the checks for leaks compare with.
    """
    chosen = params["prepare_training"]
    name, options = chosen["benchmark"], dict(chosen["source"])
    limits = {"train": chosen["train"], "val": chosen["val"], "test": None}
    for split in SPLITS:
        quirks: Counter[str] = Counter()
        pairs = reader(name)(RAW / name, quirks, **options)
        write_prepared(TRAINING / split, _of_split(pairs, split), quirks, {"histories": limits[split]})


def _of_split(pairs: Iterator[Pair], split: Split) -> Iterator[Pair]:
    return (pair for pair in pairs if pair[0].split == split)
