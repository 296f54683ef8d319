"""The join of an import: batches are kept part by part, each whole on disk before the next.

    corpus.jsonl[.zst], queries.jsonl, qrels.txt      grow part by part (`fader.jobs.growing`)
    runs/000001.entities, .types, .mentioned, .ids    sorted lines of a part; of ids, their hashes
    000001.part                                       the entry of the journal: counts and faults of the part

A run that was killed is taken back to its last whole part. Where parts end depends on the records alone. In memory are
a part (64 MB) and 8 bytes for each document's id. Knows nothing of formats, of processes and of how runs become a
catalog.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np
import zstandard

from fader.arrays import U64
from fader.corpora.frame.base import Batch, EntityRow, TypeRow
from fader.corpora.frame.records import EncodedRecords, entity_line, type_line
from fader.corpora.frame.sorted_runs import merge_runs, write_run
from fader.corpus.documents import Faults
from fader.jobs.files import sync_file
from fader.jobs.growing import GrowingFiles
from fader.jobs.journal import Journal, from_json, to_json
from fader.jobs.storage import LocalFolder
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
    counts: Counter[str] = field(default_factory=Counter)
    batches: int = 0
    size: int = 0


class _Mark(msgspec.Struct, frozen=True):
    """What the journal holds of a part: batches up to its end, and what it adds."""

    batches: int
    counts: dict[str, int]
    faults: Faults


class Store:
    """Takes encoded batches in order. What was in whole parts before is kept. `report` hears of each batch."""

    def __init__(
        self, folder: Path, policy: str = "skip", compress: bool = False, part_bytes: int = PART_BYTES
    ) -> None:
        self.folder = folder
        self.faults = Faults(policy)
        self.counts = Counter[str]()
        self.batches = 0  # how many are in whole parts
        self.files = {
            "corpus": folder / ("corpus.jsonl.zst" if compress else "corpus.jsonl"),
            "queries": folder / "queries.jsonl",
            "qrels": folder / "qrels.txt",
        }
        self.report: Callable[[Batch, int], None] = lambda _batch, _documents: None
        self._compress, self._part_bytes, self._limits = compress, part_bytes, Limits.from_environment()
        self._growing = GrowingFiles(Journal(LocalFolder(folder)), folder, [path.name for path in self.files.values()])
        self._ids = _Hashes()
        self._documents = 0  # of this run
        self._part = _Part(Faults(policy))
        self._last: dict[str, list[bytes]] = {key: [] for key in RUNS}
        (folder / "runs").mkdir(exist_ok=True)
        self._resume()

    def _resume(self) -> None:
        """Go back to the last whole part."""
        for number, data in enumerate(self._growing.restore(), 1):
            mark: _Mark = from_json(data, _Mark)
            self.batches = mark.batches
            self.faults.merge(mark.faults)
            self.counts.update(mark.counts)
            self._ids.add(np.load(self._path("ids.npy", number)))
        for path in (self.folder / "runs").iterdir():
            part = path.name.split(".")[0]
            if "merged" in path.name or not part.isdigit() or int(part) > self._growing.parts:
                path.unlink()

    def _path(self, kind: str, part: int | str) -> Path:
        return self.folder / "runs" / (f"{part:06d}.{kind}" if isinstance(part, int) else f"{part}.{kind}")

    def choose_left(self, items: Iterable[Batch]) -> Iterator[Batch]:
        """The batches that are in no whole part."""
        return islice(items, self.batches, None)

    def take(self, item: Batch, result: EncodedRecords) -> None:
        """Put the records of a batch, and report it."""
        self.put(result)
        self._documents += len(result.documents)
        self.report(item, self._documents)

    def finish(self) -> None:
        """Make the last part durable."""
        self.end_part()

    def put(self, encoded: EncodedRecords) -> None:
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
        part.counts.update(documents=len(kept), mentions=sum(encoded.mentions[i] for i in kept))
        part.counts.update(encoded.counts)
        part.batches += 1
        if part.size >= self._part_bytes:
            self.end_part()

    def _new(self, encoded: EncodedRecords) -> list[int]:
        """Which documents of a batch have an id that none before has."""
        self._part.faults.merge(encoded.faults)
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
        number = self._growing.parts + 1
        for key in RUNS:
            write_run(self._path(key, number), part.runs[key])
        ids = np.array(list(part.ids), dtype=np.uint64)
        with open(self._path("ids.npy", number), "wb") as file:
            np.save(file, ids)
            sync_file(file)
        self._ids.add(ids)
        self.batches += part.batches
        grown = {self.files[key].name: b"\n".join([*lines, b""]) for key, lines in part.grown.items()}
        if self._compress and part.grown["corpus"]:
            corpus = self.files["corpus"].name
            grown[corpus] = zstandard.ZstdCompressor(level=3).compress(grown[corpus])
        self._growing.end_part(grown, to_json(_Mark(self.batches, part.counts, part.faults)))
        self.faults.merge(part.faults)
        self.counts.update(part.counts)
        self._part = _Part(Faults(self.faults.policy))

    def runs(self, kind: str) -> list[Path]:
        """The runs of all parts, in order, and last what was added at the end."""
        last = self._path(kind, LAST)
        found = [self._path(kind, part) for part in range(1, self._growing.parts + 1)]
        return [*found, last] if last.exists() else found

    def mentioned(self) -> Iterator[tuple[str, str, int]]:
        """Each entity that is mentioned, by id: the id, the surface it has most often, the number of its mentions."""
        for name, rows in merge_runs(self.runs("mentioned")):
            count = Counter[str]()
            for surface, number in rows:
                count[surface] += int(number)
            yield name, min(count, key=lambda surface: (-count[surface], surface)), sum(count.values())

    def entity(self, row: EntityRow) -> None:
        """Add an entity when all batches are in."""
        if (line := entity_line(row, self.faults, self._limits)) is not None:
            self._last["entities"].append(line)

    def type(self, row: TypeRow) -> None:
        """Add a type when all batches are in."""
        if (line := type_line(row, self.faults, self._limits)) is not None:
            self._last["types"].append(line)

    def count(self, counts: dict[str, int]) -> None:
        """Add numbers to the report when all batches are in."""
        self.counts.update(counts)

    def end(self) -> None:
        """Put what was added at the end into the last runs."""
        for key in RUNS:
            write_run(self._path(key, LAST), self._last[key])


class _Hashes:
    """A growing set of 64-bit numbers in sorted arrays, the smaller ones joined as they come."""

    def __init__(self) -> None:
        self._arrays: list[U64] = []

    def add(self, numbers: U64) -> None:
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
        return found.tolist()
