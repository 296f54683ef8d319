"""Some candidates of a query, or some of their contexts, out of what learners keep of it.

Learners need not see every one of thousands of bad candidates. Knows arrays and offsets, nothing of what is learned.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fader.features.base import Block, Codes, Columns
from fader.learn.dataset import QueryData
from fader.measures import Judgments

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


def within(at: I64, places: I64) -> tuple[I64, I64]:
    """What lies in `at[p]:at[p+1]` for some places p, laid end to end, and where each one's begins then."""
    size = at[places + 1] - at[places]
    offsets = np.zeros(places.size + 1, dtype=np.int64)
    np.cumsum(size, out=offsets[1:])
    return np.repeat(at[places] - offsets[:-1], size) + np.arange(offsets[-1]), offsets


def some_rows(block: Block, rows: I64) -> Block:
    """A block of some rows; it keeps no more shared values than rows."""
    if isinstance(block, Codes):
        return Codes(np.ascontiguousarray(block.codes[rows]), block.scale, block.cells)
    if rows.size < block.values.shape[0]:
        return Columns(np.ascontiguousarray(block.values[block.row[rows]]), np.arange(rows.size, dtype=np.int32))
    return Columns(block.values, block.row[rows])


def some_groups(query: QueryData, groups: I64, at: I64, judgments: Judgments) -> QueryData:
    """The query with some groups of mentions only, of which candidate i has `at[i]:at[i+1]`."""
    rows, group_at = within(query.group_at, groups)
    chosen = None if query.chosen is None else query.chosen[rows]
    blocks = tuple(some_rows(block, rows) for block in query.blocks)
    return replace(query, at=at, group_at=group_at, blocks=blocks, judgments=judgments, chosen=chosen)


def seed_of(entity: I32, seed: int) -> list[int]:
    """The seed of a query, by its candidates: draws do not depend on which other queries are there."""
    return [seed, entity.size, int(entity.sum(dtype=np.uint64) & np.uint64(0xFFFFFFFF))]
