"""How fast synthetic histories are generated, in cl100k_base tokens per second of one core."""

from pathlib import Path
from typing import Any

import pytest

from memgauge.datasets.synthetic.generate import generate
from memgauge.datasets.synthetic.options import SyntheticOptions
from memgauge.text.tokens import count_many

SAMPLE = 9  # every ninth turn is counted: odd, so that both speakers are


def texts_of(options: SyntheticOptions) -> list[str]:
    """Every turn text; the list of texts is all that is kept."""
    return [turn.text for history, _ in generate(options, 17) for _, turn in history.turns()]


@pytest.mark.parametrize(
    "options",
    [
        SyntheticOptions(histories=100),
        SyntheticOptions(histories=1, sessions_per_history=10_000, questions_per_history=56),
    ],
    ids=["many short histories", "one history of 10,000 sessions"],
)
@pytest.mark.benchmark(group="synthetic tokens per second: `tokens` of extra info over the time")
def test_generation_speed(options: SyntheticOptions, benchmark: Any, models: Path) -> None:
    texts = benchmark(texts_of, options)
    tokens = sum(count_many(texts[::SAMPLE])) * len(texts) // len(texts[::SAMPLE])
    benchmark.extra_info["tokens"] = tokens
    assert tokens > 100 * len(texts) // 9
