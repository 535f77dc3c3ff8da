"""`memgauge ledger`: what runs have spent."""

import argparse
import json
from dataclasses import asdict
from typing import Any


def add(commands: Any) -> None:
    """Add the command to the parser."""
    ledger = commands.add_parser("ledger", help="calls, tokens and USD spent, by run, role and stage")
    ledger.add_argument("--run-id", metavar="NAME", help="one run only")
    ledger.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    ledger.set_defaults(run=_ledger)


def _ledger(options: argparse.Namespace) -> None:
    from memgauge.llm.ledger import Ledger, usd
    from memgauge.stages.layout import ledger_file

    totals = Ledger(ledger_file()).totals(("run", "role", "cell"), options.run_id)
    if options.json:
        rows = [{"run": key[0], "role": key[1], "cell": key[2], **asdict(total)} for key, total in totals.items()]
        print(json.dumps(rows, indent=2))
        return
    names = f"{'run':<16} {'role':<18} {'stage':<40}"
    print(f"{names} {'paid':>7} {'stored':>7} {'input':>11} {'output':>9}  {'spent':<20} saved")
    for (run, role, cell), each in totals.items():
        counts = f"{each.paid:>7,} {each.from_store:>7,} {each.input_tokens:>11,} {each.output_tokens:>9,}"
        spent = usd(each.cost, each.unpriced > 0)
        print(f"{run:<16} {role:<18} {cell:<40} {counts}  {spent:<20} {usd(each.saved)}")
