"""Stage `show_cases`: questions whose evidence one system's store keeps and another's loses."""

from memgauge.datasets.prepared import read_prepared
from memgauge.experiments.cases import Case, System, count_kept, find_cases
from memgauge.files import read_jsonl
from memgauge.metrics.scoring import ScoredItem
from memgauge.params import Params
from memgauge.records import Answer
from memgauge.report.experiment_cases import cases_page
from memgauge.report.experiment_numbers import kept_numbers
from memgauge.report.experiment_plots import kept_plot
from memgauge.stages.experiment import check_systems, write_outputs
from memgauge.stages.items import MEAN, cell_items
from memgauge.stages.layout import ANSWERS, PREPARED
from memgauge.stages.shared import read_stores


def main(params: Params, benchmark: str) -> None:
    """Write `metrics/experiments/show_cases/BENCHMARK.*`: cases of either direction for every single reader."""
    chosen = params["show_cases"]
    pair = (chosen["first"], chosen["second"])
    check_systems("show_cases", pair, params["systems"])
    prepared = read_prepared(PREPARED / benchmark)
    counts: dict[str, dict[str, dict[str, int]]] = {}
    cases: dict[str, list[Case]] = {}
    for reader, arms in cell_items(benchmark, params["readers"], pair).items():
        if reader != MEAN:
            first, second = (_system(benchmark, reader, name, arms[name]) for name in pair)
            counts[reader] = count_kept(prepared, first, second)
            most = chosen["examples"]
            cases[reader] = find_cases(prepared, first, second, most) + find_cases(prepared, second, first, most)
    page = cases_page(benchmark, f"first {pair[0]}, second {pair[1]}", counts, cases)
    write_outputs("show_cases", benchmark, kept_numbers(counts), page, kept_plot(benchmark, pair, counts))


def _system(benchmark: str, reader: str, name: str, items: list[ScoredItem]) -> System:
    answers = read_jsonl(ANSWERS / benchmark / reader / f"{name}.jsonl", Answer)
    stored = {answer.question_id: answer for answer in answers if answer.condition == "CSM"}
    scored = {item.question_id: item for item in items if item.condition == "CSM"}
    return System(name, read_stores(benchmark, name), scored, stored)
