"""Which benchmarks there are, and the reader of each."""

from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from memgauge.errors import unknown_name
from memgauge.records import History, Question

READERS = {
    "locomo": "memgauge.datasets.locomo:read",
    "longmemeval": "memgauge.datasets.longmemeval:read",
    "beam": "memgauge.datasets.beam:read",
    "synthetic": "memgauge.datasets.synthetic.generate:read",
}


class Reader(Protocol):
    """Streams one benchmark's histories, each with its questions, and counts oddities by name."""

    def __call__(
        self, folder: Path, quirks: Counter[str], **options: Any
    ) -> Iterator[tuple[History, tuple[Question, ...]]]:
        """Read the raw files below `folder`; raises InputError for a malformed file or an unknown option."""
        ...


def reader(name: str) -> Reader:
    """The reader of one benchmark; raises InputError for an unknown name.

    >>> reader("locomo").__module__
    'memgauge.datasets.locomo'
    """
    if name not in READERS:
        raise unknown_name("benchmark", name, sorted(READERS))
    module, _, function = READERS[name].partition(":")
    return cast(Reader, getattr(import_module(module), function))
