"""Stage `equip`: name the files that each role's solver is made of, so that a changed model re-runs its users only."""

from memgauge.files import write_json
from memgauge.params import Params
from memgauge.stages.layout import SOLVERS
from memgauge.stages.parts import parts_of


def main(params: Params) -> None:
    """Write `data/solvers/ROLE.json` for every role that is given: those that ask no model this pipeline trains."""
    for key, options in params.items():
        write_json(SOLVERS / f"{key.removeprefix('role.')}.json", parts_of(options))
