"""Every voting technique at every cutoff of a ladder, found in one pass down a document ranking. No part.

    feature (model m, cutoff n, technique t) of a candidate = the value of voting(technique=t,model=m,cutoff=n)

minus the smallest one, over the largest less the smallest, of the query's candidates with a document among the first
n; a candidate without one has 0, and where all are the same all have 0. Techniques are numbered as in `TECHNIQUES` of
systems/voting.py; those with exponentials are in logarithms. Going down a ranking, scores only fall: the first is an
entity's largest, the latest its smallest, and the one in the middle of those seen its median, so that what a technique
needs of an entity is a few running sums. Features are kept as floats of 32 bits, zeros left out, since most entities
are not among the first few documents.

Golden case: documents of scores 3, 2, 1; a is in the first and the third, b in the second. At cutoff 2 votes are 1 and
1, which makes 0 and 0; at cutoff 3 they are 2 and 1, which makes 1 and 0. Knows nothing of learning.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.allowance import claim, claimed
from fader.contexts.table import Contexts
from fader.kernel import kernel
from fader.systems.shared.thinning import within
from fader.systems.shared.weighting import document_ranking, document_scores
from fader.systems.voting import EQUAL, TECHNIQUES

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U16 = NDArray[np.uint16]

MOST_COLUMNS = 65_535  # numbers of columns have 16 bits


@dataclass(frozen=True, slots=True)
class Rungs:
    """Features of a query's candidates: candidate i has `data[at[i]:at[i+1]]` in the columns `column[...]`, else 0."""

    entity: I32
    at: I64
    column: U16
    data: F32
    columns: int

    def times(self, weights: F64) -> F64:
        """weights . features of every candidate; the same features always give the same number."""
        out = np.empty(self.entity.size)
        _times(self.at, self.column, self.data, weights, out)
        return out

    def to_dense(self) -> F32:
        """(candidates, columns)."""
        claim(4 * self.entity.size * self.columns + 16 * self.data.size)
        out = np.zeros((self.entity.size, self.columns), dtype=np.float32)
        out[np.repeat(np.arange(self.entity.size), np.diff(self.at)), self.column] = self.data
        return out

    def take(self, places: I64) -> Rungs:
        """Some of the candidates."""
        source, at = within(self.at, places)
        return Rungs(self.entity[places], at, self.column[source], self.data[source], self.columns)


def rungs(contexts: Contexts, models: Sequence[str], techniques: Sequence[str], cutoffs: Sequence[int]) -> Rungs:
    """The features of a query, by model, then cutoff, then technique; cutoffs ascend, 0 (all documents) is last."""
    key = ("rungs", tuple(models), tuple(techniques), tuple(cutoffs))
    found: Rungs = contexts.compute_once(key, lambda: _rungs(contexts, models, techniques, cutoffs))
    return found


def _rungs(contexts: Contexts, models: Sequence[str], techniques: Sequence[str], cutoffs: Sequence[int]) -> Rungs:
    entity, step = _ballots_of(contexts).entity, len(cutoffs) * len(techniques)
    assert len(models) * step <= MOST_COLUMNS
    with claimed((4 * len(models) + 16) * step * entity.size):
        table = np.zeros((entity.size, len(models) * step), dtype=np.float32)
        for m, model in enumerate(models):
            raw = raw_features(contexts, model, techniques, cutoffs)
            _normalise(raw, table[:, m * step : (m + 1) * step])
    used = int(np.count_nonzero(table))
    claim(4 * table.size + 6 * used + 8 * entity.size)
    at = np.zeros(entity.size + 1, dtype=np.int64)
    column, data = np.empty(used, dtype=np.uint16), np.empty(used, dtype=np.float32)
    _squeeze(table, at, column, data)
    return Rungs(entity, at, column, data, table.shape[1])


def raw_features(contexts: Contexts, model: str, techniques: Sequence[str], cutoffs: Sequence[int]) -> F64:
    """(candidates, cutoffs x techniques): values before they are normalised, nan where there is no vote."""
    ballots = _ballots_of(contexts)
    ranking, scores = document_ranking(contexts, model), document_scores(contexts, model)
    ends = np.array([min(n, ranking.size) if n else ranking.size for n in cutoffs], dtype=np.int64)
    place = np.array([techniques.index(t) if t in techniques else -1 for t in TECHNIQUES], dtype=np.int64)
    out = np.full((ballots.entity.size, len(cutoffs) * len(techniques)), np.nan)
    _climb(ranking, scores, ballots.at, ballots.candidate, ballots.first, ends, place, len(techniques), out)
    return out


