"""`memgauge ...` for people: look at data, check parameters, bring assets, open the MLflow UI."""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from memgauge.errors import InputError, MemgaugeError

if TYPE_CHECKING:
    from memgauge.records import History, Question

EPILOG = """examples:
  memgauge data describe locomo --json     what one benchmark holds, oddities counted
  memgauge assets minilm                   bring the sentence encoder into models/
  memgauge check                           is every key of params.yaml read by a stage?
  memgauge ui                              compare the recorded runs in a browser

The pipeline itself is `dvc repro`; one changed value is `dvc exp run -S retrieval.k=10`.
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; a user's mistake is one line on standard error and exit code 2."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except MemgaugeError as error:
        print(f"memgauge: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        return 0
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memgauge",
        description="Where does an agent's memory lose evidence, and what does an answer cost?",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    data = commands.add_parser("data", help="look at a benchmark").add_subparsers(required=True, metavar="ACTION")
    describe = data.add_parser("describe", help="count what a benchmark holds")
    describe.add_argument("name", help="synthetic, locomo, longmemeval or beam")
    describe.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    describe.add_argument("--folder", type=Path, help="its raw files (default: MEMGAUGE_DATA, else data/raw/NAME)")
    describe.set_defaults(run=_describe)
    assets = commands.add_parser("assets", help="bring a model or vocabulary into models/")
    assets.add_argument("names", nargs="+", metavar="NAME", help="cl100k_base, qwen2.5, minilm or smollm2")
    assets.set_defaults(run=_assets)
    profile = commands.add_parser("profile", help="write a profile's values over params.yaml, comments kept")
    profile.add_argument("file", type=Path, help="such as profiles/paper.yaml")
    profile.set_defaults(run=_profile)
    check = commands.add_parser("check", help="check params.yaml before a run")
    check.set_defaults(run=_check)
    browse = commands.add_parser("ui", help="open the MLflow UI on the recorded runs")
    browse.add_argument("--port", type=int, default=5000)
    browse.set_defaults(run=_ui)
    return parser


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


def _assets(options: argparse.Namespace) -> None:
    from memgauge.assets import ensure
    from memgauge.text.tokens import models_folder

    for name in options.names:
        ensure(name, models_folder())
        print(f"{name} is in {models_folder() / name}")


def _check(options: argparse.Namespace) -> None:
    from memgauge.params import load
    from memgauge.stages.table import check_params

    check_params(load(Path("params.yaml")))
    print("params.yaml: every key is read by a stage")


def _profile(options: argparse.Namespace) -> None:
    from memgauge.params import apply

    for key in apply(Path("params.yaml"), options.file):
        print(f"changed {key}")
    print("`git diff params.yaml` shows the change, `git checkout params.yaml` takes it back")


def _ui(options: argparse.Namespace) -> None:
    store = Path("mlflow.db").resolve()
    if not store.is_file():
        raise InputError(f"no recorded runs in {store}; run `dvc repro` first")
    command = f"mlflow ui --workers 1 --backend-store-uri sqlite:///{store} --port {options.port}"
    subprocess.run([sys.executable, "-m", *command.split(" ")], check=False)


if __name__ == "__main__":
    sys.exit(main())
