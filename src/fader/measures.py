"""Measures of one query, from the candidates' values and grades, as trec_eval defines them.

Candidates are ordered by value, then by entity id, both descending. Good means a grade above 0; any other candidate,
judged or not, is bad and has gain 0, also with a negative grade.

    AP        = 1/R * sum over ranks r of good candidates of (good ones up to r) / r,   R = all good entities, found
                or not; with `candidates-only` the good candidates
    RR        = 1 / rank of the first good candidate
    nDCG@k    = DCG / ideal DCG,  DCG = sum over ranks r <= k of grade / log2(r + 1);  the ideal ranks all judged
                entities, found or not
    pairswap  = share of (good, bad) pairs of candidates in the wrong order, a tie counting 1/2; with `judged-only`
                an unjudged candidate is not bad. Smaller is better.

A query without a good entity has AP, RR and nDCG 0. Without a good candidate pairswap is 1, its worst value, as AP is
0 then; otherwise, without a bad candidate, it is 0.

Golden case: values a 3, b 2, c 1, good {a, c, z} of grades 1, 2, 1: AP = (1/1 + 2/3) / 3 = 5/9, RR = 1, pairswap = 1/2,
nDCG@5 = (1 + 2/2) / (2 + 1/log2(3) + 1/2).

Values are compared as doubles; trec_eval reads scores as floats of 32 bits, where values that differ only beyond
about seven digits are ties.

Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002 (nDCG).
Knows nothing of id strings, of files or of how values come about.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fader.errors import InputError, UsageError, did_you_mean, quote
from fader.kernel import kernel

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Bool = NDArray[np.bool_]

_CUT = re.compile(r"ndcg@([0-9]{1,9})")
_NOT_A_NUMBER = "a candidate's value is nan, which has no rank; a model's weights must be finite"


@dataclass(frozen=True, slots=True)
class Judgments:
    """The judgments of one query's candidates, independent of the values by which they are ranked.

    `entity` are numbers in the order of the ids. `grades` has one for each candidate, 0 where it
    is not judged; `judged` says where it is. `ideal` are the grades of all judged entities, candidates or not,
    descending, and `good` counts those above 0.
    """

    entity: I32
    grades: I64
    judged: Bool
    ideal: I64
    good: int

    def of(self, places: I64) -> Judgments:
        """The judgments of some candidates only."""
        return replace(self, entity=self.entity[places], grades=self.grades[places], judged=self.judged[places])


def judge(entity: I32, keys: Iterable[Any], grades: Mapping[Any, int]) -> Judgments:
    """The judgments of candidates, each with the key by which `grades` knows it: its id, or its number."""
    found = [grades.get(key) for key in keys]
    ideal = np.sort(np.fromiter(grades.values(), np.int64, len(grades)))[::-1].copy()
    return Judgments(
        entity=entity,
        grades=np.array([grade or 0 for grade in found], dtype=np.int64),
        judged=np.array([grade is not None for grade in found], dtype=np.bool_),
        ideal=ideal,
        good=int(np.count_nonzero(ideal > 0)),
    )


class Measure(ABC):
    """A measure of one query; its string parses back to it."""

    larger: ClassVar[bool] = True  # whether the larger number is the better one

    @property
    def worst(self) -> float:
        """The value for a query that was not answered."""
        return 0.0 if self.larger else 1.0

    @abstractmethod
    def of(self, values: F64, judgments: Judgments) -> float:
        """The measure of candidates with these values."""


@dataclass(frozen=True)
class AveragePrecision(Measure):
    """AP; with `candidates_only` the denominator counts only candidates."""

    candidates_only: bool = False

    def __str__(self) -> str:
        return "AP(candidates-only)" if self.candidates_only else "AP"

    def of(self, values: F64, judgments: Judgments) -> float:
        good = int(np.count_nonzero(judgments.grades > 0)) if self.candidates_only else judgments.good
        return average_precision(values, judgments.entity, judgments.grades, good)


@dataclass(frozen=True)
class ReciprocalRank(Measure):
    """RR."""

    def __str__(self) -> str:
        return "RR"

    def of(self, values: F64, judgments: Judgments) -> float:
        return reciprocal_rank(values, judgments.entity, judgments.grades)


@dataclass(frozen=True)
class NDCG(Measure):
    """nDCG@cut."""

    cut: int = 10

    def __post_init__(self) -> None:
        if self.cut < 1:
            raise UsageError(f"{self}: the cut must be 1 or more")

    def __str__(self) -> str:
        return f"nDCG@{self.cut}"

    def of(self, values: F64, judgments: Judgments) -> float:
        return ndcg(values, judgments.entity, judgments.grades, judgments.ideal, self.cut)


@dataclass(frozen=True)
class Pairswap(Measure):
    """pairswap; with `judged_only` only judged candidates are bad."""

    larger: ClassVar[bool] = False
    judged_only: bool = False

    def __str__(self) -> str:
        return "pairswap(judged-only)" if self.judged_only else "pairswap"

    def of(self, values: F64, judgments: Judgments) -> float:
        return pairswap(values, judgments.grades, judgments.judged if self.judged_only else None)


STANDARD: tuple[Measure, ...] = (AveragePrecision(), ReciprocalRank(), NDCG(5), NDCG(10), Pairswap())
MEASURES = {str(measure): measure for measure in (*STANDARD, AveragePrecision(True), Pairswap(True))}
# Names that other tools and papers use, in lower case.
_OTHER_NAMES = {name.lower(): measure for name, measure in MEASURES.items()} | {
    "map": MEASURES["AP"],
    "mrr": MEASURES["RR"],
}


def find_measure(name: str) -> Measure | None:
    """The measure of a name such as `AP` or `nDCG@20`, whatever its case, or None."""
    small = name.strip().lower()
    cut = _CUT.fullmatch(small)
    return NDCG(int(cut[1])) if cut else _OTHER_NAMES.get(small)


def parse_measure(name: str) -> Measure:
    """The measure of a name; an unknown one is an error with a suggestion."""
    measure = find_measure(name)
    if measure is None:
        hint = did_you_mean(name, MEASURES) or f"; known: {', '.join(MEASURES)}"
        raise UsageError(f"unknown measure {quote(name)}{hint}")
    return measure


def average_precision(values: F64, entity: I32, grades: I64, good: int) -> float:
    """AP, where `good` counts the good entities of the query, found or not."""
    return float(_average_precision(*_convert_arrays(values, entity, grades), good))


def reciprocal_rank(values: F64, entity: I32, grades: I64) -> float:
    """RR."""
    ranks, _gains = ranks_of_good(values, entity, grades)
    return 1.0 / float(ranks[0]) if ranks.size else 0.0


def ndcg(values: F64, entity: I32, grades: I64, ideal: I64, cut: int) -> float:
    """nDCG@cut, where `ideal` are the grades of all judged entities of the query, descending."""
    ranks, gains = ranks_of_good(values, entity, grades)
    best = ideal[ideal > 0]
    most = _discount_gains(np.arange(1, best.size + 1, dtype=np.int64), best, cut)
    return float(_discount_gains(ranks, gains, cut) / most) if most else 0.0


def pairswap(values: F64, grades: I64, judged: Bool | None = None) -> float:
    """The share of wrong pairs; bad is every candidate that is not good, or of these the judged ones."""
    if np.isnan(values).any():
        raise InputError(_NOT_A_NUMBER)
    is_good = grades > 0
    good = np.sort(values[is_good])
    bad = values[~is_good] if judged is None else values[~is_good & judged]
    if not good.size:
        return 1.0
    if not bad.size:
        return 0.0
    below, not_above = np.searchsorted(good, bad, "left"), np.searchsorted(good, bad, "right")
    return float(below.sum() + not_above.sum()) / (2 * good.size * bad.size)


def ranks_of_good(values: F64, entity: I32, grades: I64) -> tuple[I64, I64]:
    """The ranks of the good candidates, from 1, ascending, and their grades."""
    ranks, gains = _ranks_of_good(*_convert_arrays(values, entity, grades))
    return ranks, gains


def _convert_arrays(values: F64, entity: I32, grades: I64) -> tuple[F64, I32, I64]:
    """The arrays in the types that the kernels are compiled for."""
    return (
        np.ascontiguousarray(values, np.float64),
        np.ascontiguousarray(entity, np.int32),
        np.ascontiguousarray(grades, np.int64),
    )


@kernel
def _average_precision(values: F64, entity: I32, grades: I64, good: int) -> float:
    ranks, _gains = _ranks_of_good(values, entity, grades)
    total = 0.0
    for i in range(ranks.size):
        total += (i + 1) / ranks[i]
    return total / good if good else 0.0


@kernel
def _discount_gains(ranks: I64, gains: I64, cut: int) -> float:
    """DCG at the cut; ranks ascend."""
    total = 0.0
    for i in range(ranks.size):
        if ranks[i] > cut:
            break
        total += gains[i] / np.log2(ranks[i] + 1.0)
    return total


@kernel
def _ranks_of_good(values: F64, entity: I32, grades: I64) -> tuple[I64, I64]:
    """Sort only the good candidates; the others find their place among them by bisection.

    Few are good, and most others rank below the worst of them, so this is mostly one pass.
    """
    place = _sort_good(values, entity, grades)
    count = place.size
    gains = grades[place]
    step = np.zeros(count + 1, np.int64)  # how many bad ones stand right before each good one
    if not count:
        return step[:0], gains
    value, number = values[place], entity[place]
    worst = value[count - 1]
    for i in range(values.size):
        v = values[i]
        if v >= worst and grades[i] <= 0:
            low, high = 0, count
            while low < high:
                middle = (low + high) >> 1
                if value[middle] > v or (value[middle] == v and number[middle] > entity[i]):
                    low = middle + 1
                else:
                    high = middle
            step[low] += 1
    return np.cumsum(step[:count] + 1), gains


@kernel
def _sort_good(values: F64, entity: I32, grades: I64) -> I64:
    """The places of the good candidates, best first. Shell's sort: short to write, and quick for the few there are."""
    place = np.empty(np.count_nonzero(grades > 0), np.int64)
    count = 0
    for i in range(grades.size):
        if np.isnan(values[i]):
            raise InputError(_NOT_A_NUMBER)
        if grades[i] > 0:
            place[count] = i
            count += 1
    gap = count
    while gap > 1:
        gap = 1 if gap < 5 else gap * 5 // 11
        for i in range(gap, count):
            mine = place[i]
            j = i
            while j >= gap:
                other = place[j - gap]
                if values[other] > values[mine] or (values[other] == values[mine] and entity[other] > entity[mine]):
                    break
                place[j] = other
                j -= gap
            place[j] = mine
    return place
