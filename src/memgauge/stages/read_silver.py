"""Stage `read_silver`: one reader's answers from silver evidence alone, scored."""

from collections.abc import Mapping

from tqdm import tqdm

from memgauge.datasets.prepared import read_prepared
from memgauge.files import read_jsonl, write_jsonl
from memgauge.metrics.scoring import ScoredItem, score_item
from memgauge.params import Params
from memgauge.protocol.answering import answer
from memgauge.protocol.conditions import oracle
from memgauge.protocol.silver import Silver, with_evidence
from memgauge.records import Benchmark, Question
from memgauge.stages.items import arms_path
from memgauge.stages.layout import PREPARED, SILVER
from memgauge.stages.shared import asked
from memgauge.stages.solving import SUBJECT, role_solver
from memgauge.tasks.base import Solver


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `data/arms/silver/BENCHMARK-READER.jsonl`, one scored item a question."""
    prepared, options = read_prepared(PREPARED / benchmark), params[f"role.reader.{reader}"]
    silver = {each.question_id: each for each in read_jsonl(SILVER / f"{benchmark}.jsonl", Silver)}
    groups = asked(options, prepared.questions)
    items = silver_oracle(prepared, groups, silver, role_solver(f"reader.{reader}", options))
    write_jsonl(arms_path("silver", benchmark, reader), items)


def silver_oracle(
    prepared: Benchmark, groups: Mapping[str, list[Question]], silver: Mapping[str, Silver], solver: Solver
) -> list[ScoredItem]:
    """Scored answers from the silver turns alone, under the name OE; unscored where there is none.

    `groups` are the questions to ask, by history id.
    """
    histories = {history.id: history for history in prepared.histories}
    items: list[ScoredItem] = []
    for history_id, members in tqdm(groups.items(), desc=f"read_silver {prepared.name}", delay=2):
        SUBJECT.set(history_id)
        history, official = histories[history_id], prepared.name == "locomo"
        questions = [with_evidence(question, silver[question.id]) for question in members]
        answers = answer(questions, [oracle(question, history) for question in questions], solver)
        items += [
            score_item(question, each, history.group, [], "", [], official)
            for question, each in zip(questions, answers, strict=True)
        ]
    return items
