"""The numbers of documents through a whole index: ranks of their ids among the documents that are not deleted.

    number(d) = how many live documents of all segments have an id below d's

So a number, and with it the order of contexts, follows from the set of documents alone: not from the order in which
they came, the segments they lie in, or what was deleted and merged. Knows nothing of postings or mentions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fader.index.files import DeletedFile
from fader.index.manifest import Manifest, SegmentEntry
from fader.index.textstore import TextStore
from fader.kernel import kernel

U8 = NDArray[np.uint8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
# Bytes of all ids, where each one begins, and the order in which they ascend.
IdArrays = tuple[U8, Any, I32]


class Numbered(Protocol):
    """Documents that have ids, of which some may be deleted."""

    @property
    def documents(self) -> int: ...

    @property
    def text(self) -> TextStore: ...

    @property
    def alive(self) -> U8 | None: ...


class SegmentIds:
    """The ids of a segment whose other files stay closed."""

    def __init__(self, folder: Path, entry: SegmentEntry) -> None:
        self.documents = entry.documents
        self.text = TextStore(folder / f"{entry.name}.text", entry.files.text)
        deleted = DeletedFile.open(folder, entry)
        self.alive = None if deleted is None else deleted.mark_alive(self.documents)


def read_starts(folder: str | Path, manifest: Manifest) -> list[int]:
    """`find_starts` of all segments of a commit."""
    return find_starts([SegmentIds(Path(folder), entry) for entry in manifest.segments])


def number_documents(segments: Sequence[Numbered]) -> list[I32]:
    """For each segment the numbers of its documents, -1 for a deleted one.

    Only segments whose ranges of ids overlap are compared; the others' numbers follow from how many come before.
    """
    found, before = [np.empty(0, dtype=np.int32)] * len(segments), 0
    for clump in _group_overlapping(segments):
        some = [segments[s] for s in clump]
        for s, number in zip(clump, _number_together(some), strict=True):
            found[s] = number if not before else np.where(number >= 0, number + np.int32(before), np.int32(-1))
        before += sum(_count_live(segment) for segment in some)
    return found


def find_starts(segments: Sequence[Numbered]) -> list[int]:
    """The number of each segment's first document that is not deleted; -1 where its ids overlap another segment's.

    With it `number_from` numbers the documents of a segment without the ids of the others.
    """
    found, before = [-1] * len(segments), 0
    for clump in _group_overlapping(segments):
        if len(clump) == 1:
            found[clump[0]] = before
        before += sum(_count_live(segments[s]) for s in clump)
    return found


def number_from(segment: Numbered, start: int) -> I32:
    """The numbers of a segment's documents, of which the first has the number `start`; -1 for a deleted one."""
    alive = _alive(segment)
    return _in_local_order(segment, np.where(alive > 0, np.cumsum(alive) - alive + start, -1))


def _group_overlapping(segments: Sequence[Numbered]) -> list[list[int]]:
    """Segments whose ranges of ids overlap, together, and all such clumps in the order of ids."""
    ranges = []
    for s, segment in enumerate(segments):
        if segment.documents:
            ids, order = segment.text.ids, segment.text.id_order
            ranges.append((ids[int(order[0])], ids[int(order[-1])], s))
    found = [[s] for s, segment in enumerate(segments) if not segment.documents]
    last: str | None = None
    for first, end, s in sorted(ranges):
        if last is not None and first <= last:
            found[-1].append(s)
        else:
            found.append([s])
        last = end if last is None else max(last, end)
    return found


def _count_live(segment: Numbered) -> int:
    return segment.documents if segment.alive is None else int(np.count_nonzero(segment.alive))


