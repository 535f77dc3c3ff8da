"""Stage `collect_traces`: let the teacher write train histories, and keep what it did for a student to learn."""

import json
from collections.abc import Sequence

from tqdm import tqdm

from memgauge.datasets.prepared import read_prepared
from memgauge.files import write_json, write_jsonl
from memgauge.memory.catalogue import make_system
from memgauge.params import Params
from memgauge.stages.encoder import sentence_encoder
from memgauge.stages.layout import TRACES, TRAINING
from memgauge.stages.solving import by_subject, role_solver, solver_name
from memgauge.training.sharegpt import to_sharegpt
from memgauge.training.traces import Marks, Trace, check_leaks, collect_traces, split_traces, without_marks


def main(params: Params) -> None:
    """Write `data/traces/train.jsonl` and `val.jsonl` (ShareGPT), `traces.jsonl` and `counts.json`.

    Traces that coincide with something of the test histories are left out and counted; none is kept that does.
    """
    chosen, teacher = params["collect_traces"], params["role.teacher"]
    system = make_system("memorycpt", params["memory.memorycpt"])
    bar = tqdm(read_prepared(TRAINING / "train").histories, desc="collect traces", unit="history", delay=2)
    found = collect_traces(
        (history for some in by_subject(bar, lambda history: history.id) for history in some),
        system,
        role_solver("teacher", teacher),
        sentence_encoder(),
        chosen["write_budget_tokens"],
        solver_name(teacher),
    )
    marks = Marks.of(read_prepared(TRAINING / "test"))
    traces, left_out = without_marks(found.traces, marks)
    check_leaks(traces, marks)
    train, val = split_traces(traces, chosen["val_share"], params["seed"])
    for name, some in (("train", train), ("val", val)):
        write_jsonl(TRACES / f"{name}.jsonl", map(to_sharegpt, some))
    write_jsonl(TRACES / "traces.jsonl", traces)
    counts = {"train": _by_task(train), "val": _by_task(val), "unusable": found.unusable, "left_out_as_leak": left_out}
    write_json(TRACES / "counts.json", counts)
    print(json.dumps(counts))


def _by_task(traces: Sequence[Trace]) -> dict[str, int]:
    names = sorted({trace.task for trace in traces})
    return {name: sum(trace.task == name for trace in traces) for name in names}
