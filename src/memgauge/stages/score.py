"""Stage `score`: score one cell's answers and the evidence its store and its contexts still hold."""

from collections.abc import Iterator, Mapping

from memgauge.datasets.prepared import read_prepared
from memgauge.files import read_jsonl, write_jsonl
from memgauge.metrics.scoring import ScoredItem, score_item
from memgauge.params import Params
from memgauge.protocol.conditions import CUT_ENTRY, complete
from memgauge.records import Answer, Benchmark, Context, Question
from memgauge.stages.layout import ANSWERS, CONTEXTS, PREPARED, SCORES
from memgauge.stages.shared import evidence_texts, read_stores


def main(params: Params, benchmark: str, system: str, reader: str) -> None:
    """Write `data/scores/BENCHMARK/READER/SYSTEM.jsonl`, one scored item an answer."""
    prepared = read_prepared(PREPARED / benchmark)
    write_jsonl(SCORES / benchmark / reader / f"{system}.jsonl", _score(prepared, system, reader))


def _score(prepared: Benchmark, system: str, reader: str) -> Iterator[ScoredItem]:
    stores = read_stores(prepared.name, system)
    texts = {key: {entry.id: entry.text for entry in store.entries} for key, store in stores.items()}
    contexts = {each.question_id: each for each in read_jsonl(CONTEXTS / prepared.name / f"{system}.jsonl", Context)}
    questions = {question.id: question for question in prepared.questions}
    histories = {history.id: history for history in prepared.histories}
    evidence = evidence_texts(prepared)
    for answer in read_jsonl(ANSWERS / prepared.name / reader / f"{system}.jsonl", Answer):
        question: Question = questions[answer.question_id]
        kept = texts[question.history_id]
        if answer.condition == "CSM":
            context_text, entries = complete(question, stores[question.history_id]).text, list(kept.values())
        else:
            context = contexts[question.id]
            context_text, entries = context.text, shown_entries(context, kept)
        group = histories[question.history_id].group
        official = prepared.name == "locomo"
        yield score_item(question, answer, group, evidence[question.id], context_text, entries, official)


def shown_entries(context: Context, kept: Mapping[str, str]) -> list[str]:
    """What an RM context shows of its entries, by `kept` texts; of a cut entry only the part that was shown.

    >>> shown_entries(Context("q", "RM", "[undated]\\nAnn: I", 6, ("e",), (CUT_ENTRY,)), {"e": "Ann: I moved"})
    ['Ann: I']
    """
    if CUT_ENTRY in context.warnings:
        return [context.text.partition("\n")[2]]  # below the heading line of its date
    return [kept[key] for key in context.entry_ids]
