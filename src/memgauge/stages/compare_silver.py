"""Stage `compare_silver`: one reader's diagnosis with silver evidence beside the one with gold evidence."""

from memgauge.datasets.prepared import read_prepared
from memgauge.files import read_jsonl, write_json, write_text
from memgauge.metrics.scoring import ScoredItem
from memgauge.params import Params
from memgauge.protocol.silver import Silver
from memgauge.protocol.silver_comparison import SilverCell, compare_cells, turn_agreement
from memgauge.report.experiment_silver import SilverReport, silver_numbers, silver_page
from memgauge.stages.experiment import statistics_of
from memgauge.stages.items import arms_path, cell_items
from memgauge.stages.layout import METRICS, PREPARED, SILVER


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `metrics/experiments/compare_silver/BENCHMARK-READER.json` and `.md`."""
    prepared = read_prepared(PREPARED / benchmark)
    statistics = statistics_of(params)
    silver = {each.question_id: each for each in read_jsonl(SILVER / f"{benchmark}.jsonl", Silver)}
    groups = {history.id: history.group for history in prepared.histories}
    turns = turn_agreement(prepared.questions, silver, groups, statistics.draws, statistics.seed)
    made = list(read_jsonl(arms_path("silver", benchmark, reader), ScoredItem))
    cells: list[SilverCell] = []
    for system, items in cell_items(benchmark, [reader], params["systems"])[reader].items():
        cells += compare_cells(system, items, made, statistics.draws, statistics.margin, statistics.seed)
    found = SilverReport(benchmark, reader, tuple(turns), tuple(cells), tuple(silver.values()))
    path = METRICS / "experiments" / "compare_silver"
    write_json(path / f"{benchmark}-{reader}.json", silver_numbers(found))
    write_text(path / f"{benchmark}-{reader}.md", silver_page(found, prepared.questions, statistics.draws))
