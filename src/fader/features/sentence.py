"""Sentence: what stands in the sentence of the mention, and where the mention stands among the candidates in it.

    same          sum of perplexity(t) over the literals that begin in the sentence in which the mention begins
    neighbouring  the same for this sentence and those before and behind it
    opening       1 in the document's first sentence
    first, last   1 for the first, or the last, mention of a candidate in the sentence
    candidates    ln(mentions of candidates in the sentence)

Golden case: `red wine. e, f` for `red wine` of equal IDF: e has 0, 1, 0, 1, 0, ln 2. Knows nothing of distances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.table import Contexts
from fader.features.base import F64, I32
from fader.features.family import ColumnFamily
from fader.features.occurring import find_first
from fader.kernel import kernel

I64 = NDArray[np.int64]
FAR = np.int32(2**31 - 1)


@kernel
def _add_shares(
    start: I32,
    row: I32,
    at: I64,
    begin: I32,
    found_at: I64,
    place: I32,
    share: F64,
    beside_at: I64,
    beside: I32,
    out: F64,
) -> None:
    """`begin[at[j]:at[j+1]]` are the sentences of document j, `beside` the first tokens of all candidates in it."""
    for x in range(start.size):
        a, b = at[row[x]], at[row[x] + 1]
        own = find_first(begin, a, b, start[x] + 1) - 1
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
        out[x, 2] = 1.0 if own == a else 0.0
        i, end = beside_at[row[x]], beside_at[row[x] + 1]
        i = find_first(beside, i, end, low)
        end = find_first(beside, i, end, high)
        # Several mentions may begin at one token; each of them is then the first, or the last.
        out[x, 3] = 1.0 if beside[i] == start[x] else 0.0
        out[x, 4] = 1.0 if beside[end - 1] == start[x] else 0.0
        out[x, 5] = math.log(end - i)


@dataclass(frozen=True)
class Sentence(ColumnFamily):
    """The mention's own sentence."""

    name: ClassVar[str] = "sentence"
    columns: ClassVar[tuple[str, ...]] = ("same", "neighbouring", "opening", "first", "last", "candidates")

    def compute(self, contexts: Contexts) -> F64:
        sentences, positions, row = contexts.sentences, contexts.positions, contexts.documents.row
        share, beside = contexts.statistics.perplexity(), contexts.companions
        out = np.zeros((len(contexts), self.size))
        lists = sentences.at, sentences.start, positions.at, positions.start, share, beside.at, beside.start
        for a, b in budget.chunks(len(contexts), weight=8 * share.size):
            _add_shares(contexts.start[a:b], row[a:b], *lists, out[a:b])
        return out
