"""Bucket files: the lines of a piece by shard, which tasks that build shards read.

    file  := block*
    block := zstandard frame with a checksum of: count:u32, span:u32[count], number:u64[count], lines joined by newlines

A piece is processed in *runs* of bounded size, so memory does not grow with it. A run has one block per shard that has
lines in it, in corpus order. The journal entry of the piece keeps the sizes of the blocks, by run and shard, and so
their places. The shard of a document follows from its id: shards are ranges of ids. Knows nothing else of documents.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import BinaryIO

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from fader.corpus.readers import LongLine, without_mark
from fader.errors import DamagedError

RUN_BYTES = 64 << 20
LEVEL = 1
LINE_BYTES = 160  # memory of a line besides its text
Run = list[int]  # bytes of the block per shard, 0 where there is none


class _Identified(msgspec.Struct, gc=False):
    """A corpus line, of which only the id is decoded."""

    id: str | int | None = None


_decode = msgspec.json.Decoder(_Identified).decode


def id_of(line: bytes, number: int) -> str | None:
    """The id in a corpus line; None where it cannot be decoded."""
    if isinstance(line, LongLine):
        return None
    try:
        found = _decode(without_mark(line, number)).id
        return "" if found is None else str(found)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def shard_of(identifier: str, splitters: Sequence[str]) -> int:
    """The shard of an id; a splitter is the first id of the next shard."""
    return bisect_right(splitters, identifier)


def splitters_of(samples: Iterable[tuple[str, float]], shards: int) -> list[str]:
    """Ids that divide weighted samples into `shards` parts of about equal weight; fewer if there are few ids."""
    ordered = sorted(samples)
    total = sum(weight for _id, weight in ordered)
    found: list[str] = []
    reached, part = 0.0, 1
    for identifier, weight in ordered:
        if part < shards and reached >= part * total / shards:
            if (not found or identifier > found[-1]) and identifier > ordered[0][0]:
                found.append(identifier)
            while part < shards and reached >= part * total / shards:
                part += 1
        reached += weight
    return found


class BucketWriter:
    """Writes the bucket file of a piece, run by run."""

    def __init__(self, file: BinaryIO, splitters: Sequence[str], run_bytes: int = RUN_BYTES) -> None:
        self._file, self._splitters, self._most = file, splitters, run_bytes
        self._shards: dict[int, list[tuple[int, int, bytes]]] = {}
        self._held = 0
        self.runs: list[Run] = []

    def add(self, identifier: str, span: int, number: int, line: bytes) -> None:
        """Add a line to the shard of its id."""
        self._shards.setdefault(shard_of(identifier, self._splitters), []).append((span, number, line))
        self._held += len(line) + LINE_BYTES
        if self._held >= self._most:
            self.flush()

    def flush(self) -> None:
        """Write the collected lines as one run."""
        if not self._shards:
            return
        sizes = [0] * (len(self._splitters) + 1)
        for shard in sorted(self._shards):
            sizes[shard] = self._file.write(pack_lines(self._shards.pop(shard)))
        self.runs.append(sizes)
        self._held = 0


def pack_lines(lines: Sequence[tuple[int, int, bytes]]) -> bytes:
    """Pack lines, with their spans and numbers, into a block."""
    spans = np.array([one[0] for one in lines], dtype="<u4").tobytes()
    numbers = np.array([one[1] for one in lines], dtype="<u8").tobytes()
    raw = len(lines).to_bytes(4, "little") + spans + numbers + b"\n".join(one[2] for one in lines)
    return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(raw)


def unpack_lines(block: bytes, name: str) -> Iterator[tuple[int, int, bytes]]:
    """The lines of a block; `name` is the file name for errors."""
    try:
        raw = zstandard.ZstdDecompressor().decompress(block)
        count = int.from_bytes(raw[:4], "little")
        head = 4 + 12 * count
        spans = np.frombuffer(raw, "<u4", count, 4)
        numbers = np.frombuffer(raw, "<u8", count, 4 + 4 * count)
        lines = raw[head:].split(b"\n") if count else []
    except (zstandard.ZstdError, ValueError) as error:
        raise DamagedError(f"{name}: is damaged ({error}); run the build with --restart") from None
    if len(lines) != count:
        raise DamagedError(f"{name}: has {len(lines)} lines where {count} were written; build with --restart")
    yield from zip(spans.tolist(), numbers.tolist(), lines, strict=True)


class Blocks:
    """The places of the blocks of all pieces, as arrays, since there are runs x shards of them."""

    def __init__(self) -> None:
        self._pieces: dict[int, tuple[int, NDArray[np.int64]]] = {}  # shards, and the ends of blocks after a 0

    def add(self, piece: int, runs: Sequence[Run] | NDArray[np.int64]) -> None:
        """Add the runs of a piece."""
        sizes = np.asarray(runs, dtype=np.int64)
        if len(sizes):
            self._pieces[piece] = sizes.shape[1], np.concatenate(([0], np.cumsum(sizes)))

    def of(self, shard: int) -> bytes:
        """The blocks of a shard in corpus order, for `read_blocks`."""
        rows = []
        for piece in sorted(self._pieces):
            shards, ends = self._pieces[piece]
            starts = ends[shard:-1:shards]
            sizes = ends[shard + 1 :: shards] - starts
            there = sizes > 0
            rows.append(np.column_stack((np.full(there.sum(), piece), starts[there], sizes[there])))
        return np.concatenate(rows).astype("<i8").tobytes() if rows else b""


def read_blocks(blocks: bytes) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """The blocks of a shard per piece: first byte, and size."""
    rows = np.frombuffer(blocks, "<i8").reshape(-1, 3).tolist()
    for piece, own in groupby(rows, key=itemgetter(0)):
        yield piece, [(at, size) for _piece, at, size in own]