@dataclass(frozen=True, slots=True)
class _Ballots:
    """Matching document d mentions the candidates `candidate[at[d]:at[d+1]]`, each once.

    `first` is where the documents of each candidate would begin if they were laid end to end.
    """

    entity: I32
    at: I64
    candidate: I32
    first: I64


def _ballots_of(contexts: Contexts) -> _Ballots:
    found: _Ballots = contexts.compute_once("ballots", lambda: _ballots(contexts))
    return found


def _ballots(contexts: Contexts) -> _Ballots:
    used = np.bincount(contexts.slot, minlength=contexts.entities.size) > 0
    number = (np.cumsum(used) - 1).astype(np.int32)
    at = np.zeros(contexts.matching.length.size + 1, dtype=np.int64)
    candidate, size = np.empty(len(contexts), dtype=np.int32), np.zeros(np.count_nonzero(used), dtype=np.int64)
    cast = _collect_mentioned(contexts.matching.row, contexts.slot, number, at, candidate, size)
    return _Ballots(contexts.entities[used], at, candidate[:cast].copy(), np.cumsum(size) - size)


@kernel
def _collect_mentioned(row: I32, slot: I32, number: I32, at: I64, candidate: I32, size: I64) -> Any:
    """Rows are in the order of documents."""
    latest = np.full(size.size, -1, dtype=np.int64)
    used = 0
    for i in range(row.size):
        e, d = number[slot[i]], row[i]
        if latest[e] != d:
            latest[e] = d
            candidate[used] = e
            used += 1
            size[e] += 1
            at[d + 1] += 1
    for d in range(at.size - 1):
        at[d + 1] += at[d]
    return used


@kernel
def _climb(
    ranking: I64, scores: F64, at: I64, candidate: I32, first: I64, ends: I64, place: I64, width: int, out: F64
) -> None:
    """`place` is the column of each technique, -1 where it is not wanted; `first` where scores of a candidate go."""
    n = first.size
    held = np.empty(candidate.size)
    votes, ranks = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    reciprocal, total, exps = np.zeros(n), np.zeros(n), np.zeros(n)
    found = np.empty(12)
    r = 0
    for k in range(ends.size):
        while r < ends[k]:
            d = ranking[r]
            r += 1
            for i in range(at[d], at[d + 1]):
                e = candidate[i]
                held[first[e] + votes[e]] = scores[d]
                votes[e] += 1
                ranks[e] += r
                reciprocal[e] += 1.0 / r
                total[e] += scores[d]
                exps[e] += math.exp(scores[d] - held[first[e]])
        for e in range(n):
            v, top = votes[e], first[e]
            if v == 0:
                continue
            log = held[top] + math.log(exps[e])
            found[0], found[1], found[2] = v, reciprocal[e], v * ends[k] - ranks[e]
            found[3], found[4] = held[top], held[top + v - 1]
            found[5] = 0.5 * held[top + (v - 1) // 2] + 0.5 * held[top + v // 2]
            found[6], found[7], found[8] = total[e], total[e] / v, v * total[e]
            found[9], found[10], found[11] = log, log - math.log(v), log + math.log(v)
            for t in range(12):
                if place[t] >= 0:
                    out[e, k * width + place[t]] = found[t]


@kernel
def _normalise(raw: F64, out: F32) -> None:
    low, high = np.full(raw.shape[1], np.inf), np.full(raw.shape[1], -np.inf)
    for e in range(raw.shape[0]):
        for c in range(raw.shape[1]):
            if not math.isnan(raw[e, c]):
                low[c], high[c] = min(low[c], raw[e, c]), max(high[c], raw[e, c])
    scale = np.zeros(raw.shape[1])
    for c in range(raw.shape[1]):
        if high[c] - low[c] > EQUAL * max(abs(low[c]), abs(high[c])):
            scale[c] = 1.0 / (high[c] - low[c])
    for e in range(raw.shape[0]):
        for c in range(raw.shape[1]):
            if not math.isnan(raw[e, c]):
                out[e, c] = (raw[e, c] - low[c]) * scale[c]


@kernel
def _squeeze(table: F32, at: I64, column: U16, data: F32) -> None:
    n = 0
    for e in range(table.shape[0]):
        for c in range(table.shape[1]):
            if table[e, c] != 0.0:
                column[n] = c
                data[n] = table[e, c]
                n += 1
        at[e + 1] = n


@kernel
def _times(at: I64, column: U16, data: F32, weights: F64, out: F64) -> None:
    for e in range(out.size):
        total = 0.0
        for k in range(at[e], at[e + 1]):
            total += weights[column[k]] * data[k]
        out[e] = total
