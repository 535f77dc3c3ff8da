"""Runs one stage: `python -m memgauge.stages STAGE [AXIS ...]`, as `dvc.yaml` does.

A user's mistake ends in one line and exit code 2; a cell in which nothing could be scored in exit code 3.
"""

import importlib
import os
import sys
from pathlib import Path

from memgauge.errors import InputError, MemgaugeError, unknown_name
from memgauge.params import load, select
from memgauge.stages.table import STAGES, check_name, check_params


def run(name: str, arguments: list[str], params_file: Path) -> None:
    """Check the whole parameter file, then call the stage's `main` with its own keys only."""
    if name not in STAGES:
        raise unknown_name("stage", name, sorted(STAGES))
    stage = STAGES[name]
    if len(arguments) != len(stage.axes):
        raise InputError(f"stage {name} takes {len(stage.axes)} arguments ({', '.join(stage.axes)})")
    tree = load(params_file)
    check_params(tree)
    axes = dict(zip(stage.axes, arguments, strict=True))
    for axis, value in axes.items():
        check_name(axis, value, tree)
    module = importlib.import_module(f"memgauge.stages.{name}")
    module.main(select(tree, stage.keys(axes, tree)), **axes)


def main() -> int:
    """Exit code of one stage run."""
    # OpenMP threads that spin while they wait make a stage three to ten times slower beside any other busy process.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # As DVC names the instance, so that a stage run by hand has a cell of its own in the store and the ledger.
    os.environ.setdefault("DVC_STAGE", "@".join(filter(None, (*sys.argv[1:2], "-".join(sys.argv[2:])))))
    try:
        run(sys.argv[1] if len(sys.argv) > 1 else "", sys.argv[2:], Path("params.yaml"))
    except MemgaugeError as error:
        print(f"memgauge: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
