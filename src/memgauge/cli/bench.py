"""`memgauge bench llm`: how fast the local engine is beside one-by-one generation."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Add the command to the parser."""
    bench = commands.add_parser("bench", help="measure speed on this machine")
    actions = bench.add_subparsers(required=True, metavar="WHAT")
    llm = actions.add_parser("llm", help="the local engine: one by one, padded batches, shared prefix")
    llm.add_argument("--model", type=Path, default=Path("models/smollm2"), help="folder (default: models/smollm2)")
    llm.add_argument("--questions", type=int, nargs="+", default=[10, 30, 60], help="over one store, each a row")
    llm.add_argument("--store-tokens", type=int, default=2_000)
    llm.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    llm.set_defaults(run=_llm)


def _llm(options: argparse.Namespace) -> None:
    from memgauge.llm.local import LocalChatModel
    from memgauge.llm.speed import SpeedOptions, measure_speed, render_speed

    chosen = SpeedOptions(store_tokens=options.store_tokens, questions=tuple(options.questions))
    found = measure_speed(LocalChatModel(options.model), chosen)
    print(json.dumps(asdict(found), indent=2) if options.json else render_speed(found))