def _number_together(segments: Sequence[Numbered]) -> list[I32]:
    """Numbers through some segments, from 0 on."""
    if len(segments) == 1:
        return [number_from(segments[0], 0)]
    alive = [_alive(segment) for segment in segments]
    below = [np.cumsum(a) - a for a in alive]
    for a, b in combinations(range(len(segments)), 2):
        few, many = (a, b) if segments[a].documents <= segments[b].documents else (b, a)
        place = _places(*ids_of(segments[few]), *ids_of(segments[many]))
        live_many = np.concatenate([[0], np.cumsum(alive[many])])
        below[few] += live_many[place]
        at_or_before = np.cumsum(np.bincount(place[alive[few] > 0], minlength=segments[many].documents + 1))
        below[many] += at_or_before[: segments[many].documents]
    return [_in_local_order(s, np.where(a > 0, n, -1)) for s, a, n in zip(segments, alive, below, strict=True)]


def is_identity(segments: Sequence[Numbered]) -> bool:
    """Whether local numbers are the numbers already: one segment in order, with nothing deleted."""
    return len(segments) == 1 and segments[0].alive is None and segments[0].text.in_order


def _alive(segment: Numbered) -> I64:
    """1 for each document that is not deleted, in the order of ids."""
    alive = np.ones(segment.documents, dtype=np.int64) if segment.alive is None else segment.alive.astype(np.int64)
    return alive[segment.text.id_order]


def ids_of(segment: Numbered) -> IdArrays:
    """The ids of a segment's documents."""
    return (*segment.text.ids.arrays, segment.text.id_order)


def sort_ids(ids: Iterable[str]) -> tuple[list[str], IdArrays]:
    """Ids in order, each once; as texts and as the arrays that searching wants."""
    ordered = sorted(set(ids))
    encoded = [text.encode("utf-8", "surrogatepass") for text in ordered]
    at = np.zeros(len(encoded) + 1, dtype=np.uint64)
    np.cumsum([len(e) for e in encoded], out=at[1:])
    return ordered, (np.frombuffer(b"".join(encoded), dtype=np.uint8), at, np.arange(len(encoded), dtype=np.int32))


def find_ids(segment: Numbered, ids: IdArrays) -> I32:
    """For each id, in order, the document of a segment that has it and is not deleted; -1 where there is none."""
    own = ids_of(segment)
    document: I32 = _equal(_places(*ids, *own), *ids, *own)
    if segment.alive is not None:
        document[(document >= 0) & (segment.alive[document] == 0)] = -1
    return document


def _in_local_order(segment: Numbered, by_id: I64) -> I32:
    out = np.empty(by_id.size, dtype=np.int32)
    out[segment.text.id_order] = by_id
    return out


@kernel
def _is_below(a: U8, a_at: Any, i: int, b: U8, b_at: Any, j: int) -> bool:
    """Whether string i of a comes before string j of b, by bytes."""
    p, p_end = np.int64(a_at[i]), np.int64(a_at[i + 1])
    q, q_end = np.int64(b_at[j]), np.int64(b_at[j + 1])
    while p < p_end and q < q_end:
        if a[p] != b[q]:
            return bool(a[p] < b[q])
        p += 1
        q += 1
    return bool(q < q_end)


@kernel
def _places(a: U8, a_at: Any, a_order: I32, b: U8, b_at: Any, b_order: I32) -> I64:
    """For each string of a, in order, how many of b are below it; steps through b double until one is not."""
    out = np.empty(a_order.size, dtype=np.int64)
    n, low = b_order.size, 0
    for i in range(a_order.size):
        step, high = 1, low
        while high < n and _is_below(b, b_at, b_order[high], a, a_at, a_order[i]):
            low = high + 1
            high += step
            step *= 2
        high = min(high, n)
        while low < high:
            middle = (low + high) >> 1
            if _is_below(b, b_at, b_order[middle], a, a_at, a_order[i]):
                low = middle + 1
            else:
                high = middle
        out[i] = low
    return out


@kernel
def _equal(place: I64, a: U8, a_at: Any, a_order: I32, b: U8, b_at: Any, b_order: I32) -> I32:
    """Which string of b is equal to each one of a, given how many are below; -1 where none is."""
    out = np.full(a_order.size, -1, dtype=np.int32)
    for i in range(a_order.size):
        if place[i] < b_order.size and not _is_below(a, a_at, a_order[i], b, b_at, b_order[place[i]]):
            out[i] = b_order[place[i]]
    return out
