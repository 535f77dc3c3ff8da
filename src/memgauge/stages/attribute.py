"""Stage `attribute`: at which link every question lost its evidence, with examples."""

from memgauge.datasets.prepared import read_prepared
from memgauge.files import read_jsonl
from memgauge.params import Params
from memgauge.protocol.attribution import attribute
from memgauge.records import Answer
from memgauge.report.experiment_cases import attribution_page
from memgauge.report.experiment_numbers import attribution_numbers
from memgauge.report.experiment_plots import attribution_plot
from memgauge.stages.experiment import write_outputs
from memgauge.stages.items import MEAN, cell_items
from memgauge.stages.layout import ANSWERS, PREPARED


def main(params: Params, benchmark: str) -> None:
    """Write `metrics/experiments/attribute/BENCHMARK.*`; single readers only, an average answers no question."""
    readers, systems = params["readers"], params["systems"]
    questions = {question.id: question for question in read_prepared(PREPARED / benchmark).questions}
    items = cell_items(benchmark, readers, systems)
    found = {
        reader: {system: attribute(arms[system]) for system in systems}
        for reader, arms in items.items()
        if reader != MEAN
    }
    answers = {reader: {system: _retrieved(benchmark, reader, system) for system in systems} for reader in readers}
    page = attribution_page(benchmark, found, questions, answers, params["attribute"]["examples"])
    write_outputs("attribute", benchmark, attribution_numbers(found), page, attribution_plot(benchmark, found))


def _retrieved(benchmark: str, reader: str, system: str) -> dict[str, Answer]:
    """Answers from retrieved memory by question id."""
    answers = read_jsonl(ANSWERS / benchmark / reader / f"{system}.jsonl", Answer)
    return {answer.question_id: answer for answer in answers if answer.condition == "RM"}
