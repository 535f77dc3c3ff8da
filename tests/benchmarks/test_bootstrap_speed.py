"""How much faster the shared-resample bootstrap is than scipy's on the same draws, as a ratio of one run."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from memgauge.seeds import generator
from memgauge.stats.bootstrap import resample

QUESTIONS, COLUMNS, DRAWS = 1500, 16, 10_000


def sample() -> np.ndarray:
    return (generator(1, "speed").random((QUESTIONS, COLUMNS)) < 0.4).astype(float)


@pytest.mark.benchmark(group="paired bootstrap, 10,000 draws of 1,500 questions")
def test_ours_eight_pairs_of_columns(benchmark: Callable[..., np.ndarray]) -> None:
    values = sample()

    def ours() -> np.ndarray:
        means = resample(values, None, DRAWS, generator(2, "speed")).means()
        return np.quantile(means[:, ::2] - means[:, 1::2], [0.025, 0.975], axis=0)

    low, high = benchmark(ours)
    assert (low < high).all()


@pytest.mark.benchmark(group="paired bootstrap, 10,000 draws of 1,500 questions")
def test_scipy_one_pair_of_columns(benchmark: Callable[..., Any]) -> None:
    """scipy redraws for every pair: eight pairs cost eight times this."""
    values = sample()
    found = benchmark(
        stats.bootstrap,
        (values[:, 0], values[:, 1]),
        lambda first, second, axis=-1: first.mean(axis) - second.mean(axis),
        paired=True,
        n_resamples=DRAWS,
        batch=500,
        method="percentile",
        rng=generator(2, "scipy"),
    )
    assert found.confidence_interval.low < found.confidence_interval.high
