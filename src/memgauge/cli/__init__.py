"""`memgauge ...` for people: one file a group of commands, each with `add(commands)`."""

import argparse
import os
import sys
from importlib import import_module

from memgauge.errors import MemgaugeError

GROUPS = ("data", "assets", "params", "run", "spending", "tape", "judge", "alphas", "passages", "bench", "ui")

EPILOG = """examples:
  memgauge data describe locomo --json     what one benchmark holds, oddities counted
  memgauge check --calls                   is params.yaml right, does every endpoint answer?
  memgauge estimate                        calls, tokens and USD of each stage before anything is sent
  memgauge repro --max-usd 5               dvc repro that stops at 5 USD and can be resumed
  memgauge tape save paper                 the calls behind the present results, to replay without a key
  memgauge judge qualify --json            what the judge accepts and rejects wrongly
  memgauge alphas                          quality and cost of the recorded runs by alpha
  memgauge passages facts --json           how much of BEAM's chats ranked passages show
  memgauge ui                              compare the recorded runs in a browser

The pipeline itself is `dvc repro`; one changed value is `dvc exp run -S retrieval.k=10`.
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; a user's mistake is one line on standard error and exit code 2."""
    # Before torch is loaded, as in a stage: threads that spin while they wait slow everything beside them.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    options, rest = _parser().parse_known_args(arguments)
    if rest and not getattr(options, "passes_on", False):
        _parser().error(f"unrecognized arguments: {' '.join(rest)}")
    options.rest = rest
    try:
        options.run(options)
    except MemgaugeError as error:
        print(f"memgauge: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        return 0
    return getattr(options, "exit_code", 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memgauge",
        description="Where does an agent's memory lose evidence, and what does an answer cost?",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for group in GROUPS:
        import_module(f"memgauge.cli.{group}").add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
