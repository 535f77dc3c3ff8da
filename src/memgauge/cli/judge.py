"""`memgauge judge qualify`: what a judge accepts and rejects wrongly, before its scores are believed."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Add the command to the parser."""
    judge = commands.add_parser("judge", help="look at the judge itself")
    actions = judge.add_subparsers(required=True, metavar="ACTION")
    qualify = actions.add_parser("qualify", help="false accepts and false rejects on the shipped qualification set")
    qualify.add_argument("--role", default="judge", help="role of params.yaml (default: judge), or a reader's name")
    qualify.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    qualify.set_defaults(run=_qualify)


def _qualify(options: argparse.Namespace) -> None:
    from memgauge.params import load
    from memgauge.protocol.qualification import qualify, render_qualification
    from memgauge.stages.solving import role_options, role_solver, solver_name
    from memgauge.stages.table import check_params

    tree = load(Path("params.yaml"))
    check_params(tree)
    chosen = role_options(tree, options.role)
    solver = role_solver(options.role if options.role in tree["role"] else f"reader.{options.role}", chosen)
    found = [qualify(solver, variant, solver_name(chosen)) for variant in ("strict", "generous")]
    if options.json:
        print(json.dumps({each.variant: asdict(each) for each in found}, indent=2))
    else:
        print("\n".join(map(render_qualification, found)))
