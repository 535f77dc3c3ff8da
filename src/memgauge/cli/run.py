"""`memgauge repro` and `memgauge estimate`: a run with a limit of money, and what it would cost."""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from memgauge.errors import InputError

MONEY_LIMIT = 4  # the exit code of a run that has spent its limit, as of one stage


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    repro = commands.add_parser("repro", help="`dvc repro` under a limit of money; further arguments go to dvc")
    repro.add_argument("--max-usd", metavar="USD", help="stop before the next call once a run has spent this")
    repro.add_argument("--run-id", metavar="NAME", help="whose spending it is; an id counts over resumed runs")
    repro.set_defaults(run=_repro, passes_on=True)
    estimate = commands.add_parser("estimate", help="calls, tokens and USD of each stage before anything is sent")
    estimate.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    estimate.set_defaults(run=_estimate)


def _repro(options: argparse.Namespace) -> None:
    from memgauge.stages.solving import max_usd

    if options.max_usd is not None:
        os.environ["MEMGAUGE_MAX_USD"] = options.max_usd
        max_usd()
    if options.run_id:
        os.environ["MEMGAUGE_RUN"] = options.run_id
    _preflight()
    try:
        options.exit_code = subprocess.run(["dvc", "repro", *options.rest], check=False).returncode
    except FileNotFoundError as error:
        raise InputError("there is no dvc on the path; activate the environment that memgauge is in") from error
    if options.exit_code and _limit_reached():
        options.exit_code = MONEY_LIMIT


def _preflight() -> None:
    """What `memgauge check --calls` does: what cannot work is told before hours of work, not after.

    A replay needs no endpoint, and a run that has spent its limit is to make no call.
    """
    from memgauge.cli.params import call_endpoints, check_values
    from memgauge.params import load

    tree = load(Path("params.yaml"))
    check_values(tree)
    if (tree.get("llm") or {}).get("mode") != "replay" and not _limit_reached():
        call_endpoints(tree)


def _limit_reached() -> bool:
    """Whether the run has spent its limit: dvc does not pass a stage's own exit code on."""
    from memgauge.llm.ledger import Ledger
    from memgauge.llm.prices import PICO
    from memgauge.stages.layout import ledger_file
    from memgauge.stages.solving import max_usd, run_id

    limit = max_usd()
    return limit is not None and Ledger(ledger_file()).spent(run_id())[0] >= int(limit * PICO)


def _estimate(options: argparse.Namespace) -> None:
    from memgauge.llm.ledger import usd
    from memgauge.params import load
    from memgauge.stages.walk import estimate_pipeline, not_counted, untrained

    tree = load(Path("params.yaml"))
    found = estimate_pipeline(tree)
    if absent := not_counted(tree):
        print(f"memgauge: not counted, though they ask language models: {', '.join(absent)}", file=sys.stderr)
    for role, folders in untrained(tree).items():
        print(f"memgauge: {role} is not counted: {', '.join(folders)} is yet to be made", file=sys.stderr)
    if options.json:
        print(json.dumps([asdict(each) for each in found], indent=2))
        return
    if not found:
        print("no role asks a language model that is there")
        return
    print(f"{'role':<20} {'stage':<44} {'calls':>7} {'stored':>7} {'input':>11} {'output':>9} {'at most':>9}  USD")
    for each in found:
        cost = "unknown price" if each.low is None or each.high is None else f"{usd(each.low)} to {usd(each.high)}"
        tokens = f"{each.input_tokens:>11,} {each.expected_output_tokens:>9,} {each.most_output_tokens:>9,}"
        print(f"{each.role:<20} {each.cell:<44} {each.calls:>7,} {each.from_store:>7,} {tokens}  {cost}")
