"""Annotations on disk, found by the id of their document, in bounded memory.

    lines.bin                        the lines of all documents, in the order they came
    hash.bin, first.bin, size.bin,   per group of lines the hash of the id (sorted), its first byte, its bytes, and how
    count.bin                        many lines they are

While it is made, rows lie in 256 parts by the first byte of the hash, and one part at a time is sorted: memory is
24 bytes for each 256th document. A document may have several groups. A line begins with the document's id and a tab,
so that two ids of one hash are distinguished. Knows nothing of what else the lines say.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

_ROW = np.dtype([("hash", "<u8"), ("first", "<u8"), ("size", "<u4"), ("count", "<u4")])
_PARTS = 256
_HELD = 1 << 17  # rows in memory before they are written


class Writer:
    """Takes groups of lines in any order; to be used in a with block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines = open(folder / "lines.bin", "wb")  # noqa: SIM115 closed at the end of the with block
        self._rows: list[tuple[int, int, int, int]] = []
        self._size = 0

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._lines.close()

    def add(self, groups: Iterable[tuple[str, list[bytes]]]) -> None:
        """Add documents with their lines."""
        for name, lines in groups:
            data = b"\n".join(lines) + b"\n"
            self._lines.write(data)
            self._rows.append((xxhash.xxh3_64_intdigest(name.encode()), self._size, len(data), len(lines)))
            self._size += len(data)
        if len(self._rows) >= _HELD:
            self._flush()

    def finish(self) -> None:
        """Sort the rows, part by part, into the files that `Annotations` reads."""
        self._flush()
        with ExitStack() as stack:
            names = _ROW.names or ()
            columns = {name: stack.enter_context(open(self._folder / f"{name}.bin", "wb")) for name in names}
            for path in sorted(self._folder.glob("*.part")):
                rows = np.fromfile(path, _ROW)
                rows = rows[np.lexsort((rows["first"], rows["hash"]))]
                for name, file in columns.items():
                    file.write(rows[name].tobytes())
                path.unlink()

    def _flush(self) -> None:
        """Append the rows to their parts."""
        rows = np.array(self._rows, _ROW)
        self._rows = []
        parts = (rows["hash"] >> np.uint64(56)).astype(np.int64)
        order = np.argsort(parts, kind="stable")
        bounds = np.searchsorted(parts[order], np.arange(_PARTS + 1)).tolist()
        for part, (first, end) in enumerate(pairwise(bounds)):
            if first < end:
                with open(self._folder / f"{part:03}.part", "ab") as file:
                    file.write(rows[order[first:end]].tobytes())


class Annotations:
    """The lines of documents; files are mapped, not read."""

    def __init__(self, folder: Path) -> None:
        kinds = {**{name: _ROW[name] for name in _ROW.names or ()}, "lines": np.dtype(np.uint8)}
        self._columns = {name: map_file(folder / f"{name}.bin", kind) for name, kind in kinds.items()}

    @property
    def size(self) -> int:
        """How many lines there are."""
        return int(self._columns["count"].sum(dtype=np.int64))

    def absent(self, present: Iterable[Path]) -> int:
        """How many lines are of documents whose hashes are in none of the files."""
        hashes = self._columns["hash"]
        steps = np.zeros(len(hashes) + 1, np.int32)  # a stretch of one hash begins, or ends
        for path in present:
            here = np.unique(np.load(path))
            np.add.at(steps, np.searchsorted(hashes, here, "left"), 1)
            np.subtract.at(steps, np.searchsorted(hashes, here, "right"), 1)
        missing = np.cumsum(steps)[:-1] == 0
        return int(self._columns["count"][missing].sum(dtype=np.int64))

    def of(self, name: str) -> bytes:
        """All lines of a document, each with its line end."""
        key, hashes = name.encode(), self._columns["hash"]
        wanted = np.uint64(xxhash.xxh3_64_intdigest(key))
        here = slice(*(int(np.searchsorted(hashes, wanted, side)) for side in ("left", "right")))
        starts, sizes = (self._columns[column][here].tolist() for column in ("first", "size"))
        lines = self._columns["lines"]
        every = (lines[first : first + size].tobytes() for first, size in zip(starts, sizes, strict=True))
        return b"".join(data for data in every if data.startswith(key + b"\t"))


def map_file(path: Path, kind: np.dtype[Any]) -> NDArray[Any]:
    """The array of a file of numbers, mapped into memory unless there are none."""
    return np.memmap(path, kind, "r") if path.stat().st_size else np.empty(0, kind)
