"""Mentions as JSON, written by a kernel: a text of a thousand mentions costs no thousand objects.

    {"start":0,"end":11,"entity":"curie","confidence":0.9},...

Confidences have three decimals at most. Knows nothing of documents.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from fader.arrays import I32, I64, U8
from fader.corpora.annotate.annotator import AnnotatedColumns, thousandths
from fader.corpora.annotate.dictionary import Dictionary
from fader.kernel import inline_kernel, kernel

MOST_BYTES = 80  # of a mention, beside its entity's id
BLOCK = 256  # mentions whose entities' ids are fetched together
_START, _END, _ENTITY, _CONFIDENCE = (
    np.frombuffer(text, dtype=np.uint8) for text in (b'{"start":', b',"end":', b',"entity":', b',"confidence":')
)


class _Mentions(NamedTuple):
    """Start, end, where the entity's id begins and ends, thousandths of confidence; the end of each text's mentions."""

    start: I32
    end: I32
    id_first: I64
    id_last: I64
    confidence: I64
    text_ends: I64


def write_mentions(found: AnnotatedColumns, dictionary: Dictionary) -> list[memoryview]:
    """Per text its mentions as JSON objects with commas between."""
    first, last = dictionary.id_starts[found.entity], dictionary.id_starts[found.entity + 1]
    out = np.empty(int((last - first).sum()) + MOST_BYTES * first.size, dtype=np.uint8)
    ends = np.zeros(found.ends.size, dtype=np.int64)
    confidence = thousandths(found.confidence)
    mentions = _Mentions(found.start, found.end, first, last, confidence, found.ends)
    _write(mentions, dictionary.id_arena, out, ends)
    data, bounds = out.data, [0, *ends.tolist()]
    return [data[a : max(a, b - 1)] for a, b in itertools.pairwise(bounds)]


@inline_kernel
def _copy(text: U8, a: int, b: int, out: U8, n: int) -> int:
    for i in range(a, b):
        out[n + i - a] = text[i]
    return n + b - a


@inline_kernel
def _digits(value: int, out: U8, n: int) -> int:
    size, rest = 1, value // 10
    while rest > 0:
        rest //= 10
        size += 1
    for i in range(size - 1, -1, -1):
        out[n + i] = 48 + value % 10
        value //= 10
    return n + size


@inline_kernel
def _decimal(value: int, out: U8, n: int) -> int:
    """Thousandths as a number: three decimals, without zeros at the end but one decimal at least."""
    n = _digits(value // 1000, out, n)
    out[n] = 46  # the point
    n += 1
    rest, unit = value % 1000, 100
    while True:
        out[n] = 48 + rest // unit
        n += 1
        rest %= unit
        unit //= 10
        if rest == 0:
            break
    return n


@kernel
def _write(mentions: _Mentions, ids: U8, out: U8, ends: I64) -> int:
    """Fills `out`, and per text the end of its mentions there; each mention ends with a comma."""
    id_first, text_ends, size = mentions.id_first, mentions.text_ends, mentions.start.size
    n, d, touched = 0, 0, np.uint8(0)
    for begin in range(0, size, BLOCK):
        stop = min(begin + BLOCK, size)
        for m in range(begin, stop):  # a loop of its own, because its waits for memory overlap
            touched ^= ids[id_first[m]]
        for m in range(begin, stop):
            while text_ends[d] == m:
                ends[d] = n
                d += 1
            n = _copy(_START, 0, _START.size, out, n)
            n = _digits(np.uint32(mentions.start[m]), out, n)
            n = _copy(_END, 0, _END.size, out, n)
            n = _digits(np.uint32(mentions.end[m]), out, n)
            n = _copy(_ENTITY, 0, _ENTITY.size, out, n)
            n = _copy(ids, id_first[m], mentions.id_last[m], out, n)
            n = _copy(_CONFIDENCE, 0, _CONFIDENCE.size, out, n)
            n = _decimal(np.uint32(mentions.confidence[m]), out, n)
            out[n] = 125
            out[n + 1] = 44
            n += 2
    ends[d:] = n
    return int(touched)
