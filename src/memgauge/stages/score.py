"""Stage `score`: score one reader's answers and the evidence that stores and contexts still hold.

All systems of a reader are one stage: scoring takes a fraction of a second a system, starting a stage takes seconds.
"""

from collections.abc import Callable, Iterator, Sequence

from tqdm import tqdm

from memgauge.datasets.prepared import read_prepared
from memgauge.files import read_jsonl, write_jsonl
from memgauge.metrics.scoring import ScoredItem, score_item
from memgauge.params import Params
from memgauge.protocol.conditions import complete
from memgauge.protocol.questions import entry_texts, evidence_texts
from memgauge.records import Answer, Benchmark, Context, Question
from memgauge.stages.layout import ANSWERS, CONTEXTS, PREPARED, REFERENCES, SCORES
from memgauge.stages.shared import read_stores

Shown = Callable[[Question, Answer], tuple[str, Sequence[str]]]  # text and entries that an answer was read from


def main(params: Params, benchmark: str, reader: str) -> None:
    """Write `data/scores/BENCHMARK/READER/`: references.jsonl and SYSTEM.jsonl, one scored item an answer."""
    prepared = read_prepared(PREPARED / benchmark)
    for name in tqdm((REFERENCES, *params["systems"]), desc=f"score {benchmark} {reader}", unit="system", delay=2):
        answers = read_jsonl(ANSWERS / benchmark / reader / f"{name}.jsonl", Answer)
        shown = _no_memory if name == REFERENCES else _memory_of(name, benchmark)
        write_jsonl(SCORES / benchmark / reader / f"{name}.jsonl", _score(prepared, answers, shown))


def _no_memory(question: Question, answer: Answer) -> tuple[str, Sequence[str]]:
    """NM, TFC and OE show no store."""
    return "", ()


def _memory_of(system: str, benchmark: str) -> Shown:
    stores = read_stores(benchmark, system)
    contexts = {each.question_id: each for each in read_jsonl(CONTEXTS / benchmark / f"{system}.jsonl", Context)}

    def shown(question: Question, answer: Answer) -> tuple[str, Sequence[str]]:
        store = stores[question.history_id]
        context = complete(question, store) if answer.condition == "CSM" else contexts[question.id]
        return context.text, entry_texts(context, store)

    return shown


def _score(prepared: Benchmark, answers: Iterator[Answer], shown: Shown) -> Iterator[ScoredItem]:
    questions = {question.id: question for question in prepared.questions}
    groups = {history.id: history.group for history in prepared.histories}
    evidence = evidence_texts(prepared)
    for answer in answers:
        question = questions[answer.question_id]
        text, entries = shown(question, answer)
        group, official = groups[question.history_id], prepared.name == "locomo"
        yield score_item(question, answer, group, evidence[question.id], text, entries, official)
