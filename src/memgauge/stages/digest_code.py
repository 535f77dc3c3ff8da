"""Stage `digest_code`: say for every stage which source files decide what it computes, so that DVC watches those."""

from pathlib import Path

import memgauge
from memgauge.code_graph import CodeGraph
from memgauge.files import write_json
from memgauge.memory.catalogue import SYSTEMS
from memgauge.params import Params
from memgauge.stages.layout import CODE
from memgauge.stages.table import STAGES

OF_ONE_SYSTEM = (  # stages that run the memory systems they name: each system's code is its own
    *("write", "retrieve", "ask_qa", "rank_entries"),
    *("run_degrade", "run_sweep", "run_ablate", "run_weigh"),
)
OF_MEMORYCPT = (  # stages that run `memorycpt` and no other
    *("collect_traces", "distil", "train_summariser", "write_student"),
    *("summarise_retrieved", "ask_qa_student", "ask_qa_depths"),
)
CATALOGUE = "memory.catalogue"  # it names every system and carries options on


def main(params: Params) -> None:
    """Write `data/code/STAGE.json`, or `data/code/STAGE/SYSTEM.json` for the stages that name memory systems."""
    graph = CodeGraph(Path(memgauge.__path__[0]))
    for stage in STAGES:
        if stage in OF_ONE_SYSTEM:
            for system in SYSTEMS:
                write_json(CODE / stage / f"{system}.json", graph.digests(stage, [module_of(system)], [CATALOGUE]))
        elif stage in OF_MEMORYCPT:
            write_json(CODE / f"{stage}.json", graph.digests(stage, [module_of("memorycpt")], [CATALOGUE]))
        else:
            write_json(CODE / f"{stage}.json", graph.digests(stage))


def module_of(system: str) -> str:
    """The module of a memory system, as the graph names it."""
    return SYSTEMS[system].partition(":")[0].removeprefix("memgauge.")
