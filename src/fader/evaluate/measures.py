"""Measures of one query's ranking, as trec_eval defines them.

    AP = 1/R * sum over ranks r of good entities of (good entities up to r) / r,   R = all good entities, found or not
    RR = 1 / rank of the first good entity

Good means a grade above 0. Golden case: ranking [a, b, c], good {a, c, z}: AP = (1/1 + 2/3) / 3 = 5/9.
Knows nothing of queries or systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def average_precision(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """AP of a ranking; 0 for a query without a good entity."""
    good = sum(grade > 0 for grade in grades.values())
    found, total = 0, 0.0
    for rank, entity in enumerate(ranking, 1):
        if grades.get(entity, 0) > 0:
            found += 1
            total += found / rank
    return total / good if good else 0.0


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """RR of a ranking."""
    return next((1 / rank for rank, entity in enumerate(ranking, 1) if grades.get(entity, 0) > 0), 0.0)


def mean_measures(rankings: Mapping[str, Sequence[str]], grades: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    """MAP and MRR over the ranked queries that have a judged good entity, and how many these are.

    Without any such query there is nothing to average, and no mean is given.
    """
    judged = [q for q in rankings if any(grade > 0 for grade in grades.get(q, {}).values())]
    means: dict[str, float] = {"judged": len(judged)}
    for name, measure in (("MAP", average_precision), ("MRR", reciprocal_rank)):
        if judged:
            means[name] = sum(measure(rankings[q], grades[q]) for q in judged) / len(judged)
    return means
