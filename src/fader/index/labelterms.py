"""The terms of many short strings, such as titles or names, and which of them some literals have.

Only the first 64 tokens of a string count. Knows nothing of what the strings name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.arrays import I32, I64, U8
from fader.corpus.analysis import Analysis
from fader.corpus.tokenise import RawVocabulary
from fader.kernel import kernel

TOGETHER = 1 << 14  # strings that are tokenised together
MOST = 64


class LabelMatches(NamedTuple):
    """Per string its different terms, how many of them some literal has, and which literals it has all terms of."""

    terms: I32
    hits: I32
    has: U8  # (literals, strings)


class LabelTerms:
    """The terms of strings `data[at[i]:at[i+1]]`."""

    def __init__(self, data: U8, at: NDArray[np.integer], analysis: Analysis) -> None:
        vocabulary, raw, size = RawVocabulary(), [np.empty(0, dtype=np.int32)], [np.zeros(1, dtype=np.int64)]
        for first in range(0, at.size - 1, TOGETHER):
            ends = at[first : first + TOGETHER + 1].astype(np.int64)
            tokens = vocabulary.tokenise(data[ends[0] : ends[-1]], ends[1:] - ends[0])
            raw.append(tokens.raw.copy())
            size.append(np.diff(tokens.ends, prepend=0))
        self._numbers: dict[str, int] = {}
        terms = [analysis.term(run.decode("utf-8")) for run in vocabulary.runs()]
        number = [-1 if t is None else self._numbers.setdefault(t, len(self._numbers)) for t in terms]
        self._term = np.array([*number, -1], dtype=np.int32)[np.concatenate(raw)]
        self._at = np.cumsum(np.concatenate(size))

    def match(self, strings: I32, literals: Sequence[Sequence[str]]) -> LabelMatches:
        """What some of the strings have of literals, given as terms."""
        at = np.cumsum([0, *map(len, literals)])
        wanted = np.array([self._numbers.get(t, -2) for terms in literals for t in terms], dtype=np.int32)
        terms, hits = np.zeros((2, strings.size), dtype=np.int32)
        has = np.zeros((len(literals), strings.size), dtype=np.uint8)
        for a, b in budget.chunks(strings.size, weight=32):
            own = np.ascontiguousarray(has[:, a:b])  # in another layout the kernel would be compiled again
            _match(strings[a:b], self._at, self._term, at, wanted, terms[a:b], hits[a:b], own)
            has[:, a:b] = own
        return LabelMatches(terms, hits, has)


@kernel
def _match(strings: I32, at: I64, term: I32, literal_at: I64, wanted: I32, terms: I32, hits: I32, has: U8) -> None:
    found = np.zeros(wanted.size, dtype=np.uint8)
    for i in range(strings.size):
        begin = at[strings[i]]
        end = min(at[strings[i] + 1], begin + MOST)
        found[:] = 0
        for j in range(begin, end):
            is_new = term[j] >= 0
            for k in range(begin, j):
                is_new = is_new and term[k] != term[j]
            if not is_new:
                continue
            terms[i] += 1
            is_hit = False
            for k in range(wanted.size):
                if wanted[k] == term[j]:
                    found[k] = 1
                    is_hit = True
            hits[i] += is_hit
        for t in range(literal_at.size - 1):
            whole = literal_at[t + 1] > literal_at[t]
            for k in range(literal_at[t], literal_at[t + 1]):
                whole = whole and found[k] == 1
            has[t, i] = whole
