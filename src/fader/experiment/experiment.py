"""Judged queries, and how every system is run on them: what comparing and tuning have in common.

Systems that want the same contexts of a query share them. Knows nothing of folds or reports.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.contexts.table import Contexts
from fader.experiment.foreign import Foreign
from fader.experiment.judged import JudgedQueries
from fader.experiment.system_specs import SystemSpec
from fader.learn.threads import Workers, in_parallel
from fader.measures import AveragePrecision, Judgments, Measure, Pairswap, judge
from fader.progress import Progress
from fader.rank.ranking import rank_entities
from fader.rank.system import System, View

F64 = NDArray[np.float64]
PRECISION = AveragePrecision()


@dataclass(frozen=True)
class Tested:
    """One query as a system ranked it; `whole` says whether all its candidates are ranked."""

    judgments: Judgments
    values: F64
    whole: bool = True


@dataclass(frozen=True)
class Experiment:
    """What all systems have in common."""

    judged: JudgedQueries
    cv: str
    measures: Sequence[Measure | Foreign]
    seed: int
    workers: Workers
    progress: Progress
    questions: Mapping[str, str] = field(default_factory=dict)  # their texts, by query

    @property
    def own(self) -> list[Measure]:
        """The measures that need one query at a time."""
        return [m for m in self.measures if not isinstance(m, Foreign)]

    def measure_all(self, tested: Sequence[Tested]) -> dict[str, list[Any]]:
        """Every measure of every query."""
        return self.by_measure([self.measure(i, t) for i, t in enumerate(tested)], tested)

    def measure(self, i: int, tested: Tested) -> dict[str, float]:
        """One query by every measure that needs no other."""
        return {str(m): self._of(i, tested, m) for m in self.own}

    def by_measure(self, rows: Sequence[dict[str, float]], tested: Sequence[Tested]) -> dict[str, list[Any]]:
        """Measures by query, with those that want whole runs."""
        of_runs = {str(m): self._foreign(tested, m) for m in self.measures if isinstance(m, Foreign)}
        return {str(m): of_runs.get(str(m)) or [row[str(m)] for row in rows] for m in self.measures}

    def _of(self, i: int, tested: Tested, measure: Measure) -> float:
        """Pairs are those of all candidates of the given query, whoever leaves some out: these tie behind all others.
        Entities that only a question has as candidates are in none."""
        if tested.whole or not isinstance(measure, Pairswap):
            return measure.of(tested.values, tested.judgments)
        entity = self.judged.contexts(i, View()).groups.entity
        everyone = judge(entity, entity.tolist(), self.judged.grades[i])
        values = np.full(entity.size, tested.values.min(initial=0.0) - 1.0)
        known, place, _at = np.intersect1d(tested.judgments.entity, entity, return_indices=True)
        values[np.searchsorted(entity, known)] = tested.values[place]
        return measure.of(values, everyone)

    def _foreign(self, tested: Sequence[Tested], measure: Foreign) -> list[float]:
        """A measure that wants rankings of ids."""
        ids = self.judged.index.collection.catalog.entity_ids
        runs, grades = {}, {}
        for query, one, graded in zip(self.judged.ids, tested, self.judged.grades, strict=True):
            names = [ids[e] for e in one.judgments.entity.tolist()]
            runs[query] = dict(zip(names, one.values.tolist(), strict=True))
            grades[query] = {str(ids[e] if isinstance(e, int) else e): grade for e, grade in graded.items()}
        found: list[float] = measure.per_query(runs, grades, list(self.judged.ids)).tolist()
        return found

    def rank(self, i: int, system: System, tables: dict[View, Contexts]) -> Tested:
        """One query by one system; its contexts are taken from those that are there already, if they are."""
        view = system.view
        if view not in tables:
            tables[view] = self.judged.contexts(i, view)
        ranking = rank_entities(system, tables[view], 1)
        entity, every = ranking.evidence.entity, tables[view].groups.entity
        judgments = judge(entity, entity.tolist(), self.judged.grades[i])
        return Tested(judgments, ranking.values, entity.size == every.size and view.takes_all)

    def each_query(self, work: Callable[[int], Any], note: str) -> list[Any]:
        """Work on every query, some at a time."""
        return in_parallel(work, range(len(self.judged)), self.workers, self.progress, note)


def precisions(experiment: Experiment, i: int, free: Sequence[SystemSpec]) -> tuple[list[F64], list[float]]:
    """Average precision of every alternative of some systems on one query, and the seconds of each system."""
    tables: dict[View, Contexts] = {}
    found, seconds = [], []
    for e in free:
        began = time.perf_counter()
        tested = [experiment.rank(i, system, tables) for system in e.alternatives]
        found.append(np.array([PRECISION.of(t.values, t.judgments) for t in tested]))
        seconds.append(time.perf_counter() - began)
    return found, seconds
