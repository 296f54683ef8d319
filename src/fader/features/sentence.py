"""Sentence: what stands in the sentence of the mention, and where the mention stands among the candidates in it.

    same          sum of perplexity(t) over the literals that begin in the sentence in which the mention begins
    neighbouring  the same for this sentence and those before and behind it
    opening       1 in the document's first sentence
    first, last   1 for the first, or the last, mention of a candidate in the sentence
    candidates    ln(mentions of candidates in the sentence)

Golden case: `red wine. e, f` for `red wine` of equal IDF: e has 0, 1, 0, 1, 0, ln 2. Knows nothing of distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.table import Contexts
from fader.features.base import F64, I32
from fader.features.family import ColumnFamily, sort_rows
from fader.features.occurring import find_first
from fader.kernel import kernel

I64 = NDArray[np.int64]
FAR = np.int32(2**31 - 1)


@kernel
def _add_shares(
    start: I32, row: I32, at: I64, begin: I32, found_at: I64, place: I32, share: F64, number: I64, out: F64
) -> None:
    """`begin[at[j]:at[j+1]]` are the sentences of document j; `number[x]` becomes the place of the mention's."""
    for x in range(start.size):
        a, b = at[row[x]], at[row[x] + 1]
        own = find_first(begin, a, b, start[x] + 1) - 1
        number[x] = own
        before = max(a, own - 1)
        low, high = begin[own], (begin[own + 1] if own + 1 < b else FAR)
        widest = begin[own + 2] if own + 2 < b else FAR
        for t in range(share.size):
            i, end = found_at[t, row[x]], found_at[t, row[x] + 1]
            k = find_first(place, i, end, low)
            if k < end and place[k] < high:
                out[x, 0] += share[t]
            k = find_first(place, i, end, begin[before])
            if k < end and place[k] < widest:
                out[x, 1] += share[t]
        out[x, 2] = own == a


@dataclass(frozen=True)
class Sentence(ColumnFamily):
    """The mention's own sentence."""

    name: ClassVar[str] = "sentence"
    columns: ClassVar[tuple[str, ...]] = ("same", "neighbouring", "opening", "first", "last", "candidates")

    def compute(self, contexts: Contexts) -> F64:
        sentences, positions, row = contexts.sentences, contexts.positions, contexts.documents.row
        share, out = contexts.statistics.perplexity(), np.zeros((len(contexts), self.size))
        number = np.empty(len(contexts), dtype=np.int64)
        lists = sentences.at, sentences.start, positions.at, positions.start, share
        for a, b in budget.chunks(len(contexts), weight=8 * share.size):
            _add_shares(contexts.start[a:b], row[a:b], *lists, number[a:b], out[a:b])
        order, _at = sort_rows(contexts)  # so that those of a sentence stand together
        opens = np.diff(number[order], prepend=-1) != 0
        group, start = np.cumsum(opens) - 1, contexts.start[order]
        # Several mentions may begin at one token; each of them is then the first, or the last.
        out[order, 3] = start == start[opens][group]
        out[order, 4] = start == start[np.append(opens[1:], True)][group] if start.size else 0
        out[order, 5] = np.log(np.bincount(group))[group]
        return out
