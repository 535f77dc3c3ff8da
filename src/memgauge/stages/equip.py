"""Stage `equip`: name the files that one role's solver is made of, so that a changed model re-runs its users only."""

from memgauge.files import write_json
from memgauge.params import Params
from memgauge.stages.layout import SOLVERS
from memgauge.stages.parts import parts_of


def main(params: Params, role: str) -> None:
    """Write `data/solvers/ROLE.json`."""
    write_json(SOLVERS / f"{role}.json", parts_of(params[f"role.{role}"]))
