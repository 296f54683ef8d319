"""The work folder of an import: batches are kept part by part, each whole on disk before the next.

    corpus.jsonl[.zst], queries.jsonl, qrels.txt      grow part by part
    runs/000001.entities, .types, .mentioned, .ids    sorted lines of a part; of ids, their hashes
    000001.part                                       written last: lengths of the files that grow, counts, faults

A run that was killed is taken back to its last whole part: the files that grow are cut to their lengths there. Where
parts end depends on the records alone, so the bytes are the same however often a run was killed. In memory are a part
(64 MB) and 8 bytes for each document's id. Knows nothing of formats, of processes and of how runs become a catalog.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fader.corpora.frame.base import EntityRow, TypeRow
from fader.corpora.frame.faults import as_dict, join
from fader.corpora.frame.records import Encoded, entity_line, type_line
from fader.corpora.frame.sorted_runs import merged, write_run
from fader.corpus.documents import Faults
from fader.jobs.resumable import sync, write_whole
from fader.limits import Limits

PART_BYTES = 64 << 20
GROWING = ("corpus", "queries", "qrels")
RUNS = ("entities", "types", "mentioned")
LAST = "last"  # the runs of what is added when all batches are in


@dataclass(slots=True)
class _Part:
    """What is not on disk yet."""

    faults: Faults
    grown: dict[str, list[bytes]] = field(default_factory=lambda: {key: [] for key in GROWING})
    runs: dict[str, list[bytes]] = field(default_factory=lambda: {key: [] for key in RUNS})
    ids: dict[int, None] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    batches: int = 0
    size: int = 0


class Store:
    """Takes encoded batches in order. What was in whole parts before is kept."""

    def __init__(
        self, folder: Path, policy: str = "skip", compress: bool = False, part_bytes: int = PART_BYTES
    ) -> None:
        self.folder = folder
        self.faults = Faults(policy)
        self.counts: dict[str, int] = {}
        self.batches = 0  # how many are in whole parts
        self.files = {
            "corpus": folder / ("corpus.jsonl.zst" if compress else "corpus.jsonl"),
            "queries": folder / "queries.jsonl",
            "qrels": folder / "qrels.txt",
        }
        self._compress, self._part_bytes, self._limits = compress, part_bytes, Limits.from_environment()
        self._lengths = dict.fromkeys(GROWING, 0)
        self._ids = _Hashes()
        self._parts = 0
        self._part = _Part(Faults(policy))
        self._last: dict[str, list[bytes]] = {key: [] for key in RUNS}
        (folder / "runs").mkdir(exist_ok=True)
        self._resume()

    def _resume(self) -> None:
        """Back to the last whole part."""
        for mark in sorted(self.folder.glob("*.part")):
            part = json.loads(mark.read_bytes())
            self._parts, self.batches, self._lengths = part["part"], part["batches"], part["lengths"]
            join(self.faults, part["faults"])
            _add(self.counts, part["counts"])
            self._ids.add(np.load(self._path("ids.npy")))
        for key, path in self.files.items():
            if path.exists():
                os.truncate(path, self._lengths[key])
        for path in (self.folder / "runs").iterdir():
            number = path.name.split(".")[0]
            if "merged" in path.name or not number.isdigit() or int(number) > self._parts:
                path.unlink()

    def _path(self, kind: str, part: int | str | None = None) -> Path:
        number = self._parts if part is None else part
        return self.folder / "runs" / (f"{number:06d}.{kind}" if isinstance(number, int) else f"{number}.{kind}")

    def put(self, encoded: Encoded) -> None:
        """The records of the next batch; a part ends where it has grown large enough."""
        part = self._part
        kept = self._new(encoded)
        part.ids.update(dict.fromkeys(encoded.ids[i] for i in kept))
        documents = [encoded.documents[i] for i in kept]
        for key, lines in zip(GROWING, (documents, encoded.queries, encoded.qrels), strict=True):
            part.grown[key].extend(lines)
            part.size += sum(map(len, lines))
        for key in RUNS:
            part.runs[key].extend(getattr(encoded, key))
            part.size += sum(map(len, getattr(encoded, key)))
        _add(part.counts, {"documents": len(kept), "mentions": sum(encoded.mentions[i] for i in kept)})
        _add(part.counts, encoded.counts)
        part.batches += 1
        if part.size >= self._part_bytes:
            self.end_part()

    def _new(self, encoded: Encoded) -> list[int]:
        """Which documents of a batch have an id that none before has."""
        join(self._part.faults, encoded.faults)
        before = self._ids.known(encoded.ids)
        kept: list[int] = []
        here = set[int]()
        for i, (name, known) in enumerate(zip(encoded.ids, before, strict=True)):
            if known or name in self._part.ids or name in here:
                message = f"{encoded.places[i]}: there was a document of this id before; the first is kept"
                self._part.faults.add("documents with a repeated id", message)
            else:
                here.add(name)
                kept.append(i)
        return kept

    def end_part(self) -> None:
        """Make what was put durable."""
        part = self._part
        if not part.batches:
            return
        self._parts += 1
        for key, path in self.files.items():
            self._lengths[key] = _append(path, part.grown[key], self._compress and key == "corpus")
        for key in RUNS:
            write_run(self._path(key), part.runs[key])
        ids = np.array(list(part.ids), dtype=np.uint64)
        with open(self._path("ids.npy"), "wb") as file:
            np.save(file, ids)
            sync(file)
        self._ids.add(ids)
        self.batches += part.batches
        mark = {
            "part": self._parts, "batches": self.batches, "lengths": self._lengths, "counts": part.counts,
            "faults": as_dict(part.faults),
        }  # fmt: skip
        write_whole(self.folder / f"{self._parts:06d}.part", json.dumps(mark, ensure_ascii=False).encode())
        join(self.faults, as_dict(part.faults))
        _add(self.counts, part.counts)
        self._part = _Part(Faults(self.faults.policy))

    def runs(self, kind: str) -> list[Path]:
        """The runs of all parts, in order, and last what was added at the end."""
        last = self._path(kind, LAST)
        found = [self._path(kind, part) for part in range(1, self._parts + 1)]
        return [*found, last] if last.exists() else found

    def mentioned(self) -> Iterator[tuple[str, str, int]]:
        """Each entity that is mentioned, by id: the id, the surface it has most often, the number of its mentions."""
        for name, rows in merged(self.runs("mentioned")):
            count: dict[str, int] = {}
            for surface, number in rows:
                count[surface] = count.get(surface, 0) + int(number)
            yield name, min(count, key=lambda surface: (-count[surface], surface)), sum(count.values())

    def entity(self, row: EntityRow) -> None:
        """Add an entity when all batches are in."""
        line = entity_line(row, self.faults, self._limits)
        if line is not None:
            self._last["entities"].append(line)

    def type(self, row: TypeRow) -> None:
        """Add a type when all batches are in."""
        line = type_line(row, self.faults, self._limits)
        if line is not None:
            self._last["types"].append(line)

    def count(self, counts: dict[str, int]) -> None:
        """Add numbers to the report when all batches are in."""
        _add(self.counts, counts)

    def end(self) -> None:
        """Put what was added at the end into the last runs."""
        for key in RUNS:
            write_run(self._path(key, LAST), self._last[key])


class _Hashes:
    """A growing set of 64-bit numbers in sorted arrays, the smaller ones joined as they come."""

    def __init__(self) -> None:
        self._arrays: list[NDArray[np.uint64]] = []

    def add(self, numbers: NDArray[np.uint64]) -> None:
        self._arrays.append(np.sort(numbers))
        while len(self._arrays) > 1 and self._arrays[-1].size * 2 > self._arrays[-2].size:
            self._arrays[-2:] = [np.sort(np.concatenate(self._arrays[-2:]))]

    def known(self, numbers: list[int]) -> list[bool]:
        wanted = np.array(numbers, dtype=np.uint64)
        found = np.zeros(wanted.size, dtype=bool)
        for array in self._arrays:
            if array.size:
                place = np.minimum(np.searchsorted(array, wanted), array.size - 1)
                found |= array[place] == wanted
        return [bool(known) for known in found]


def _add(into: dict[str, int], counts: dict[str, int]) -> None:
    for name, count in counts.items():
        into[name] = into.get(name, 0) + count


def _append(path: Path, lines: list[bytes], compress: bool) -> int:
    """Lines at the end of a file; how long it is then."""
    with open(path, "ab") as file:
        if lines:
            data = b"\n".join(lines) + b"\n"
            if compress:
                import zstandard

                data = zstandard.ZstdCompressor(level=3).compress(data)
            file.write(data)
        sync(file)
        return file.tell()
