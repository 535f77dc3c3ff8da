"""The bootstrap over questions or clusters of questions: many columns redrawn together, hence paired."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BLOCK_CELLS = 1 << 17  # draws x units held at once: about 1 MB, the fastest of 2**15 to 2**22 on a small CPU
GRAIN = 2.0**32  # see `quantised`


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
    """Sums and counts of every draw, shape (draws, columns); `units` with a value, shape (columns,)."""

    sums: NDArray[np.float64]
    counts: NDArray[np.float64]
    units: NDArray[np.int64]

    def means(self) -> NDArray[np.float64]:
        """The pooled mean of every draw and column; NaN where a draw holds no value of that column."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.sums / self.counts


def resample(
    values: NDArray[np.float64],
    clusters: Sequence[str] | None,
    draws: int,
    generator: np.random.Generator,
) -> Resampled:
    """Redraw the rows of `values` (questions, columns) with replacement; NaN marks a missing outcome.

    With `clusters` (one name a row) whole clusters are redrawn, and a draw's mean is its pooled sum over its
    pooled count. A missing outcome is left out of its own column only, so differences of columns are paired
    exactly when the columns miss the same rows.
    """
    present = ~np.isnan(values)
    sums, counts = quantised(np.where(present, values, 0.0)), present.astype(np.float64)
    if clusters is not None:
        places = cluster_positions(clusters)
        sums, counts = _add_by(places, sums), _add_by(places, counts)
    units = np.count_nonzero(counts, axis=0)
    columns = values.shape[1]
    distinct, which = np.unique(counts, axis=1, return_inverse=True)  # most columns miss the same rows
    drawn = np.zeros((draws, columns + distinct.shape[1]))
    if len(sums):
        both = np.ascontiguousarray(np.hstack([sums, distinct]))
        start = 0
        for times in unit_counts(len(both), draws, generator):
            np.matmul(times, both, out=drawn[start : start + len(times)])
            start += len(times)
    return Resampled(drawn[:, :columns], drawn[:, columns + which], units)


def unit_counts(units: int, draws: int, generator: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """How often each unit stands in each draw, in blocks of shape (some draws, units)."""
    height = max(1, BLOCK_CELLS // units)
    for start in range(0, draws, height):
        rows = min(height, draws - start)
        chosen = generator.integers(0, units, size=(rows, units), dtype=np.int64)
        chosen += np.arange(0, rows * units, units)[:, None]
        times = np.bincount(chosen.ravel(), minlength=rows * units)
        yield times.reshape(rows, units).astype(np.float64)


def cluster_positions(clusters: Sequence[str]) -> NDArray[np.int64]:
    """The position of each row's cluster, clusters numbered by first appearance.

    >>> cluster_positions(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    order = {name: position for position, name in enumerate(dict.fromkeys(clusters))}
    return np.array([order[name] for name in clusters], dtype=np.int64)


def quantised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values on a grid of 2**-32, so that sums of up to two million scores are exact in any order.

    Without it the last bit of a draw depends on how many threads the matrix product used, and with it the
    bytes of every table; the grid moves a score by at most 1.2e-10, and 0 and 1 not at all.
    """
    return np.round(values * GRAIN) / GRAIN


def _add_by(places: NDArray[np.int64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows added up by place, shape (places, columns)."""
    total = np.zeros((int(places.max(initial=-1)) + 1, rows.shape[1]))
    np.add.at(total, places, rows)
    return total
