"""Per-query results of several systems, with means, the best system and p-values against a baseline.

Knows nothing of how values were measured or how they are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.experiment.measures import Grades, Run, find_judged_queries, measure_run
from fader.experiment.significance import LEVEL, compare_with_baseline, confidence_interval

F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Results:
    """`values[s, m, q]` is the value of measure m for system s and query q."""

    systems: tuple[str, ...]
    measures: tuple[Any, ...]  # each with a string for a name, and `larger`
    queries: tuple[str, ...]
    values: F64

    @property
    def means(self) -> F64:
        """By system and measure."""
        means: F64 = self.values.mean(axis=2)
        return means

    def best(self, measure: int) -> int:
        """The system with the best mean; of equal ones the first."""
        means = self.means[:, measure]
        return int(np.argmax(means) if self.measures[measure].larger else np.argmin(means))

    def is_best(self, system: int, measure: int) -> bool:
        """Whether no system has a better mean."""
        return bool(self.means[system, measure] == self.means[self.best(measure), measure])

    def p_values(
        self, baseline: int, test: str = "t", correct: bool = False, seed: int = 0
    ) -> list[list[float | None]]:
        """`[system][measure]`, None for the baseline; Holm's correction is over the systems, for each measure."""
        columns = [
            compare_with_baseline(list(self.values[:, m]), baseline, test, correct, seed)
            for m in range(len(self.measures))
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    def direction(self, system: int, measure: int, baseline: int, p: float | None) -> int:
        """1 where a system is significantly better than the baseline, -1 where it is worse, else 0."""
        if p is None or p >= LEVEL:
            return 0
        ahead = self.means[system, measure] > self.means[baseline, measure]
        return 1 if ahead == self.measures[measure].larger else -1

    def confidence_interval(self, system: int, measure: int) -> tuple[float, float]:
        """The 95% confidence interval of a mean."""
        return confidence_interval(self.values[system, measure])


def measure_runs(systems: Sequence[str], runs: Sequence[Run], grades: Grades, measures: Sequence[Any]) -> Results:
    """The results of runs over the judged queries."""
    queries = find_judged_queries(grades)
    values = np.array([measure_run(measures, run, grades, queries) for run in runs])
    return Results(tuple(systems), tuple(measures), tuple(queries), values)
