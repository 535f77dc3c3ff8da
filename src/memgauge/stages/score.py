"""Stage `score`: score one cell's answers and the evidence its store and its contexts still hold."""

from collections.abc import Iterator

from memgauge.datasets.prepared import read_prepared
from memgauge.files import read_jsonl, write_jsonl
from memgauge.metrics.scoring import ScoredItem, score_item
from memgauge.params import Params
from memgauge.protocol.conditions import complete
from memgauge.protocol.questions import entry_texts, evidence_texts
from memgauge.records import Answer, Benchmark, Context, Question
from memgauge.stages.layout import ANSWERS, CONTEXTS, PREPARED, SCORES
from memgauge.stages.shared import read_stores


def main(params: Params, benchmark: str, system: str, reader: str) -> None:
    """Write `data/scores/BENCHMARK/READER/SYSTEM.jsonl`, one scored item an answer."""
    prepared = read_prepared(PREPARED / benchmark)
    write_jsonl(SCORES / benchmark / reader / f"{system}.jsonl", _score(prepared, system, reader))


def _score(prepared: Benchmark, system: str, reader: str) -> Iterator[ScoredItem]:
    stores = read_stores(prepared.name, system)
    contexts = {each.question_id: each for each in read_jsonl(CONTEXTS / prepared.name / f"{system}.jsonl", Context)}
    questions = {question.id: question for question in prepared.questions}
    histories = {history.id: history for history in prepared.histories}
    evidence = evidence_texts(prepared)
    for answer in read_jsonl(ANSWERS / prepared.name / reader / f"{system}.jsonl", Answer):
        question: Question = questions[answer.question_id]
        store = stores[question.history_id]
        context = complete(question, store) if answer.condition == "CSM" else contexts[question.id]
        entries = entry_texts(context, store)
        group = histories[question.history_id].group
        official = prepared.name == "locomo"
        yield score_item(question, answer, group, evidence[question.id], context.text, entries, official)
