"""`memgauge ui`: the MLflow UI on the recorded runs."""

import argparse
import subprocess
import sys
from typing import Any

from memgauge.errors import InputError


def add(commands: Any) -> None:
    """Add the command to the parser."""
    browse = commands.add_parser("ui", help="open the MLflow UI on the recorded runs")
    browse.add_argument("--port", type=int, default=5000)
    browse.set_defaults(run=_ui)


def _ui(options: argparse.Namespace) -> None:
    from memgauge.stages.layout import pipeline_root

    store = pipeline_root() / "mlflow.db"
    if not store.is_file():
        raise InputError(f"no recorded runs in {store}; run `dvc repro` first")
    command = ["mlflow", "ui", "--workers", "1", "--backend-store-uri", f"sqlite:///{store}"]
    subprocess.run([sys.executable, "-m", *command, "--port", str(options.port)], check=False)
