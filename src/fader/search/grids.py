"""Perplexity-proximity grids over learned weights, with one entity's matches in them, and what each feature map adds.

    a point      the counted contexts of the entity whose literal t falls into a cell, and what they contribute there
    linear       contribution = c_x * (what the map gives literal t of x),  share of x = c_x * (score of x)
    otherwise    a literal's share, as explained, goes to feature maps in proportion to what they give it

So contributions of all feature maps add up to the score; where the aggregator is linear, those of a grid's points add
up to what its feature map contributes. Golden case: `rectangle` x `sum`, one context with one literal in cell (1, 2):
one point there, whose contribution is the score. Knows nothing of storage or texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.aggregate.base import Aggregator
from fader.contexts.table import Contexts
from fader.features.base import FeatureMap
from fader.features.cellmaps.cellmap import CellMap
from fader.features.cellmaps.cells import sides_of, take_contexts
from fader.features.combined import Combined
from fader.rank.ranking import Contributions
from fader.rank.system import FeatureScoring, System

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
SIDES = ("left", "right")


@dataclass(frozen=True, slots=True)
class Point:
    """How many contexts have a literal, by its number in the query, in a cell, and what they contribute there."""

    row: int
    column: int
    literal: int
    contexts: int
    contribution: float


@dataclass(frozen=True, slots=True)
class WeightGrid:
    """What a literal is worth in each cell, rows ascending in IDF share and columns in nearness, and the matches."""

    feature: str
    side: str
    rows: list[str]
    columns: list[str]
    values: list[list[float]]
    points: list[Point]


@dataclass(frozen=True, slots=True)
class FeaturePart:
    """What a feature map contributes to the score."""

    feature: str
    contribution: float


def by_side(values: F64) -> list[tuple[str, F64]]:
    """The grid of `weight_grid`, or one for each side."""
    return [("", values)] if values.ndim == 2 else list(zip(SIDES, values, strict=True))


def features_of(
    system: System, contexts: Contexts, shares: Contributions
) -> tuple[list[WeightGrid], list[FeaturePart]]:
    """The grids of a system with an entity's points, and what each of its feature maps contributes."""
    found = system.scoring_of(contexts, shares.row)
    if found is None:
        return [], []
    scoring, contexts, rows = found
    shares = replace(shares, row=rows)
    maps = list(_split_maps(scoring))
    parts = contributions(scoring.aggregator, maps, contexts, shares)
    grids: list[WeightGrid] = []
    for (part, w), given in zip(maps, parts, strict=True):
        if isinstance(part, CellMap):
            budget.check()
            grids += _grids(part, w, contexts, shares, given)
    return grids, [FeaturePart(m.name, float(given.sum())) for (m, _w), given in zip(maps, parts, strict=True)]


def _split_maps(scoring: FeatureScoring) -> Iterator[tuple[FeatureMap, F64]]:
    features, w = scoring.features, scoring.weights
    yield from features.split(w) if isinstance(features, Combined) else [(features, w)]


def contributions(
    aggregator: Aggregator, maps: list[tuple[FeatureMap, F64]], contexts: Contexts, shares: Contributions
) -> list[F64]:
    """What each map contributes through each literal of each context: (literals, contexts) a map."""
    given = []
    for part, w in maps:
        budget.check()
        given.append(part.by_literal(contexts, shares.row, w))
    n = shares.row.size
    if aggregator.linear:
        scale = aggregator.shares(np.ones(n), np.array([0, n], dtype=np.int64)) if n else np.ones(0)
        return [part * scale for part in given]
    gained = [np.maximum(part, 0.0) for part in given]
    total = np.sum(gained, axis=0)
    even = 1.0 / len(given)
    return [shares.literal * np.divide(part, total, out=np.full(total.shape, even), where=total > 0) for part in gained]


def _grids(part: CellMap, w: F64, contexts: Contexts, shares: Contributions, given: F64) -> Iterator[WeightGrid]:
    axes = part.axes
    code = cells_of(part, contexts, shares.row)
    literal, x = np.nonzero(code < axes.cells)
    literals = max(1, code.shape[0])
    key = code[literal, x] * literals + literal
    counted = np.bincount(key, minlength=axes.cells * literals)
    summed = np.bincount(key, weights=given[literal, x], minlength=axes.cells * literals)
    points: list[list[Point]] = [[] for _ in range(axes.copies)]
    for k in np.flatnonzero(counted).tolist():
        cell, t = divmod(k, literals)
        row, column = divmod(cell % (axes.rows * axes.columns), axes.columns)
        points[cell // (axes.rows * axes.columns)].append(Point(row, column, t, int(counted[k]), float(summed[k])))
    for (side, values), own in zip(by_side(part.weight_grid(w)), points, strict=True):
        yield WeightGrid(part.name, side, axes.row_bands(), axes.column_bands(), values.tolist(), own)


def cells_of(part: CellMap, contexts: Contexts, rows: NDArray[np.int32]) -> I64:
    """(literals, rows): the cell by which each literal of some contexts is shown, `cells` for an absent one."""
    distances, sides = take_contexts(contexts.distances, rows), take_contexts(sides_of(contexts, part.signed), rows)
    codes: I64 = part.cells(contexts.statistics).codes(distances, sides).T.astype(np.int64)
    if type(part).find_shown_cells is CellMap.find_shown_cells or not rows.size:
        return codes
    # A map that shows literals elsewhere is asked once for contexts that are alike.
    alike = np.concatenate([distances, sides]) if sides.size else distances
    _distinct, first, place = np.unique(alike, axis=1, return_index=True, return_inverse=True)
    shown = np.empty((codes.shape[0], first.size), dtype=np.int64)
    for i, x in enumerate(first.tolist()):
        budget.check()
        shown[:, i] = part.find_shown_cells(contexts, int(rows[x]))
    return np.where(codes < part.axes.cells, shown[:, place.reshape(-1)], part.axes.cells)
