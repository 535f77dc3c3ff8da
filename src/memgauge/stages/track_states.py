"""Stage `track_states`: one reader tells the state from what each retention arm keeps."""

from memgauge.datasets.retention.stimuli import Stimulus
from memgauge.experiments.retention import arm_plans, run_arms
from memgauge.experiments.retention_matching import reader_counter
from memgauge.files import read_jsonl, write_jsonl
from memgauge.params import Params
from memgauge.stages.make_stimuli import RETENTION
from memgauge.stages.solving import by_subject, role_solver, solver_options


def main(params: Params, reader: str) -> None:
    """Write `data/retention/outcomes/READER.jsonl`, one outcome a stimulus and arm.

    `retention.ask` limits a slow reader to the first `families`, of some `wrappers`; null, like no entry, means all.
    """
    options = params[f"role.reader.{reader}"]
    plans = arm_plans(params["retention.policies"])
    stimuli = _asked(params["retention.ask"].get(reader, {}))
    solver, counter = role_solver(f"reader.{reader}", options), reader_counter(solver_options(options))
    groups = by_subject(stimuli, lambda stimulus: stimulus.id)
    outcomes = [outcome for some in groups for outcome in run_arms(some, plans, solver, counter)]
    write_jsonl(RETENTION / "outcomes" / f"{reader}.jsonl", outcomes)


def _asked(ask: Params) -> list[Stimulus]:
    families, wrappers = ask.get("families"), ask.get("wrappers")
    return [
        each
        for each in read_jsonl(RETENTION / "stimuli.jsonl", Stimulus)
        if (families is None or each.family < families) and (wrappers is None or each.wrapper in wrappers)
    ]
