"""`memgauge tape`: save the calls behind the present results, and check a tape."""

import argparse
import os
from pathlib import Path
from typing import Any

from memgauge.errors import InputError


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    tape = commands.add_parser("tape", help="record and check replayable model calls")
    actions = tape.add_subparsers(required=True, metavar="ACTION")
    save = actions.add_parser("save", help="write the calls that the present results used to data/tapes/NAME")
    save.add_argument("name")
    save.add_argument("--run-id", metavar="NAME", help="whose calls (default: this workspace's)")
    save.set_defaults(run=_save)
    verify = actions.add_parser("verify", help="check every line of a tape")
    verify.add_argument("name")
    verify.set_defaults(run=_verify)


def _save(options: argparse.Namespace) -> None:
    from memgauge.llm.remote_keys import Key
    from memgauge.llm.store import ResponseStore
    from memgauge.llm.tape import save_tape
    from memgauge.params import load
    from memgauge.stages.layout import replies_file, tape_file
    from memgauge.stages.solving import roles_in_use, run_id
    from memgauge.stages.table import check_params

    if Path(options.name).name != options.name:
        raise InputError(f"a tape's name is {options.name!r}; give a bare name, it becomes data/tapes/NAME.jsonl.zst")
    tree = load(Path("params.yaml"))
    check_params(tree)
    store = ResponseStore(replies_file())
    run = options.run_id or run_id()
    keys = {key for cell in store.used(run).values() for key in cell}
    if not keys:
        raise InputError(
            f"run {run!r} used no model call; run the pipeline with a language model first, or give --run-id"
        )
    roles = roles_in_use(tree).values()
    variables = sorted({str(each["key_variable"]) for each in roles if each.get("key_variable")})
    keys_of = [os.environ.get(name, "") for name in variables]
    private = [*(each for each in keys_of if Key(each).secret), str(Path.home())]
    file = tape_file(options.name)
    print(f"{save_tape(file, store, keys, private):,} calls in {file}; keep it with `dvc add {file}`")


def _verify(options: argparse.Namespace) -> None:
    from memgauge.llm.tape import verify_tape
    from memgauge.stages.layout import tape_file

    found = verify_tape(tape_file(options.name))
    models = ", ".join(f"{name} {count:,}" for name, count in found.models.items())
    tokens = f"{found.input_tokens:,} input and {found.output_tokens:,} output tokens"
    print(f"{found.calls:,} calls ({models}), {found.failures:,} of them failures, {tokens}: every line is whole")
