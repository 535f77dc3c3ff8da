"""`memgauge profile` and `memgauge check`: change params.yaml in one go, and look whether it can work."""

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    profile = commands.add_parser("profile", help="write a profile's values over params.yaml, comments kept")
    profile.add_argument("file", type=Path, help="such as profiles/paper.yaml")
    profile.set_defaults(run=_profile)
    check = commands.add_parser("check", help="check params.yaml before a run")
    check.add_argument("--calls", action="store_true", help="also ask every endpoint for one token")
    check.set_defaults(run=_check)


def _profile(options: argparse.Namespace) -> None:
    from memgauge.params import apply

    for key in apply(Path("params.yaml"), options.file):
        print(f"changed {key}")
    print("`git diff params.yaml` shows the change, `git checkout params.yaml` takes it back")


def _check(options: argparse.Namespace) -> None:
    from memgauge.params import load

    tree = load(Path("params.yaml"))
    check_values(tree)
    print("params.yaml: every key is read by a stage, every role has a solver")
    if options.calls:
        call_endpoints(tree)


def check_values(tree: dict[str, Any]) -> None:
    """Raises InputError for the first key, value or role that cannot work."""
    from memgauge.stages.solving import check_roles
    from memgauge.stages.table import check_params

    check_params(tree)
    check_roles(tree)


def call_endpoints(tree: dict[str, Any]) -> None:
    """One token from every endpoint in use; the first that cannot work is the error."""
    from memgauge.llm.remote import RemoteChatModel
    from memgauge.solvers.catalogue import make_solver
    from memgauge.stages.encoder import sentence_encoder
    from memgauge.stages.solving import roles_in_use

    for role, each in roles_in_use(tree).items():
        model = getattr(make_solver(each, sentence_encoder), "chat_model", None) if each.get("endpoint") else None
        if isinstance(model, RemoteChatModel):
            model.preflight()
            print(f"{role}: {model.model_id} answers")
