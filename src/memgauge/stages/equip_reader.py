"""Stage `equip_reader`: name the files that one reader is made of (see `equip`)."""

from memgauge.files import write_json
from memgauge.params import Params
from memgauge.stages.layout import SOLVERS
from memgauge.stages.parts import parts_of


def main(params: Params, reader: str) -> None:
    """Write `data/solvers/reader/READER.json`."""
    write_json(SOLVERS / "reader" / f"{reader}.json", parts_of(params[f"role.reader.{reader}"]))
