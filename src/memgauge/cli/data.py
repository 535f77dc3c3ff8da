"""`memgauge data describe`: what one benchmark holds."""

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memgauge.errors import InputError

if TYPE_CHECKING:
    from memgauge.records import History, Question


def add(commands: Any) -> None:
    """Add the command to the parser."""
    data = commands.add_parser("data", help="look at a benchmark").add_subparsers(required=True, metavar="ACTION")
    describe = data.add_parser("describe", help="count what a benchmark holds")
    describe.add_argument("name", help="synthetic, locomo, longmemeval or beam")
    describe.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    describe.add_argument("--folder", type=Path, help="its raw files (default: MEMGAUGE_DATA, else data/raw/NAME)")
    describe.set_defaults(run=_describe)


def _describe(options: argparse.Namespace) -> None:
    from memgauge.assets import ensure
    from memgauge.datasets.describe import describe
    from memgauge.text.tokens import models_folder

    quirks: Counter[str] = Counter()
    pairs = _pairs(options.name, options.folder, quirks)
    ensure("cl100k_base", models_folder())
    facts = describe(options.name, pairs, quirks)
    if options.json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    for key, value in facts.items():
        if isinstance(value, dict):
            print(key)
            for name, count in value.items():
                print(f"  {name:<40} {count:>12,}")
        else:
            print(f"{key:<42} {value:>12,}" if isinstance(value, int) else f"{key:<42} {value:>12}")


def _pairs(name: str, folder: Path | None, quirks: Counter[str]) -> "Iterator[tuple[History, tuple[Question, ...]]]":
    """The raw files where they are; without any, the synthetic benchmark at its default size."""
    from memgauge.datasets.catalogue import reader

    read = reader(name)
    raw, local = Path("data/raw") / name, os.environ.get("MEMGAUGE_DATA")
    if folder is None and name == "synthetic" and not raw.is_dir():
        from memgauge.datasets.synthetic.generate import generate
        from memgauge.datasets.synthetic.options import SyntheticOptions

        return generate(SyntheticOptions(), seed=17)
    if folder is None:
        folder = Path(local) if local and name != "synthetic" else raw
        folder = folder / name if name != "beam" and (folder / name).is_dir() else folder
    if not folder.is_dir():
        raise InputError(
            f"no files of {name} in {folder}; run `dvc repro fetch@{name}`, or set MEMGAUGE_DATA or --folder"
        )
    return read(folder, quirks, **_source(name))


def _source(name: str) -> dict[str, object]:
    """How params.yaml reads the benchmark, so that both count the same; nothing outside a project."""
    from memgauge.params import load

    file = Path("params.yaml")
    if name == "synthetic" or not file.is_file():
        return {}
    found = load(file).get("benchmark", {}).get(name, {}).get("source", {})
    return dict(found)
