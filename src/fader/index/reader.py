"""An index opened for reading: its segments, catalog, analysis and statistics of one commit.

Documents are numbered by the ranks of their ids (`numbering`). Knows nothing of queries or scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from fader.corpus.analysis import Analysis
from fader.errors import DamagedError, StorageError, UsageError, quote
from fader.index.about import Subjects
from fader.index.catalog import StoredCatalog
from fader.index.commit import commit_numbers, read_commit
from fader.index.excerpts import Excerpts, Head, Wanted, read_excerpts
from fader.index.labelterms import LabelTerms
from fader.index.manifest import Manifest
from fader.index.numbering import Numbered, SegmentIds, find_starts, is_identity, number_documents, number_from
from fader.index.segment import DocumentMentions, Segment
from fader.lazy import cached_property
from fader.memory import Cache, keep_freed_memory

I32 = NDArray[np.int32]
NO_NUMBERS = np.empty(0, dtype=np.int32)
T = TypeVar("T")
CACHE_MB = 256
TRIES = 5


class Stored(NamedTuple):
    """What is shown of a document."""

    id: str
    title: str
    url: str
    text: str


@dataclass(frozen=True)
class CommitHead:
    """A commit without its segments: manifest, catalog and analysis."""

    folder: Path
    manifest: Manifest
    catalog: StoredCatalog
    analysis: Analysis

    @property
    def commit(self) -> int:
        return self.manifest.commit


def open_head(folder: str | Path, at: int | None = None) -> CommitHead:
    """Open the newest commit, or commit `at`, without its segments."""
    return _open_commit(Path(folder), at, lambda head: head)


@final
class IndexReader:
    """A commit of an index folder: the newest, or the one with number `at`.

    `segments` opens only some segments, by their places in the manifest. Their documents have the numbers that they
    have in the whole index, and counts (documents, tokens, mentions) are those of the whole index; what is found in
    segments (contexts, documents that mention an entity) is of these alone. `starts` (`numbering.find_starts`) saves
    reading the ids of the other segments. Up to `cache_mb` megabytes of lists stay decoded; with 0, none.
    """

    def __init__(
        self,
        folder: str | Path,
        verify: bool = False,
        cache_mb: int = CACHE_MB,
        at: int | None = None,
        segments: Sequence[int] | None = None,
        starts: Sequence[int] | None = None,
    ) -> None:
        keep_freed_memory()
        if cache_mb < 0:
            raise UsageError(f"cache_mb must be at least 0, not {cache_mb}; 0 keeps nothing decoded")
        self.folder, self.cache_mb, self._starts = Path(folder), cache_mb, starts
        cache = Cache(cache_mb << 20)

        def open_segments(head: CommitHead) -> tuple[CommitHead, list[int], list[Segment]]:
            places = self._choose_segments(head.manifest, segments)
            entries = (head.manifest.segments[place] for place in places)
            return head, places, [Segment(head.folder, entry, head.manifest.catalog, cache) for entry in entries]

        self.head, self.places, self.segments = _open_commit(self.folder, at, open_segments)
        self.manifest, self.catalog, self.analysis = self.head.manifest, self.head.catalog, self.head.analysis
        self.is_verified = verify
        if verify:
            self.verify()

    def _choose_segments(self, manifest: Manifest, wanted: Sequence[int] | None) -> list[int]:
        """The places of the segments that are opened."""
        count, where = len(manifest.segments), f"{self.folder}: commit {manifest.commit}"
        chosen = list(range(count)) if wanted is None else sorted(set(wanted))
        if wanted is not None and not (chosen and 0 <= chosen[0] <= chosen[-1] < count):
            raise UsageError(f"{where} has the segments 0 to {count - 1}, not {chosen}")
        if self._starts is not None and len(self._starts) != count:
            raise UsageError(f"{where} has {count} segments, but {len(self._starts)} starts are given")
        return chosen

    @property
    def commit(self) -> int:
        return self.manifest.commit

    @property
    def documents(self) -> int:
        return self.manifest.live.documents

    @property
    def tokens(self) -> int:
        return self.manifest.live.tokens

    @property
    def mentions(self) -> int:
        return self.manifest.live.mentions

    @property
    def is_whole(self) -> bool:
        """Whether all segments are open."""
        return len(self.places) == len(self.manifest.segments)

    @cached_property
    def numbers(self) -> list[I32]:
        """For each segment the numbers of its documents, -1 for a deleted one; found when first asked for.

        Where ranges of ids do not overlap, numbers follow from counts; else the ids of all segments are compared.
        """
        if self.is_whole:
            numbers = number_documents(self.segments)
            live = np.concatenate([NO_NUMBERS, *(own[own >= 0] for own in numbers)])
            seen = np.bincount(live, minlength=self.documents)
            if seen.size != self.documents or (seen != 1).any():
                what = "ids of documents are not in order, or two have the same id"
                raise DamagedError(f"{self.folder}: commit {self.commit}: {what}; the index is damaged, rebuild it")
            return numbers
        own: dict[int, Numbered] = dict(zip(self.places, self.segments, strict=True))
        starts = self._starts
        if starts is None or min(starts[place] for place in own) < 0:
            entries = enumerate(self.manifest.segments)
            every = [own.get(place) or SegmentIds(self.folder, entry) for place, entry in entries]
            starts = find_starts(every)
            if min(starts[place] for place in own) < 0:
                found = number_documents(every)
                return [found[place] for place in own]
        return [number_from(segment, starts[place]) for place, segment in own.items()]

    @cached_property
    def numbered_as_stored(self) -> bool:
        """Whether documents are stored in the order of their numbers, all in one segment."""
        return self.is_whole and is_identity(self.segments)

    @cached_property
    def _located(self) -> tuple[I32 | None, I32, I32]:
        """The numbers of the live documents here, ascending (None: 0, 1, 2, ...), and their segments and places."""
        live = [np.flatnonzero(number >= 0) for number in self.numbers]
        held = [number[rows] for number, rows in zip(self.numbers, live, strict=True)]
        own = None if self.is_whole else np.sort(np.concatenate(held))
        segment, local = np.empty((2, sum(rows.size for rows in live)), dtype=np.int32)
        for s, (number, rows) in enumerate(zip(held, live, strict=True)):
            at = number if own is None else np.searchsorted(own, number)
            segment[at], local[at] = s, rows
        return own, segment, local

    @property
    def number_range(self) -> tuple[int, int]:
        """The least and the largest number of a document here; (0, -1) where there is none."""
        if self.is_whole:
            return 0, self.documents - 1
        own = self._located[0]
        return (int(own[0]), int(own[-1])) if own is not None and own.size else (0, -1)

    def holds(self, document: int) -> bool:
        """Whether a document is in one of the segments."""
        if self.is_whole:
            return 0 <= document < self.documents
        own = self._located[0]
        assert own is not None
        at = int(np.searchsorted(own, document))
        return at < own.size and own[at] == document

    @cached_property
    def entity_documents(self) -> I32:
        """How many documents mention each entity; counted when first asked for."""
        counted = np.zeros(len(self.catalog.entity_ids), dtype=np.int32)
        for segment in self.segments:
            segment.count_documents(counted)
        return counted

    @cached_property
    def subjects(self) -> list[I32]:
        """For each segment the entity that each of its documents is about, -1 for none; found when first asked for."""
        known = Subjects(self.catalog)
        return [known.find(segment.text.ids, segment.text.titles) for segment in self.segments]

    @cached_property
    def title_terms(self) -> list[LabelTerms]:
        """For each segment the terms of its documents' titles; found when first asked for."""
        return [LabelTerms(*segment.text.titles.texts, self.analysis) for segment in self.segments]

    def entity_documents_of(self, entities: I32) -> I32:
        """How many documents mention each of some entities."""
        return self.entity_documents[entities]

    def verify(self) -> None:
        """Read every file through: its checksum, and all that must hold in it and among files."""
        from fader.index.verify.invariants import verify  # a dozen kernels that only verification loads

        files = (segment.containers for segment in self.segments)
        verify(self.manifest, self.catalog.container, dict(zip(self.places, files, strict=True)))
        self.check_ids()

    def check_ids(self) -> None:
        """Each id is that of one live document; segments are checked on their own before."""
        from fader.index.verify.invariants import find_repeated_id

        repeated = find_repeated_id([(*segment.text.ids.arrays, segment.alive) for segment in self.segments])
        if repeated is not None:
            message = f"{self.folder}: commit {self.commit} has two documents with the id {quote(repeated)}"
            raise DamagedError(f"{message}; the index is damaged, rebuild it")

    def locate(self, document: int) -> tuple[Segment, int]:
        """The segment of a document and its number there."""
        if self.numbered_as_stored:
            return self.segments[0], document
        own, segment, local = self._located
        if own is not None and not self.holds(document):
            raise UsageError(f"{self.folder}: document {document} is not in the segments {self.places}")
        at = document if own is None else int(np.searchsorted(own, document))
        return self.segments[segment[at]], int(local[at])

    def segments_of(self, documents: I32) -> I32:
        """The place in `segments` of each of some documents' segment."""
        if self.numbered_as_stored:
            return np.zeros(documents.size, dtype=np.int32)
        own, segment, _local = self._located
        return segment[documents if own is None else np.searchsorted(own, documents)]

    def locate_all(self, documents: I32) -> tuple[I32, I32]:
        """The places in `segments` of some documents' segments, and their numbers there."""
        if self.numbered_as_stored:
            return np.zeros(documents.size, dtype=np.int32), documents
        own, segment, local = self._located
        at = documents if own is None else np.searchsorted(own, documents)
        return segment[at], local[at]

    def find_mentions(self, pairs: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
        """For each pair of a document and an entity the tokens [start, end) of the entity's mentions."""
        found: list[list[tuple[int, int]]] = [[] for _pair in pairs]
        if not pairs:
            return found
        documents, entities = np.ascontiguousarray(np.array(pairs, dtype=np.int32).T)
        held, local = self.locate_all(documents)
        for s in sorted(set(held.tolist())):
            own = np.flatnonzero(held == s)
            each = self.segments[s].find_mentions(local[own], entities[own])
            for i, spans in zip(own.tolist(), each, strict=True):
                found[i] = spans
        return found

    def read_mentions(self, document: int) -> DocumentMentions:
        """All mentions of a document, in order."""
        segment, local = self.locate(document)
        return segment.read_mentions(local)

    def document_id(self, document: int) -> str:
        segment, local = self.locate(document)
        return segment.text.ids[local]

    def document_ids(self, documents: Iterable[int]) -> list[str]:
        """The ids of some documents."""
        return [self.document_id(document) for document in documents]

    def read_documents(self, documents: Iterable[int]) -> list[Stored]:
        """What is shown of some documents."""
        places = [self.locate(document) for document in documents]
        return [Stored(s.text.ids[d], s.text.titles[d], s.text.urls[d], s.text.text(d)) for s, d in places]

    def read_excerpts(self, documents: Iterable[int], wanted: Wanted) -> tuple[Excerpts, list[Head]]:
        """Pieces of some documents with the tokens that are wanted of each, and what else is shown of them."""
        places = [self.locate(document) for document in documents]
        return read_excerpts(places, wanted, self.analysis.unicode)

    def find_document(self, doc_id: str) -> int:
        """The number of a document, -1 if there is none with that id."""
        for s, segment in enumerate(self.segments):
            local = segment.find_document(doc_id)
            if local >= 0:
                return local if self.numbered_as_stored else int(self.numbers[s][local])
        return -1


def _open_commit(folder: Path, at: int | None, open_rest: Callable[[CommitHead], T]) -> T:
    """Open a commit; the newest again, where a writer has replaced it while its files were being opened."""
    for _ in range(TRIES):
        manifest = read_commit(folder, at)
        try:
            catalog = StoredCatalog(folder / manifest.catalog.name, manifest.catalog)
            return open_rest(CommitHead(folder, manifest, catalog, manifest.analysis.load()))
        except (DamagedError, KeyError, TypeError, ValueError, OverflowError) as error:
            if at is None and commit_numbers(folder)[-1:] != [manifest.commit]:
                continue
            if isinstance(error, DamagedError):
                raise
            message = f"{folder}: the commit or a file of it lacks {error}; the index is damaged, rebuild it"
            raise DamagedError(message) from None
    raise StorageError(f"{folder}: is replaced faster than it can be opened; try again")
