"""The contract of feature maps (`fader.features.base`), on tables that are given or drawn by a seed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from fader.contexts.table import Contexts
from fader.features.base import Codes, FeatureMap, add_scores, cell_values, cells_of
from fader.testing.expect import expect, expect_close
from fader.testing.parts import check_part, reparse
from fader.testing.tables import TableColumns, contexts_of, draw_table

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
SEEDS = range(20)


def check_feature_map(feature: FeatureMap) -> None:
    """Run the whole contract on a feature map; AssertionError says what does not hold.

    It parses back; scores are finite, linear in the weights and what the blocks say; literals and pieces add up to
    them; rows do not depend on each other; no contexts are no error; `collapse` is the transpose of `expand`; bounds,
    start and penalty fit together; a fitted map scores as the one that its text gives.
    """
    check_part(feature)
    check_empty(feature)
    check_training(feature)
    check_labels(feature)
    check_bare_context(feature)
    for seed in SEEDS:
        whole, bare = draw_table(seed), draw_table(seed, bare=True)
        order = np.random.default_rng(seed).permutation(bare.entity.size)
        check_scores(feature, bare, seed)
        check_blocks(feature, bare, seed)
        check_linear(feature, bare, seed, seed + 1)
        check_shares(feature, whole, np.arange(whole.entity.size, dtype=np.int32), draw_weights(feature, seed))
        check_absent_literals(feature, whole, seed)
        check_row_order(feature, bare, order, seed)
        check_transpose(feature, seed)
    check_fitted(feature, [draw_table(seed) for seed in range(3)])


def draw_weights(feature: FeatureMap, seed: int) -> F64:
    """Weights within the bounds, some of them 0."""
    w = np.random.default_rng(seed).exponential(size=feature.size)
    w[w < 0.3] = 0.0
    low, _high = feature.bounds()
    return np.where(low < 0, -w, w)


def columns_of(distances: list[list[int]], df: list[int]) -> TableColumns:
    """A table of given distances, with one entity in one document."""
    cells = np.array(distances, dtype=np.int32).reshape(len(df), -1)
    place = np.zeros(cells.shape[1], dtype=np.int32)
    return TableColumns(place, place, place, cells, np.zeros(cells.shape, dtype=np.int8), np.ones(place.size), df)


def maps_of(feature: FeatureMap) -> tuple[FeatureMap, ...]:
    """The maps that a combined map has; a single one itself."""
    return tuple(getattr(feature, "maps", (feature,)))


def check_scores(feature: FeatureMap, columns: TableColumns, seed: int) -> None:
    """One finite number per context, from 0 on where weights are and must be."""
    w = draw_weights(feature, seed)
    score = feature.score(contexts_of(columns), w)
    expect(score.shape == (columns.entity.size,), f"scores have the shape {score.shape}, not one per context")
    expect(score.dtype == np.float64, f"scores are {score.dtype}, not float64")
    expect(np.isfinite(score), "a score is not finite")
    low, high = feature.bounds()
    if ((low == 0) | (high == 0)).all():  # weights of free sign belong to values of any sign
        expect(score >= w[w < 0].sum() - 1e-9, "a score is negative though weights are not")


def check_blocks(feature: FeatureMap, columns: TableColumns, seed: int) -> None:
    """Scores are cell values of the weights, read by codes or columns; one block per single map."""
    contexts, w = contexts_of(columns), draw_weights(feature, seed)
    expected, blocks, values = np.zeros(len(contexts)), feature.blocks(contexts), feature.expand(w)
    expect(len(blocks) == len(maps_of(feature)), f"{len(blocks)} blocks, not one per map")
    expect(values.size == sum(map(cells_of, blocks)), "`expand` gives another number of cells than blocks read")
    for block, read in zip(blocks, cell_values(blocks, values), strict=True):
        if isinstance(block, Codes):
            expect(block.codes.dtype == (np.uint8 if block.cells < 256 else np.uint16), "codes of another type")
            expect(block.codes.flags.c_contiguous, "codes are not contiguous")
            expect(block.codes.shape == (len(contexts), block.scale.size), "codes of another shape")
            expect(block.codes <= block.cells, "a code beyond the cells")
        else:
            expect(block.row.shape == (len(contexts),), "columns without a row per context")
        add_scores(block, read, expected)
    expect_close(feature.score(contexts, w), expected, "`score` is not what the blocks say", rel=1e-12)


def check_linear(feature: FeatureMap, columns: TableColumns, one: int, two: int) -> None:
    """Scores are w . f and nothing else."""
    contexts, v, w = contexts_of(columns), draw_weights(feature, one), draw_weights(feature, two)
    expected = feature.score(contexts, v) + 2 * feature.score(contexts, w)
    expect_close(feature.score(contexts, v + 2 * w), expected, "scores are not linear in the weights", tiny=1e-9)


def check_shares(feature: FeatureMap, columns: TableColumns, rows: I32, w: F64) -> None:
    """A share per literal, for any rows, and pieces by cell: each add up to the score, but for rounding."""
    contexts = contexts_of(columns)
    shares, scores = feature.by_literal(contexts, rows, w), feature.score(contexts, w)
    expect(shares.shape == (len(columns.df), rows.size), f"`by_literal` has the shape {shares.shape}")
    expect_close(shares.sum(axis=0), scores[rows], "literals do not add up to the score", rel=1e-12)
    names = {each.name for each in maps_of(feature)}
    for row in rows:
        pieces = feature.pieces(contexts, int(row), w)
        expect_close(sum(p.value for p in pieces), scores[row], "pieces do not add up to the score", rel=1e-12)
        for piece in pieces:
            present = piece.literal == -1 or columns.distances[piece.literal, row] >= 0
            expect(present, f"the piece {piece.cell} is of a literal that the context does not have")
            expect(piece.cell, "a piece has no cell")
            expect(piece.feature in names, f"a piece is of {piece.feature}, which the map does not have")


def check_bare_context(feature: FeatureMap) -> None:
    """A mention without any literal, as there are where overlaps are ignored: its score is 0, or shared."""
    check_shares(feature, columns_of([[-1], [-1]], [3, 4]), np.zeros(1, dtype=np.int32), draw_weights(feature, 1))


def check_absent_literals(feature: FeatureMap, columns: TableColumns, seed: int) -> None:
    """What a context does not have cannot explain its score."""
    contexts = contexts_of(columns)
    shares = feature.by_literal(contexts, np.arange(len(contexts), dtype=np.int32), draw_weights(feature, seed))
    expect(shares[columns.distances < 0] == 0, "a literal that a context does not have gets a share")


def check_row_order(feature: FeatureMap, columns: TableColumns, order: I64, seed: int) -> None:
    """Rows in another order have the same scores, bit for bit."""
    w = draw_weights(feature, seed)
    there, here = feature.score(contexts_of(columns, order), w), feature.score(contexts_of(columns), w)
    expect(there == here[order], "the score of a context depends on other contexts or their order")


def check_empty(feature: FeatureMap) -> None:
    """An empty table has no scores, even where nothing else of it can be found."""
    contexts, none = contexts_of(columns_of([[], []], [3, 0])), np.empty(0, dtype=np.int32)
    contexts.columns = None
    expect(feature.score(contexts, feature.start()).shape == (0,), "an empty table has scores")
    expect(feature.by_literal(contexts, none, feature.start()).shape == (2, 0), "an empty table has shares")
    expect(len(feature.blocks(contexts)) == len(maps_of(feature)), "an empty table has no blocks")


def check_transpose(feature: FeatureMap, seed: int) -> None:
    """v . expand(w) = collapse(v) . w, and for several v at once along the first axis."""
    random = np.random.default_rng(seed)
    w = random.normal(size=feature.size)
    cells = random.normal(size=(feature.expand(w).size, 3))
    expected, message = cells.T @ feature.expand(w), "`collapse` is not the transpose of `expand`"
    expect_close(feature.collapse(cells).T @ w, expected, message, tiny=1e-9)
    expect_close(feature.collapse(cells[:, 0].copy()) @ w, expected[0], message, tiny=1e-9)


def check_training(feature: FeatureMap) -> None:
    """A penalty that is symmetric and positive definite, bounds, and a start within them that is not 0."""
    low, high = feature.bounds()
    start, penalty = feature.start(), feature.penalty()
    expect(low.shape == high.shape == start.shape == (feature.size,), "bounds or start of another size")
    expect((low <= start) & (start <= high), "the start is not within the bounds")
    expect(start.any(), "the start is 0 everywhere")
    expect(penalty.shape == (feature.size, feature.size), "a penalty of another size")
    expect(penalty == penalty.T, "the penalty is not symmetric")
    expect(np.linalg.eigvalsh(penalty)[0] > 0, "the penalty is not positive definite")


def check_labels(feature: FeatureMap) -> None:
    """One label for each weight, and no two alike."""
    labels = feature.labels()
    expect(len(labels) == feature.size, f"{len(labels)} labels for {feature.size} weights")
    expect(len(set(labels)) == feature.size and all(labels), "two labels are alike, or one is empty")


def check_fitted(feature: FeatureMap, several: Iterable[TableColumns]) -> None:
    """Fitted, it has nothing left to learn, and its text parses back to a map that scores alike."""
    found = [contexts_of(columns) for columns in several]
    fitted = feature.fit_edges(iter(found))
    expect(not fitted.learns_edges, "a fitted map still learns edges")
    expect(fitted.fit_edges(found) == fitted, "fitting twice gives another map")
    expect(fitted == feature or feature.learns_edges, "fitting changes a map that learns no edges")
    parsed = [reparse(each, str(each)) for each in maps_of(fitted)]
    expect(tuple(parsed) == maps_of(fitted), f"{fitted} does not parse back to an equal map")
    for each, again in zip(maps_of(fitted), parsed, strict=True):
        _compare_scores(each, again, found)


def _compare_scores(one: FeatureMap, two: FeatureMap, tables: list[Contexts]) -> None:
    w = draw_weights(one, 7)
    for contexts in tables:
        expect(one.score(contexts, w) == two.score(contexts, w), f"{one} scores otherwise than its text")
