"""An index opened for reading: its segments, catalog, analysis and statistics of one commit.

Documents are numbered through all segments in order. Knows nothing of queries or scores.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.corpus.analysis import Analysis
from fader.errors import DamagedError, StorageError
from fader.index.catalog import StoredCatalog
from fader.index.commit import commit_numbers, read_commit
from fader.index.segment import Segment
from fader.memory import Cache, keep_freed_memory

CACHE_MB = 256
TRIES = 5


class IndexReader:
    """The newest commit of an index folder."""

    def __init__(self, folder: str | Path, verify: bool = False, cache_mb: int = CACHE_MB) -> None:
        keep_freed_memory()
        self.folder = Path(folder)
        self._cache = Cache(cache_mb << 20)
        self._open_newest()
        self.first_document = [0]
        for segment in self.segments:
            self.first_document.append(self.first_document[-1] + segment.documents)
        if verify:
            self.verify()

    def _open_newest(self) -> None:
        """Open the newest commit; again, where a writer has replaced it while its files were being opened."""
        for _ in range(TRIES):
            self.manifest: dict[str, Any] = read_commit(self.folder)
            try:
                return self._open_files()
            except DamagedError:
                if commit_numbers(self.folder)[-1:] == [self.manifest.get("commit")]:
                    raise
        raise StorageError(f"{self.folder}: is replaced faster than it can be opened; try again")

    def _open_files(self) -> None:
        try:
            described = self.manifest["catalog"]
            self.catalog = StoredCatalog(self.folder / described["name"], described)
            self.analysis = Analysis.from_dict(self.manifest["analysis"])
            self.segments = [Segment(self.folder, s, self._cache) for s in self.manifest["segments"]]
        except (KeyError, TypeError, ValueError) as error:
            message = f"{self.folder}: the commit or a file of it lacks {error}; the index is damaged, rebuild it"
            raise DamagedError(message) from None

    @property
    def documents(self) -> int:
        return self.first_document[-1]

    @property
    def tokens(self) -> int:
        return sum(s.tokens for s in self.segments)

    @property
    def mentions(self) -> int:
        return sum(s.mentions for s in self.segments)

    @cached_property
    def entity_documents(self) -> NDArray[np.int32]:
        """How many documents mention each entity; counted when first asked for."""
        counted = np.zeros(len(self.catalog.entity_ids), dtype=np.int32)
        for segment in self.segments:
            segment.count_documents(counted)
        return counted

    def verify(self) -> None:
        """Read every file through and compare checksums."""
        self.catalog.container.verify()
        for segment in self.segments:
            for container in segment.containers:
                container.verify()

    def locate(self, document: int) -> tuple[Segment, int]:
        """The segment of a document and its number there."""
        s = bisect_right(self.first_document, document) - 1
        return self.segments[s], document - self.first_document[s]

    def document_id(self, document: int) -> str:
        segment, local = self.locate(document)
        return segment.text.ids[local]

    def find_document(self, doc_id: str) -> int:
        """The number of a document, -1 if there is none with that id."""
        for segment, first in zip(self.segments, self.first_document, strict=False):
            local = segment.text.find(doc_id)
            if local >= 0:
                return first + local
        return -1
