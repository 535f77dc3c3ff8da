"""Named columns of one cell with their two resamplings, by question and clustered by group."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memgauge.seeds import generator
from memgauge.stats.bootstrap import Resampled, resample
from memgauge.stats.intervals import Estimate, mean, one_sided_p, percentile_interval


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Columns by name, NaN where a question has no value, and their draws (one resample for all columns)."""

    columns: dict[str, NDArray[np.float64]]
    plain: Resampled
    clustered: Resampled

    def values(self, name: str) -> list[float]:
        """The defined values of a column, in question order."""
        column = self.columns[name]
        return [float(value) for value in column[~np.isnan(column)]]

    def mean(self, name: str) -> Estimate:
        """The mean of a column with both intervals."""
        return self._estimate(name, mean(self.values(name)), self._means(name))

    def difference(self, first: str, second: str, value: float | None) -> Estimate:
        """`value` with the intervals of first - second; both columns must miss the same questions."""
        above, below = self._means(first), self._means(second)
        return self._estimate(first, value, [a - b for a, b in zip(above, below, strict=True)])

    def complement(self, name: str, value: float | None) -> Estimate:
        """`value` with the intervals of 1 - mean."""
        return self._estimate(name, value, [1 - means for means in self._means(name)])

    def p_values(self, name: str) -> tuple[float | None, float | None]:
        """One-sided p of a column of differences, by question and clustered."""
        place = self._place(name)
        plain, clustered = self._means(name)
        return (
            one_sided_p(plain, int(self.plain.units[place])),
            one_sided_p(clustered, int(self.clustered.units[place])),
        )

    def weighted(
        self, names: Sequence[str], weights: Sequence[float], clustered: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
        """Each draw's weighted column sums, its count of questions, and the number of units resampled."""
        drawn = self.clustered if clustered else self.plain
        places = [self._place(name) for name in names]
        sums = drawn.sums[:, places] @ np.array(weights)
        return sums, drawn.counts[:, places[0]], int(drawn.units[places[0]])

    def _estimate(self, name: str, value: float | None, draws: Sequence[NDArray[np.float64]]) -> Estimate:
        place = self._place(name)
        plain, clustered = (
            percentile_interval(means, int(drawn.units[place]))
            for means, drawn in zip(draws, (self.plain, self.clustered), strict=True)
        )
        return Estimate(value, len(self.values(name)), plain, clustered)

    def _means(self, name: str) -> list[NDArray[np.float64]]:
        place = self._place(name)
        with np.errstate(invalid="ignore", divide="ignore"):
            return [drawn.sums[:, place] / drawn.counts[:, place] for drawn in (self.plain, self.clustered)]

    def _place(self, name: str) -> int:
        return list(self.columns).index(name)


def draw_sample(columns: dict[str, NDArray[np.float64]], groups: Sequence[str], draws: int, seed: int) -> Sample:
    """Resample all columns together, once by question and once by group."""
    values = np.column_stack(list(columns.values()))
    return Sample(
        columns=columns,
        plain=resample(values, None, draws, generator(seed, "bootstrap", "questions")),
        clustered=resample(values, groups, draws, generator(seed, "bootstrap", "groups")),
    )
