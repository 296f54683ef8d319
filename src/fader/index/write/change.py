"""Change an index: add documents, replace and delete them, change the catalog, merge segments.

Each change is one commit or nothing.

Old segments stay as they are; what is deleted from them is written beside them, and segments are merged by the policy
of `tiers` inside the same commit. A reader of an older commit sees nothing of it. Knows nothing of queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from fader.corpus.catalog_change import CatalogChange, Counted, change_catalog
from fader.corpus.documents import Faults
from fader.errors import UsageError
from fader.index.catalog import StoredCatalog, StoredNumbers, write_catalog
from fader.index.commit import commit_numbers, read_commit, remove_debris, remove_unneeded, write_commit
from fader.index.format import writing
from fader.index.lock import lock_for_writing
from fader.index.manifest import CatalogEntry, DeletedEntry, Manifest, Operation, OperationName, SegmentEntry
from fader.index.numbering import find_ids, ids_of, sort_ids
from fader.index.reader import IndexReader
from fader.index.segment import Segment
from fader.index.write.builder import BYTES_PER_TOKEN, MAX_POSITIONS, CatalogView
from fader.index.write.freeze import Closure
from fader.index.write.ingest import Intake
from fader.index.write.merge import merge_segments
from fader.index.write.merge_policy import Size, choose_merges, merge_all
from fader.index.write.renew import Renumbering, renew_segment
from fader.index.write.writer import KEEP_HELP, Corpus, check_choice, check_counts, check_sources, storage_errors
from fader.limits import Limits
from fader.memory import Cache, keep_freed_memory
from fader.options import option
from fader.progress import Progress, Silent

I32 = NDArray[np.int32]
NO_CHANGE = CatalogChange()


@dataclass(frozen=True)
class ChangeOptions:
    """How to change. `keep` is how many commits stay, from now on; without it as many as before.

    `merge=False` leaves all segments as they are. `memory_mb` bounds what a segment may need while it is made.
    """

    on_error: str = "skip"
    memory_mb: int = option(2048, help="Memory that making a segment may take.", flags=("--memory",), metavar="MB")
    threads: int | None = option(None, help="Threads, one a core unless given; the index is the same with any.")
    keep: int | None = option(None, help=KEEP_HELP, least=1, metavar="N")
    merge: bool = option(True, help="Merge no segments on this occasion.", flags=("--no-merge",))
    limits: Limits | None = None
    catalog_on_error: str = "fail"

    def __post_init__(self) -> None:
        check_choice(self.catalog_on_error)
        check_counts(self, memory_mb=16, threads=1, keep=1)

    @property
    def largest(self) -> int:
        """Positions of the largest segment that is merged."""
        return min(MAX_POSITIONS, (self.memory_mb << 20) // BYTES_PER_TOKEN)


@dataclass(slots=True)
class ChangeReport:
    """What was changed, and what could not be used. Without any change the manifest is that of the last commit.

    `dropped` counts the mentions that went with entities that were removed, less those that came back with others.
    """

    manifest: Manifest
    faults: Faults
    added: int = 0
    replaced: int = 0
    deleted: int = 0
    missing: list[str] = field(default_factory=list)
    merged: int = 0
    entities: Counted = field(default_factory=Counted)
    types: Counted = field(default_factory=Counted)
    catalog_notes: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)  # how a catalog that is a table was read, in words
    dropped: int = 0


def add(
    folder: Path,
    corpus: Corpus = (),
    options: ChangeOptions = ChangeOptions(),
    progress: Progress | None = None,
    catalog: CatalogChange = NO_CHANGE,
) -> ChangeReport:
    """Add documents; one whose id is there already takes the other's place. The catalog is changed before."""
    sources = check_sources(corpus)

    def work(change: _Change) -> None:
        if catalog:
            change.change_catalog(catalog)
        if not isinstance(sources, list | tuple) or sources:
            change.add(sources)

    return _commit_change(folder, options, progress, "add", work)


def delete(
    folder: Path, ids: Iterable[str], options: ChangeOptions = ChangeOptions(), progress: Progress | None = None
) -> ChangeReport:
    """Delete documents by id."""
    wanted = _check_ids(ids)
    return _commit_change(folder, options, progress, "delete", lambda change: change.delete(wanted))


