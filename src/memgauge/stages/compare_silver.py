"""Stage `compare_silver`: one reader's diagnosis with silver evidence beside the one with gold evidence."""

from collections.abc import Mapping

from tqdm import tqdm

from memgauge.datasets.prepared import read_prepared
from memgauge.files import read_jsonl, write_json, write_text
from memgauge.metrics.scoring import ScoredItem, score_item
from memgauge.params import Params
from memgauge.protocol.answering import answer
from memgauge.protocol.conditions import oracle
from memgauge.protocol.silver import Silver, with_evidence
from memgauge.protocol.silver_comparison import SilverCell, compare_cells, turn_agreement
from memgauge.records import Benchmark, Question
from memgauge.report.experiment_silver import SilverReport, silver_numbers, silver_page
from memgauge.stages.experiment import statistics_of
from memgauge.stages.items import cell_items
from memgauge.stages.layout import METRICS, PREPARED, SILVER
from memgauge.stages.shared import asked
from memgauge.stages.solving import SUBJECT, role_solver
from memgauge.tasks.base import Solver


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `metrics/experiments/silver/BENCHMARK-READER.json` and `.md`."""
    prepared, options = read_prepared(PREPARED / benchmark), params[f"role.reader.{reader}"]
    statistics = statistics_of(params)
    silver = {each.question_id: each for each in read_jsonl(SILVER / f"{benchmark}.jsonl", Silver)}
    groups = {history.id: history.group for history in prepared.histories}
    turns = turn_agreement(prepared.questions, silver, groups, statistics.draws, statistics.seed)
    made = silver_oracle(prepared, asked(options, prepared.questions), silver, role_solver(f"reader.{reader}", options))
    cells: list[SilverCell] = []
    for system, items in cell_items(benchmark, [reader], params["systems"])[reader].items():
        cells += compare_cells(system, items, made, statistics.draws, statistics.margin, statistics.seed)
    found = SilverReport(benchmark, reader, tuple(turns), tuple(cells), tuple(silver.values()))
    path = METRICS / "experiments" / "silver"
    write_json(path / f"{benchmark}-{reader}.json", silver_numbers(found))
    write_text(path / f"{benchmark}-{reader}.md", silver_page(found, prepared.questions, statistics.draws))


def silver_oracle(
    prepared: Benchmark, groups: Mapping[str, list[Question]], silver: Mapping[str, Silver], solver: Solver
) -> list[ScoredItem]:
    """Scored answers from the silver turns alone, under the name OE; unscored where there is none.

    `groups` are the questions to ask, by history id.
    """
    histories = {history.id: history for history in prepared.histories}
    items: list[ScoredItem] = []
    for history_id, members in tqdm(groups.items(), desc=f"compare_silver {prepared.name}", delay=2):
        SUBJECT.set(history_id)
        history, official = histories[history_id], prepared.name == "locomo"
        questions = [with_evidence(question, silver[question.id]) for question in members]
        answers = answer(questions, [oracle(question, history) for question in questions], solver)
        items += [
            score_item(question, each, history.group, [], "", [], official)
            for question, each in zip(questions, answers, strict=True)
        ]
    return items
