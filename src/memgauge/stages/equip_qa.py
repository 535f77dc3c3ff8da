"""Stage `equip_qa`: name the files that the frozen QA model is made of (see `equip`); it may be the tuned reader."""

from memgauge.files import write_json
from memgauge.params import Params
from memgauge.stages.layout import SOLVERS
from memgauge.stages.parts import parts_of


def main(params: Params) -> None:
    """Write `data/solvers/qa.json`."""
    write_json(SOLVERS / "qa.json", parts_of(params["role.qa"]))