def merge(folder: Path, options: ChangeOptions = ChangeOptions(), progress: Progress | None = None) -> ChangeReport:
    """Merge all segments into one, or into as few as the limits allow, and drop what is deleted."""
    return _commit_change(folder, options, progress, "merge", lambda change: change.merge(merge_all))


def _check_ids(ids: Iterable[str]) -> list[str]:
    wanted = [] if isinstance(ids, str) else list(dict.fromkeys(ids))
    if isinstance(ids, str) or not all(isinstance(one, str) for one in wanted):
        raise UsageError("ids must be texts, each the id of a document")
    return wanted


def _commit_change(
    folder: Path,
    options: ChangeOptions,
    progress: Progress | None,
    name: OperationName,
    work: Callable[[_Change], None],
) -> ChangeReport:
    """One change under the lock, published if anything was changed; what it wrote is removed if it fails."""
    keep_freed_memory()
    folder = Path(folder).resolve()
    read_commit(folder)  # what is no index is refused before it is locked
    with storage_errors(folder), lock_for_writing(folder):
        newest = commit_numbers(folder)[-1]
        remove_debris(folder, newest)
        change = _Change(folder, newest + 1, options, progress or Silent())
        try:
            work(change)
            if options.merge:
                change.merge(choose_merges)
            change.publish(name)
        except BaseException:
            with suppress(OSError):  # the first error is raised; the next writer removes what stays
                remove_debris(folder, newest)
            raise
        remove_unneeded(folder, change.keep)
        return change.report


