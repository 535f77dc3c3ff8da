"""Stage `qualify_source`: whether the judge may rescore answers against their sources."""

from dataclasses import asdict

from memgauge.files import write_json
from memgauge.params import Params
from memgauge.protocol.source_qualification import not_asked, qualify_source
from memgauge.stages.passage_paths import SOURCE_JUDGE
from memgauge.stages.solving import SUBJECT, role_solver, solver_name


def main(params: Params) -> None:
    """Write `metrics/source_judge.json`; a judge without a language model is not asked and not qualified."""
    options = params["role.judge"]
    name = solver_name(options)
    SUBJECT.set("source cases")
    reads = options.get("solver") == "language_model"
    found = qualify_source(role_solver("judge", options), name) if reads else not_asked(name)
    write_json(SOURCE_JUDGE, asdict(found))
