"""Measures of rankings and runs on entity ids: ids become numbers, and fader.measures does the rest.

A run maps queries to `{entity: score}`. Means are over the judged queries, those with a good entity; a query that a run
does not answer counts with the worst value: 0, or 1 for pairswap (as `trec_eval -c`).
Knows nothing of files or of how a run was made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fader.errors import quote
from fader.experiment.foreign import Foreign, parse_foreign_measure
from fader.measures import AveragePrecision, Judgments, Measure, find_measure, judge, parse_measure
from fader.registry import split_top

F64 = NDArray[np.float64]
Grades = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]

_PRINTED = {"MAP": "AP", "MRR": "RR", "nDCG@5": "nDCG@5", "nDCG@10": "nDCG@10"}


def parse_measures(text: str, candidates_only: bool = False) -> list[Measure | Foreign]:
    """The measures of a list such as `AP,nDCG@10,P@5`, each once; unknown names are looked up in ir_measures."""
    found: dict[str, Measure | Foreign] = {}
    for name in split_top(text, ","):
        measure = find_measure(name) or parse_foreign_measure(name.strip())
        if candidates_only and measure == AveragePrecision():
            measure = AveragePrecision(candidates_only=True)
        found[str(measure)] = measure
    return list(found.values())


def find_judged_queries(grades: Grades) -> list[str]:
    """The queries that have a good entity, in the order of the judgments."""
    return [query for query, judged in grades.items() if any(grade > 0 for grade in judged.values())]


def measure_run(measures: Sequence[Measure | Foreign], run: Run, grades: Grades, queries: Sequence[str]) -> F64:
    """The measures of a run: one row per measure, one column per query."""
    candidates = [number_candidates(run[q], grades.get(q, {})) if run.get(q) else None for q in queries]
    values = np.zeros((len(measures), len(queries)))
    for row, measure in zip(values, measures, strict=True):
        if isinstance(measure, Foreign):
            row[:] = measure.per_query(run, grades, queries)
        else:
            row[:] = [measure.of(*found) if found else measure.worst for found in candidates]
    return values


def number_candidates(scores: Mapping[str, float], grades: Mapping[str, int]) -> tuple[F64, Judgments]:
    """The values and judgments of a query's entities; the larger id gets the larger number."""
    ids = sorted(scores)
    values = np.array([scores[entity] for entity in ids], dtype=np.float64)
    return values, judge(np.arange(len(ids), dtype=np.int32), ids, grades)


def average_precision(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """AP of a ranking; 0 for a query without a good entity."""
    return measure_ranking("AP", ranking, grades)


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """RR of a ranking."""
    return measure_ranking("RR", ranking, grades)


def measure_ranking(name: str, ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """A measure of entities in this order, best first."""
    values, judgments = number_candidates({entity: -float(place) for place, entity in enumerate(ranking)}, grades)
    return parse_measure(name).of(values, judgments)


def average_measures(rankings: Mapping[str, Sequence[str]], grades: Grades) -> dict[str, float]:
    """MAP, MRR and mean nDCG over the ranked queries that have a good entity, and the number of these queries.

    Without such a query there are no means.
    """
    judged = [q for q in rankings if any(grade > 0 for grade in grades.get(q, {}).values())]
    means: dict[str, float] = {"judged": len(judged)}
    for printed, name in _PRINTED.items():
        if judged:
            means[printed] = sum(measure_ranking(name, rankings[q], grades[q]) for q in judged) / len(judged)
    return means


def describe_unknown(entities: Sequence[str]) -> str:
    """Say which judged entities no catalog entry has."""
    what = "judged entity is" if len(entities) == 1 else "judged entities are"
    missed = "it counts" if len(entities) == 1 else "they count"
    return f"{len(entities):,} {what} not in the catalog, such as {quote(entities[0])}; {missed} as missed"