class _Change:
    """One change in progress: the segments as they will be."""

    def __init__(self, folder: Path, number: int, options: ChangeOptions, progress: Progress) -> None:
        self._folder, self._number, self._options, self._progress = folder, number, options, progress
        self._reader = IndexReader(folder)
        self._before = self._reader.manifest
        self.keep: int = options.keep or self._before.keep
        self._catalog, self._catalog_entry = self._reader.catalog, self._before.catalog
        self._closure = load_closure(self._catalog)
        self._segments = list(self._before.segments)
        self._opened: dict[SegmentEntry, Segment] = {}
        self._made = 0
        self._tombstones = 0
        self.report = ChangeReport(self._before, Faults(options.on_error))

    def change_catalog(self, change: CatalogChange) -> None:
        """Write the new catalog, and anew the mentions of segments for which it makes a difference."""
        o, r, path = self._options, self.report, self._folder / f"{self._number:08d}.catalog"
        self._catalog.container.verify()  # what is damaged must not get a new checksum that fits
        changed = change_catalog(self._catalog.load(), change, o.catalog_on_error, o.limits)
        r.entities, r.types = changed.entities, changed.types
        r.catalog_notes, r.tables = changed.catalog.notes, changed.catalog.tables
        entry = write_catalog(path, changed.catalog)
        if entry.file == self._catalog_entry.file:
            path.unlink()
            r.entities, r.types = (Counted(missing=rows.missing) for rows in (r.entities, r.types))
            return
        catalog = StoredCatalog(path, entry)
        numbering = Renumbering.between(self._catalog, catalog)
        self._catalog, self._catalog_entry, self._closure = catalog, entry, load_closure(catalog)
        for place, old in enumerate(self._segments):
            segment = self._open(old, self._before.catalog)
            if numbering.concerns(segment):
                self._progress.update(place, len(self._segments), "renumbering")
                name = f"{self._number:08d}-{self._made}"
                self._made += 1
                new = renew_segment(self._folder, name, old, segment, numbering, self._closure)
                r.dropped += old.live.mentions - new.live.mentions
                self._segments[place] = new

    def add(self, sources: Iterable[Any]) -> None:
        """Take documents in, and delete the ones that they replace."""
        o, keeps = self._options, all(s.text.keeps_text for s in self._reader.segments)
        view = CatalogView(StoredNumbers(self._catalog), self._closure)
        intake = Intake(
            self._folder,
            self._number,
            view,
            self._reader.analysis,
            self.report.faults,
            memory_mb=o.memory_mb,
            threads=o.threads,
            keep_text=keeps,
            limits=o.limits,
            first=self._made,
        )
        new = intake.read_segments(sources, self._progress)
        self._made += len(new)
        new = [s for s in new if s.documents]
        for entry in new:
            ids = ids_of(self._open(entry))
            self.report.added += entry.documents
            self.report.replaced += sum(self._bury(place, ids).size for place in range(len(self._segments)))
        self._segments += new

    def delete(self, ids: list[str]) -> None:
        """Delete documents by id; ids that are not there are noted."""
        sorted_once, strings = sort_ids(ids)
        found = np.zeros(len(sorted_once), dtype=bool)
        for place in range(len(self._segments)):
            found[self._bury(place, strings)] = True
        self.report.deleted = int(np.count_nonzero(found))
        there = {text for text, is_found in zip(sorted_once, found.tolist(), strict=True) if is_found}
        self.report.missing = [text for text in ids if text not in there]

    def _bury(self, place: int, ids: Any) -> NDArray[np.int64]:
        """Mark the documents of a segment that have one of the ids as deleted; which of the ids these were."""
        entry = self._segments[place]
        segment = self._open(entry)
        document = find_ids(segment, ids)
        found = np.flatnonzero(document >= 0)
        if found.size:
            deleted = np.union1d(segment.deleted, document[found]).astype(np.int32)
            self._segments[place] = structs.replace(entry, deleted=self._write_tombstones(segment, deleted))
        return found

    def _write_tombstones(self, segment: Segment, deleted: I32) -> DeletedEntry:
        name = f"{self._number:08d}-{self._tombstones}.deleted"
        self._tombstones += 1
        with writing(self._folder / name, "deleted") as w:
            w.array("document", deleted)
            file = w.close()
        at = segment.mentions_at
        return DeletedEntry(
            bytes=file.bytes,
            documents=int(deleted.size),
            mentions=int((at.gather(deleted + np.int32(1)) - at.gather(deleted)).sum()),
            name=name,
            tokens=int(segment.lengths(deleted).sum()),
            xxh3=file.xxh3,
        )

    def merge(self, policy: Callable[[list[Size], int], list[list[int]]]) -> None:
        """Merge the groups of segments that a policy names."""
        groups = policy([_measure(s) for s in self._segments], self._options.largest)
        merged: dict[int, SegmentEntry | None] = {}
        for n, group in enumerate(groups):
            self._progress.update(n, len(groups), "merging")
            name = f"{self._number:08d}-{self._made}"
            self._made += 1
            opened = [self._open(self._segments[place]) for place in group]
            merged |= dict.fromkeys(group)
            merged[group[0]] = merge_segments(self._folder, name, opened, self._closure)
            self.report.merged += len(group)
        left = [merged.get(place, entry) for place, entry in enumerate(self._segments)]
        whole = [s for s in left if s is not None]
        self._segments = [s for s in whole if s.documents] or whole[:1]

    def _open(self, entry: SegmentEntry, catalog: CatalogEntry | None = None) -> Segment:
        """A segment as it is now; of the same name with other tombstones or mentions it is another."""
        if entry not in self._opened:
            self._opened[entry] = Segment(self._folder, entry, catalog or self._catalog_entry, Cache(0))
        return self._opened[entry]

    def publish(self, name: OperationName) -> None:
        """Commit the segments, if they are others than before or another number of commits is to stay."""
        before = self._before
        if (tuple(self._segments), self.keep, self._catalog_entry) == (before.segments, before.keep, before.catalog):
            return
        r = self.report
        skipped, new = before.skipped, r.faults.counts
        r.manifest = structs.replace(
            before,
            catalog=self._catalog_entry,
            commit=self._number,
            keep=self.keep,
            operation=Operation(
                deleted=r.deleted,
                documents=r.added,
                entities=r.entities.total,
                merged=r.merged,
                name=name,
                replaced=r.replaced,
                types=r.types.total,
            ),
            segments=tuple(self._segments),
            skipped={kind: skipped.get(kind, 0) + new.get(kind, 0) for kind in skipped | new},
        )
        write_commit(self._folder, r.manifest)


def _measure(entry: SegmentEntry) -> Size:
    return Size(entry.tokens + entry.documents, entry.live.tokens + entry.live.documents)


def load_closure(catalog: StoredCatalog) -> Closure:
    """What freezing a segment needs of a stored catalog."""
    return Closure(catalog.entity_types_at, catalog.entity_types, *catalog.ancestors())
