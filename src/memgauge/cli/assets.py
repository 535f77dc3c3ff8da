"""`memgauge assets`: bring a model or vocabulary."""

import argparse
from typing import Any

from memgauge.asset_table import ASSETS


def add(commands: Any) -> None:
    """Add the command to the parser."""
    assets = commands.add_parser("assets", help="bring a model or vocabulary into models/")
    assets.add_argument("names", nargs="+", metavar="NAME", help=", ".join(ASSETS))
    assets.set_defaults(run=_assets)


def _assets(options: argparse.Namespace) -> None:
    from memgauge.assets import ensure
    from memgauge.text.tokens import models_folder

    for name in options.names:
        ensure(name, models_folder())
        print(f"{name} is in {models_folder() / name}")
