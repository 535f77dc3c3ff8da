"""Stage `equip_readers`: as `equip`, for the readers and the frozen QA model; any of them may be the tuned reader."""

from memgauge.files import write_json
from memgauge.params import Params
from memgauge.stages.layout import SOLVERS
from memgauge.stages.parts import parts_of


def main(params: Params) -> None:
    """Write `data/solvers/qa.json` and `data/solvers/reader/READER.json`."""
    write_json(SOLVERS / "qa.json", parts_of(params["role.qa"]))
    for reader in {*params["readers"], *params["retention.readers"]}:
        write_json(SOLVERS / "reader" / f"{reader}.json", parts_of(params["role.reader"][reader]))
