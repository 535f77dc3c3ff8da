"""What scoring costs: token F1 beside a plain SQuAD F1, a whole item, and turn recall in a large store."""

from pytest_benchmark.fixture import BenchmarkFixture

from memgauge.metrics.evidence import entry_index, turn_recall
from memgauge.metrics.lexical import squad_f1, token_f1
from memgauge.metrics.scoring import score_item
from memgauge.records import Answer, Question
from memgauge.seeds import generator

GOLDS = ["7 May 2023", "Caroline’s National Park", "$1,000.50", "Likely no; she is busy", "running, painting"]
ANSWERS = [f"I think it was {gold}, as she said on Monday." for gold in GOLDS]


def large_store(entries: int = 2000, words: int = 25) -> list[str]:
    """Entries of made-up words whose frequencies fall like those of a natural text."""
    draws = generator(1, "metrics speed").zipf(1.3, (entries, words)) % 5000
    return [" ".join(f"w{word}" for word in row) for row in draws]


def test_plain_squad_f1(benchmark: BenchmarkFixture) -> None:
    benchmark(lambda: [squad_f1(answer, gold) for answer, gold in zip(ANSWERS, GOLDS, strict=True)])


def test_token_f1(benchmark: BenchmarkFixture) -> None:
    benchmark(lambda: [token_f1(answer, gold) for answer, gold in zip(ANSWERS, GOLDS, strict=True)])


def test_score_item_with_a_complete_store(benchmark: BenchmarkFixture) -> None:
    entries = large_store(150)
    question = Question("q", "h", "?", "single-hop", (GOLDS[0],))
    answer = Answer("q", "CSM", ANSWERS[0], "ok", 5000)
    context = "\n".join(entries)
    item = benchmark(score_item, question, answer, "g", entries[:2], context, entries, True)
    assert item.turn_recall == 1.0


def test_turn_recall_in_a_large_store(benchmark: BenchmarkFixture) -> None:
    entries = large_store()
    gold = [f"{entries[place]} more words" for place in range(0, 2000, 200)]
    assert benchmark(turn_recall, gold, entries) == 1.0


def test_building_the_index_of_a_large_store(benchmark: BenchmarkFixture) -> None:
    entries = tuple(large_store())
    benchmark(lambda: entry_index.__wrapped__(entries))
