"""Stage `attribute`: at which link every question lost its evidence, with examples."""

from memgauge.datasets.prepared import read_prepared
from memgauge.files import read_jsonl, write_jsonl
from memgauge.params import Params
from memgauge.protocol.attribution import Attribution, attributed
from memgauge.records import Answer
from memgauge.report.experiment_cases import attribution_page
from memgauge.report.experiment_numbers import attribution_numbers
from memgauge.report.experiment_plots import attribution_plot
from memgauge.stages.experiment import write_outputs
from memgauge.stages.items import cell_items
from memgauge.stages.layout import ANSWERS, METRICS, PREPARED


def main(params: Params, benchmark: str) -> None:
    """Write `metrics/experiments/attribute/BENCHMARK.*`; single readers only, an average answers no question.

    The `.jsonl` among them holds one line a question, system and reader, with the scores its link rests on.
    """
    readers, systems = params["readers"], params["systems"]
    questions = {question.id: question for question in read_prepared(PREPARED / benchmark).questions}
    items = cell_items(benchmark, readers, systems)
    cells = [(reader, system) for reader in readers for system in systems]
    records = [each for reader, system in cells for each in attributed(reader, system, items[reader][system])]
    found: dict[str, dict[str, list[Attribution]]] = {reader: {system: [] for system in systems} for reader in readers}
    for each in records:
        found[each.reader][each.system].append(each.attribution)
    answers = {reader: {system: _retrieved(benchmark, reader, system) for system in systems} for reader in readers}
    page = attribution_page(benchmark, found, questions, answers, params["attribute"]["examples"])
    write_outputs("attribute", benchmark, attribution_numbers(found), page, attribution_plot(benchmark, found))
    write_jsonl(METRICS / "experiments" / "attribute" / f"{benchmark}.jsonl", records)


def _retrieved(benchmark: str, reader: str, system: str) -> dict[str, Answer]:
    """Answers from retrieved memory by question id."""
    answers = read_jsonl(ANSWERS / benchmark / reader / f"{system}.jsonl", Answer)
    return {answer.question_id: answer for answer in answers if answer.condition == "RM"}
