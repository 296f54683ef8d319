"""An index opened for reading: its segments, catalog, analysis and statistics of one commit.

Documents are numbered by the ranks of their ids (`numbering`). Knows nothing of queries or scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from fader.errors import DamagedError, StorageError, quoted
from fader.index.catalog import StoredCatalog
from fader.index.commit import commit_numbers, read_commit
from fader.index.manifest import SegmentEntry
from fader.index.numbering import are_identity, numbers
from fader.index.segment import Segment
from fader.memory import Cache, keep_freed_memory

CACHE_MB = 256
TRIES = 5


class Stored(NamedTuple):
    """What is shown of a document."""

    id: str
    title: str
    url: str
    text: str


class IndexReader:
    """A commit of an index folder: the newest, or the one with number `at`."""

    is_elsewhere = False  # whether each look at a document costs a call to another machine

    def __init__(
        self, folder: str | Path, verify: bool = False, cache_mb: int = CACHE_MB, at: int | None = None
    ) -> None:
        keep_freed_memory()
        self.folder = Path(folder)
        self._cache = Cache(cache_mb << 20)
        self._open(at)
        if verify:
            self.verify()

    def _open(self, at: int | None) -> None:
        """Open a commit; the newest again, where a writer has replaced it while its files were being opened."""
        for _ in range(TRIES):
            self.manifest = read_commit(self.folder, at)
            try:
                return self._open_files()
            except DamagedError:
                if at is not None or commit_numbers(self.folder)[-1:] == [self.manifest.commit]:
                    raise
        raise StorageError(f"{self.folder}: is replaced faster than it can be opened; try again")

    def _open_files(self) -> None:
        try:
            catalog = self.manifest.catalog
            self.catalog = StoredCatalog(self.folder / catalog.name, catalog.file)
            self.analysis = self.manifest.analysis.load()
            self.segments = [Segment(self.folder, entry, self._cache) for entry in self._described]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            message = f"{self.folder}: the commit or a file of it lacks {error}; the index is damaged, rebuild it"
            raise DamagedError(message) from None

    @property
    def _described(self) -> Sequence[SegmentEntry]:
        """What the manifest says of each segment that is opened."""
        return self.manifest.segments

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

    @cached_property
    def numbers(self) -> list[NDArray[np.int32]]:
        """For each segment the numbers of its documents, -1 for a deleted one; found when first asked for."""
        return numbers(self.segments)

    @cached_property
    def numbered_as_stored(self) -> bool:
        """Whether documents are stored in the order of their numbers, all in one segment."""
        return are_identity(self.segments)

    @cached_property
    def _places(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The segment of each numbered document, and its place there."""
        segment, local = np.empty((2, self.documents), dtype=np.int32)
        for s, number in enumerate(self.numbers):
            living = np.flatnonzero(number >= 0)
            segment[number[living]], local[number[living]] = s, living
        return segment, local

    @cached_property
    def entity_documents(self) -> NDArray[np.int32]:
        """How many documents mention each entity; counted when first asked for."""
        counted = np.zeros(len(self.catalog.entity_ids), dtype=np.int32)
        for segment in self.segments:
            segment.count_documents(counted)
        return counted

    def entity_documents_of(self, entities: NDArray[np.int32]) -> NDArray[np.int32]:
        """How many documents mention each of some entities."""
        return self.entity_documents[entities]

    def verify(self) -> None:
        """Read every file through: its checksum, and all that must hold in it and among files."""
        from fader.index.verify.invariants import verify

        verify(
            structs.replace(self.manifest, segments=tuple(self._described)),
            self.catalog.container,
            [segment.containers for segment in self.segments],
        )
        self.check_ids()

    def check_ids(self) -> None:
        """Each id is that of one live document; segments are checked on their own before."""
        from fader.index.verify.invariants import repeated_id

        repeated = repeated_id([(*segment.text.ids.arrays, segment.alive) for segment in self.segments])
        if repeated is not None:
            message = f"{self.folder}: commit {self.commit} has two documents with the id {quoted(repeated)}"
            raise DamagedError(f"{message}; the index is damaged, rebuild it")

    def locate(self, document: int) -> tuple[Segment, int]:
        """The segment of a document and its number there."""
        if self.numbered_as_stored:
            return self.segments[0], document
        segment, local = self._places
        return self.segments[segment[document]], int(local[document])

    def document_id(self, document: int) -> str:
        segment, local = self.locate(document)
        return segment.text.ids[local]

    def document_ids(self, documents: list[int]) -> list[str]:
        """The ids of some documents."""
        return [self.document_id(document) for document in documents]

    def stored(self, document: int) -> Stored:
        """What is shown of a document."""
        segment, local = self.locate(document)
        text = segment.text
        return Stored(text.ids[local], text.titles[local], text.urls[local], text.text(local))

    def prefetch(self, documents: Iterable[int], texts: bool = True) -> None:
        """Ids of documents, and texts, that will be asked for: of use to a reader whose documents are elsewhere."""

    def find_document(self, doc_id: str) -> int:
        """The number of a document, -1 if there is none with that id."""
        for s, segment in enumerate(self.segments):
            local = segment.find_document(doc_id)
            if local >= 0:
                return local if self.numbered_as_stored else int(self.numbers[s][local])
        return -1
