"""What must hold among the files of a segment before kernels may use them: checked whenever a segment is opened.

    documents  lie end to end, and `cell` finds them
    mentions   sorted, each inside its document and of an entity that exists; `mentions_at` finds them
    deleted    documents with the tokens and mentions that the commit counts

Together with the shapes of arrays (`encoding.shapes`) and the bounds of lists, which are checked when one is decoded
(`encoding.lists`), this is all that kernels rely on. It takes one pass over the mentions and a few over the documents.
That answers are right is more: `verify` checks it. Knows nothing of terms, types or texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.index.encoding.lists import HIGHEST
from fader.index.encoding.packed import Packed, get
from fader.index.encoding.shapes import check_array, damage_error
from fader.index.format import Container
from fader.index.manifest import SegmentEntry
from fader.kernel import kernel

I32 = NDArray[np.int32]
CELL_BITS = 8
MOST_POSITIONS = int(HIGHEST) >> 1
UNSIGNED = ("u1", "u2", "u4", "u8")


def check_documents(c: Container, segment: SegmentEntry) -> tuple[I32, I32]:
    """Documents lie end to end, one empty position behind each, and cells say where."""
    documents, tokens = segment.documents, segment.tokens
    base = check_array(c, "base", "i4", size=documents + 1)
    if base[0] != 0 or (base[1:] <= base[:-1]).any() or base[-1] != documents + tokens:
        raise damage_error(c, "documents do not lie end to end")
    if base[-1] > MOST_POSITIONS:
        raise damage_error(c, f"{base[-1]} positions are more than {MOST_POSITIONS}")
    cells = (int(base[-1]) >> CELL_BITS) + 2
    cell = check_array(c, "cell", "i4", size=cells)
    last = max(0, documents - 1)
    if cell.min() < 0 or cell.max() > last:
        raise damage_error(c, "'cell' names documents that are not there")
    first = np.arange(cells, dtype=np.int64) << CELL_BITS
    ends = base[np.minimum(cell + 1, documents)]
    if (base[cell] > first).any() or ((ends <= first) & (cell < last)).any():
        raise damage_error(c, "'cell' does not say in which documents positions are")
    return base, cell


def check_mentions(
    c: Container, columns: tuple[Packed, ...], confidences: int, base: I32, ends: I32, entities: int
) -> None:
    """Mentions, given as packed starts, lengths, documents, entities and confidences."""
    wrong = _find_wrong_mention(columns[0].rows, base, ends, tuple(p.arrays for p in columns), confidences, entities)
    if wrong >= 0:
        raise damage_error(c, f"mention {wrong} is not sorted, not in its document, or of something that is not there")


def check_buried(c: Container, segment: SegmentEntry, documents: I32, base: I32, ends: I32) -> None:
    """Deleted documents have the tokens and mentions that the commit says."""
    tokens = int((base[documents + 1] - base[documents] - 1).sum(dtype=np.int64))
    mentions = int((ends[documents + 1] - ends[documents]).sum(dtype=np.int64))
    if (tokens, mentions) != (segment.buried.tokens, segment.buried.mentions):
        raise damage_error(c, f"{tokens} tokens and {mentions} mentions are deleted, not as many as the commit says")


@kernel
def _find_wrong_mention(rows: int, base: I32, ends: I32, columns: Any, confidences: int, entities: int) -> int:
    """The first mention that is not sorted or leaves its bounds, -1 if there is none."""
    s_base, s_at, s_words = columns[0]
    l_base, l_at, l_words = columns[1]
    d_base, d_at, d_words = columns[2]
    e_base, e_at, e_words = columns[3]
    c_base, c_at, c_words = columns[4]
    s_before, l_before, e_before, d_before = np.int64(-1), np.int64(-1), np.int64(-1), np.int64(0)
    for row in range(rows):
        start, length = np.int64(get(s_base, s_at, s_words, row)), np.int64(get(l_base, l_at, l_words, row))
        d, e = np.int64(get(d_base, d_at, d_words, row)), np.int64(get(e_base, e_at, e_words, row))
        confidence = np.int64(get(c_base, c_at, c_words, row))
        if d < d_before or d >= base.size - 1 or not ends[d] <= row < ends[d + 1]:
            return row
        if length < 1 or start < base[d] or start + length >= base[d + 1]:
            return row
        if not 0 <= e < entities or not 0 <= confidence < confidences:
            return row
        if start < s_before or (start == s_before and length < l_before):
            return row
        if start == s_before and length == l_before and e < e_before:
            return row
        s_before, l_before, e_before, d_before = start, length, e, d
    return -1
