"""Stage `score_references`: score one reader's answers under the shared conditions NM, TFC and OE."""

from memgauge.datasets.prepared import read_prepared
from memgauge.files import read_jsonl, write_jsonl
from memgauge.metrics.scoring import score_item
from memgauge.params import Params
from memgauge.protocol.questions import evidence_texts
from memgauge.records import Answer
from memgauge.stages.layout import ANSWERS, PREPARED, REFERENCES, SCORES


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `data/scores/BENCHMARK/READER/references.jsonl`, one scored item an answer."""
    prepared = read_prepared(PREPARED / benchmark)
    questions = {question.id: question for question in prepared.questions}
    groups = {history.id: history.group for history in prepared.histories}
    evidence = evidence_texts(prepared)
    answers = read_jsonl(ANSWERS / benchmark / reader / f"{REFERENCES}.jsonl", Answer)
    items = (
        score_item(
            questions[answer.question_id],
            answer,
            groups[questions[answer.question_id].history_id],
            evidence[answer.question_id],
            "",
            [],
            benchmark == "locomo",
        )
        for answer in answers
    )
    write_jsonl(SCORES / benchmark / reader / f"{REFERENCES}.jsonl", items)
