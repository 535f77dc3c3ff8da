"""Stage `equip_tracker`: name the files that one reader of the retention experiment is made of (see `equip`)."""

from memgauge.files import write_json
from memgauge.params import Params
from memgauge.stages.layout import SOLVERS
from memgauge.stages.parts import parts_of


def main(params: Params, reader: str) -> None:
    """Write `data/solvers/tracker/READER.json`."""
    write_json(SOLVERS / "tracker" / f"{reader}.json", parts_of(params[f"role.reader.{reader}"]))
