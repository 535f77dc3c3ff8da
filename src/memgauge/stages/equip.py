"""Stage `equip`: name the files that each role's solver is made of, so that a changed model re-runs its users only."""

from memgauge.files import write_json
from memgauge.params import Params
from memgauge.stages.layout import SOLVERS
from memgauge.stages.parts import parts_of
from memgauge.stages.table import EQUIPPED


def main(params: Params) -> None:
    """Write `data/solvers/ROLE.json` for every role that asks no trained model of this pipeline."""
    for role in EQUIPPED:
        write_json(SOLVERS / f"{role}.json", parts_of(params[f"role.{role}"]))
