"""How fast synthetic histories are generated, in cl100k_base tokens per second of one core."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memgauge.datasets.synthetic.generate import generate
from memgauge.datasets.synthetic.options import SyntheticOptions
from memgauge.text.tokens import count_many

LEAST = 200_000  # tokens per second and core
SAMPLE = 9  # every ninth turn is counted: odd, so that both speakers are


def texts_of(options: SyntheticOptions) -> list[str]:
    """Every turn text; the list of texts is all that is kept."""
    return [turn.text for history, _ in generate(options, 17) for _, turn in history.turns()]


def best_seconds(options: SyntheticOptions, rounds: int = 2) -> float:
    """Processor seconds of the fastest of several rounds."""
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        texts_of(options)
        seconds.append(time.process_time() - start)
    return min(seconds)


@pytest.mark.parametrize(
    "options",
    [
        SyntheticOptions(histories=100),
        SyntheticOptions(histories=1, sessions_per_history=10_000, questions_per_history=56),
    ],
    ids=["many short histories", "one history of 10,000 sessions"],
)
def test_generation_exceeds_200000_tokens_per_second(
    options: SyntheticOptions, benchmark: Callable[..., list[str]], models: Path
) -> None:
    texts = benchmark(texts_of, options)
    tokens = sum(count_many(texts[::SAMPLE])) * len(texts) // len(texts[::SAMPLE])
    speed = tokens / best_seconds(options)
    print(f"{tokens:,} tokens in {len(texts):,} turns, {speed:,.0f} tokens/s on one core")
    assert speed > LEAST
