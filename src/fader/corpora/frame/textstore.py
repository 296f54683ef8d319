"""Texts by their ids, on disk: for formats that bring annotations without the texts they are about.

    {"docid": "d1", "title": "...", "body": "..."}      JSON lines; the id is in id, docid, pid, doc_id, _id or docno
    d1<TAB>text                                         or id, address, title, body, as MS MARCO has them

Built once (the uncompressed file, and a sorted table of hashes of ids with offsets: 24 bytes per text), then mapped by
every process. Of two texts with the same id the first counts. Knows nothing of annotations.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import xxhash

from fader.corpora.frame.faults import at
from fader.corpora.frame.inputs import companion_lines
from fader.corpus.documents import Faults
from fader.progress import Progress

KEYS = ("id", "docid", "pid", "doc_id", "_id", "docno", "passage_id")
UNREADABLE = "texts that cannot be read"
FILE, HASHES, OFFSETS = "texts.bin", "texts.hashes.npy", "texts.offsets.npy"


def build(path: str, folder: Path, faults: Faults, progress: Progress) -> None:
    """Make the tables of a file of texts."""
    hashes, offsets = array("Q"), array("q")
    size = told = 0
    with open(folder / FILE, "wb") as file:
        for number, line, consumed in companion_lines(path, faults):
            if not line.strip():
                continue
            found = _parse_text(line)
            if found is None:
                what = "needs a JSON object with an id, or an id, a tab and a text, in UTF-8"
                faults.add(UNREADABLE, f"{at(path, number)}: {what}")
                continue
            hashes.append(_hash(found[0]))
            offsets.extend((size, size + len(line)))
            size += file.write(line)
            if consumed != told:
                told = consumed
                progress.update(consumed, None, f"{len(hashes):,} texts")
    order = np.argsort(np.array(hashes, dtype=np.uint64), kind="stable")
    np.save(folder / HASHES, np.array(hashes, dtype=np.uint64)[order])
    np.save(folder / OFFSETS, np.array(offsets, dtype=np.int64).reshape(-1, 2)[order])


def _hash(name: str) -> int:
    return xxhash.xxh3_64_intdigest(name.encode("utf-8", "replace"))


class Texts:
    """The texts of a folder that `build` has filled; an id is hashed as the store of an import does."""

    def __init__(self, folder: Path) -> None:
        self._hashes, self._offsets, self._data = (map_array(folder / name) for name in (HASHES, OFFSETS, FILE))

    def absent(self, present: Iterable[Path]) -> int:
        """How many ids have hashes that are in none of the files."""
        wanted = np.unique(self._hashes)
        missing = np.ones(wanted.size, dtype=bool)
        for path in present:
            missing &= ~np.isin(wanted, np.load(path))
        return int(missing.sum())

    def get(self, name: str) -> dict[str, Any] | None:
        """The fields of a text, or None."""
        wanted = np.uint64(_hash(name))
        here = slice(*(int(np.searchsorted(self._hashes, wanted, side)) for side in ("left", "right")))
        every = (_parse_text(self._data[start:end].tobytes()) for start, end in self._offsets[here].tolist())
        return next((found[1] for found in every if found is not None and found[0] == name), None)


def map_array(path: Path) -> np.ndarray[Any, Any]:
    """The array in a file (.npy), or its bytes, mapped into memory unless there are none."""
    if path.suffix == ".npy":
        small = path.stat().st_size < 1 << 16
        return np.asarray(np.load(path, mmap_mode=None if small else "r"))
    return np.memmap(path, dtype=np.uint8, mode="r") if path.stat().st_size else np.zeros(0, dtype=np.uint8)


def _parse_text(line: bytes) -> tuple[str, dict[str, Any]] | None:
    """The id and the fields of a line."""
    try:
        text = line.decode("utf-8").rstrip("\r").removeprefix("\ufeff")
        if text.lstrip().startswith("{"):
            fields = msgspec.json.decode(text)
            name = next((fields[key] for key in KEYS if fields.get(key) not in (None, "")), "")
            return (str(name), fields) if name != "" else None
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError):
        return None
    cells = text.split("\t")
    if len(cells) < 2 or not cells[0]:
        return None
    if len(cells) == 4:
        return cells[0], {"url": cells[1], "title": cells[2], "body": cells[3]}
    if len(cells) == 3:
        return cells[0], {"title": cells[1], "body": cells[2]}
    return cells[0], {"text": "\t".join(cells[1:])}
