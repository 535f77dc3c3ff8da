"""How much faster the shared-resample bootstrap is than scipy's on the same draws, as a ratio of one run."""

import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from memgauge.seeds import generator
from memgauge.stats.bootstrap import resample

QUESTIONS, COLUMNS, DRAWS = 1500, 16, 10_000


def shortest(work: Callable[[], object], repeats: int = 3) -> float:
    """Seconds of the fastest of some runs: the one least disturbed by other processes."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def test_sixteen_paired_columns_cost_less_than_four_scipy_pairs() -> None:
    """scipy redraws for every pair: of the 8 disjoint pairs in 16 columns it is timed on one."""
    values = (generator(1, "speed").random((QUESTIONS, COLUMNS)) < 0.4).astype(float)

    def ours() -> None:
        means = resample(values, None, DRAWS, generator(2, "speed")).means()
        np.quantile(means[:, ::2] - means[:, 1::2], [0.025, 0.975], axis=0)

    def scipy_pair() -> None:
        stats.bootstrap(
            (values[:, 0], values[:, 1]),
            lambda first, second, axis=-1: first.mean(axis) - second.mean(axis),
            paired=True,
            n_resamples=DRAWS,
            batch=500,
            method="percentile",
            rng=generator(2, "scipy"),
        )

    ratio = 8 * shortest(scipy_pair) / shortest(ours)
    print(f"\n8 paired columns of {QUESTIONS} questions, {DRAWS} draws: {ratio:.1f} x faster than scipy")
    assert ratio > 2
