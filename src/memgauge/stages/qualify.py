"""Stage `qualify`: what the judge accepts and rejects wrongly on the shipped set, before its scores are shown."""

from dataclasses import asdict

from memgauge.files import write_json
from memgauge.params import Params
from memgauge.protocol.qualification import qualify
from memgauge.stages.layout import METRICS
from memgauge.stages.solving import SUBJECT, role_solver, solver_name
from memgauge.tasks.judge_answer import VARIANTS


def main(params: Params) -> None:
    """Write `metrics/judge.json`: one qualification a prompt variant."""
    options = params["role.judge"]
    solver = role_solver("judge", options)
    SUBJECT.set("qualification set")
    found = {variant: qualify(solver, variant, solver_name(options)) for variant in VARIANTS}
    write_json(METRICS / "judge.json", {variant: asdict(each) for variant, each in found.items()})
