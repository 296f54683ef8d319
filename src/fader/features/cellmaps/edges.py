"""Bucket edges learned from contexts: quantiles over matched literals, so that buckets are filled about alike.

    distances: 0, then the k/(m+1) quantiles, k = 1..m, of the distances > 0
    shares:    0, then such quantiles of IDF(t)/IDF(q), or of the share matched up to each literal (coverage)

Only distinct ones are kept. Every query counts alike: a matched literal of a context weighs 1 / (how many its query
has). A quantile is the smallest value that at least so much of the weight does not exceed. Golden case: distances 1
and 9 in one query and 3 in another have the median 3. Learned shares are cut to five decimals, downwards, so that
they are read and written in full. Knows nothing of weights or of relevance: no judgment is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from fader.contexts.table import Contexts
from fader.features.cellmaps.buckets import LONGEST, SHARE_STEP

F64 = NDArray[np.float64]


def learn_distances(tables: Iterable[Contexts], count: int) -> tuple[int, ...]:
    """0 and up to `count` learned edges; only 0 where there is nothing to learn from."""
    weight = np.zeros(1)
    for table in tables:
        matched = int(np.count_nonzero(table.distances >= 0))
        found = np.bincount(np.minimum(table.distances[table.distances > 0], LONGEST))
        weight = np.pad(weight, (0, max(0, found.size - weight.size)))
        weight[: found.size] += found / max(1, matched)
    quantiles = _quantiles(np.arange(weight.size, dtype=np.float64), weight, count)
    return (0, *sorted({int(d) for d in quantiles}))


def learn_shares(samples: Iterable[tuple[F64, F64]], count: int) -> tuple[float, ...]:
    """0 and up to `count` learned edges, from the shares that each query has and how often."""
    values, weights = [np.zeros(0)], [np.zeros(0)]
    for share, often in samples:
        values.append(share)
        weights.append(often / max(1.0, float(often.sum())))
    quantiles = _quantiles(np.concatenate(values), np.concatenate(weights), count)
    steps = {math.floor(q / SHARE_STEP + 1e-4) for q in quantiles}
    return (0.0, *(round(s * SHARE_STEP, 5) for s in sorted(steps) if s > 0))


def literal_shares(table: Contexts, idf: str) -> tuple[F64, F64]:
    """IDF(t)/IDF(q) of each literal, and in how many contexts it is matched."""
    return table.statistics.perplexity(idf), np.count_nonzero(table.distances >= 0, axis=1).astype(np.float64)


def match_shares(table: Contexts, idf: str, signed: bool) -> tuple[F64, F64]:
    """The shares of IDF(q) matched up to each literal's distance, and how often; each side by itself where asked."""
    copies = [table.distances]
    if signed:
        right = table.sides > 0
        copies = [np.where(right, -1, table.distances), np.where(right, table.distances, -1)]
    share = np.concatenate([_curve(d, table.statistics.perplexity(idf)) for d in copies])
    values, often = np.unique(share.round(9), return_counts=True)
    return values, often.astype(np.float64)


def _curve(distances: NDArray[np.int32], perplexity: F64) -> F64:
    """The share matched up to and with each matched literal, those as near or nearer included."""
    out = np.zeros(distances.shape)
    for t in range(distances.shape[0]):
        for other in range(distances.shape[0]):
            within = (distances[other] >= 0) & (distances[other] <= distances[t])
            out[t] += np.where(within, perplexity[other], 0.0)
    matched: F64 = out[distances >= 0]
    return matched


def _quantiles(values: F64, weights: F64, count: int) -> F64:
    """The weighted quantiles at k/(count+1), k = 1..count; none where nothing has weight."""
    order = np.argsort(values, kind="stable")
    order = order[weights[order] > 0]
    if not order.size:
        return np.zeros(0)
    reached = np.cumsum(weights[order])
    levels = np.arange(1, count + 1) / (count + 1) * reached[-1] * (1 - 1e-12)
    found: F64 = values[order][np.searchsorted(reached, levels)]
    return found
