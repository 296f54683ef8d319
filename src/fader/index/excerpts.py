"""Pieces of stored texts that hold some tokens: what a snippet is cut from, without the rest of the text.

A piece begins where a sampled token does, or with the text, and ends where one does, or with the text. So its tokens
are whole, and the number of its first one is known. Pieces of a text that touch each other are one. Where a text has no
samples, or was indexed in another Unicode, its one piece is the whole text. Knows nothing of queries or snippets.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.errors import DamagedError
from fader.index.encoding.packed import get
from fader.index.segment import Segment
from fader.index.textstore import TextStore
from fader.index.tokensamples import EVERY, EVERY_BITS
from fader.kernel import kernel

I64 = NDArray[np.int64]
UNKNOWN = -1


class Wanted(NamedTuple):
    """Tokens [first[i], last[i]), those of document d for i from at[d] to at[d+1]."""

    at: I64
    first: I64
    last: I64


class Head(NamedTuple):
    """What is shown of a document beside its text."""

    id: str
    title: str
    url: str


NO_HEAD = Head("", "", "")


@dataclass(frozen=True, slots=True)
class Excerpts:
    """Pieces laid end to end: piece p is `data[at[p]:at[p+1]]`, in UTF-8.

    Its first token has the number `token[p]` in its text, its first byte is of the character `character[p]`.
    `piece[i]` is the piece with the tokens i that were wanted. `tokens[d]` counts those of a text; it is UNKNOWN where
    the piece is the whole text.
    """

    data: bytes
    at: I64
    token: I64
    character: I64
    piece: I64
    tokens: I64

    @classmethod
    def of_texts(cls, texts: Sequence[bytes], wanted: Wanted) -> Excerpts:
        """Whole texts."""
        nothing = np.zeros(len(texts), dtype=np.int64)
        at = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
        piece = np.repeat(np.arange(len(texts)), np.diff(wanted.at))
        return cls(b"".join(texts), at, nothing, nothing, piece, np.full(len(texts), UNKNOWN, dtype=np.int64))


@kernel
def _find_sample(k: int, row: int, samples: Any) -> Any:
    """Character and byte, within its text, of token 64 k of a text; -1 for the byte where the text has none such."""
    (a_base, a_at, a_words), (c_base, c_at, c_words), (e_base, e_at, e_words) = samples
    begin, end = get(a_base, a_at, a_words, row), get(a_base, a_at, a_words, row + 1)
    if k > end - begin:
        return np.int64(0), np.int64(-1)
    i = begin + k - 1
    character = np.int64(get(c_base, c_at, c_words, i))
    return character, character + np.int64(get(e_base, e_at, e_words, i))


@kernel
def _plan(documents: I64, row: I64, wanted: Any, document_at: Any, samples: Any, piece: I64, out: I64, n: int) -> int:
    """The pieces of some texts behind the first n: returns how many there are then, or -1 where samples are damaged.

    Of each piece `out` has its first and last byte, its first token and that one's character; those of a text are laid
    in the order of their first bytes.
    """
    at, first, last = wanted
    for j in range(documents.size):
        d, r, own = documents[j], row[j], n
        begin, end = np.int64(document_at[r]), np.int64(document_at[r + 1])
        for i in range(at[d], at[d + 1]):
            k = first[i] >> EVERY_BITS
            character, low = np.int64(0), np.int64(0)
            if k > 0:
                character, low = _find_sample(k, r, samples)
            _character, high = _find_sample((last[i] + EVERY - 1) >> EVERY_BITS, r, samples)
            if high < 0:
                high = end - begin
            if low < 0 or low > high or high > end - begin:
                return -1
            p = n
            while p > own and out[p - 1, 0] > begin + low:
                for c in range(4):  # a copy of a row takes two seconds to compile
                    out[p, c] = out[p - 1, c]
                p -= 1
            out[p, 0], out[p, 1], out[p, 2], out[p, 3] = begin + low, begin + high, k << EVERY_BITS, character
            n += 1
        kept = own
        for p in range(own + 1, n):
            if out[p, 0] <= out[kept, 1]:
                out[kept, 1] = max(out[kept, 1], out[p, 1])
            else:
                kept += 1
                for c in range(4):
                    out[kept, c] = out[p, c]
        n = min(n, kept + 1)
        for i in range(at[d], at[d + 1]):
            p = n - 1
            while p > own and out[p, 2] > first[i]:
                p -= 1
            piece[i] = p
    return n


def read_excerpts(places: Sequence[tuple[Segment, int]], wanted: Wanted, unicode: str) -> tuple[Excerpts, list[Head]]:
    """Pieces with the tokens that are wanted of some documents, given by segment and number in it, and their heads.

    `unicode` is the version that they were indexed in.
    """
    n, data, heads = 0, [], [NO_HEAD] * len(places)
    piece, out = np.zeros(wanted.first.size, dtype=np.int64), np.empty((wanted.first.size + len(places), 4), np.int64)
    tokens = np.full(len(places), UNKNOWN, dtype=np.int64)
    for segment, documents in _group(places):
        local = np.array([places[d][1] for d in documents], dtype=np.int64)
        store, before = segment.text, n
        rows = store.row[local].astype(np.int64)
        if store.samples is None or unicode != unicodedata.unidata_version:
            for d, row in zip(documents, rows.tolist(), strict=True):
                out[n] = (*store.bounds(row), 0, 0)
                piece[wanted.at[d] : wanted.at[d + 1]] = n
                n += 1
        else:
            tokens[documents] = segment.base[local + 1] - segment.base[local] - 1
            n = _plan(np.array(documents), rows, wanted, store.document_at, store.samples.arrays, piece, out, n)
            if n < 0:
                raise DamagedError(
                    f"{store.container.path}: samples of its tokens leave their texts; rebuild the index"
                )
        data += _read(store, out[before:n, :2].tolist())
        columns = zip(store.ids.take(local), store.titles.take(local), store.urls.take(local), strict=True)
        for d, head in zip(documents, columns, strict=True):
            heads[d] = Head(*head)
    begin, end, token, character = np.ascontiguousarray(out[:n].T)
    at = np.zeros(n + 1, dtype=np.int64)
    (end - begin).cumsum(out=at[1:])
    return Excerpts(b"".join(data), at, token, character, piece, tokens), heads


def _group(places: Sequence[tuple[Segment, int]]) -> Iterable[tuple[Segment, list[int]]]:
    """The segments that are read, and which of the documents each has."""
    if places and all(segment is places[0][0] for segment, _local in places):
        return [(places[0][0], [*range(len(places))])]
    found: dict[int, tuple[Segment, list[int]]] = {}
    for d, (segment, _local) in enumerate(places):
        found.setdefault(id(segment), (segment, []))[1].append(d)
    return found.values()


def _read(store: TextStore, pieces: list[list[int]]) -> list[bytes]:
    budget.check()
    return [store.read_bytes(start, end) for start, end in pieces]
