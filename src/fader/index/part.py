"""Some segments of a commit, opened by themselves, with the numbers that their documents have in all of it.

    reader = PartReader(folder, at=3, only=[4, 5])

What is counted of the whole collection (documents, tokens, mentions) comes from the manifest; what is found in segments
(contexts, documents that mention an entity) is of these alone. Where ranges of ids do not overlap, numbers follow from
counts; else the ids of all segments are looked at, but nothing else of them. Knows nothing of machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fader.errors import UsageError
from fader.index.manifest import Manifest, SegmentEntry
from fader.index.numbering import Numbered, are_identity, numbers, numbers_from, starts
from fader.index.reader import CACHE_MB, IndexReader
from fader.index.segment import Segment, open_tombstones
from fader.index.textstore import TextStore

I32 = NDArray[np.int32]


class Ids:
    """The ids of a segment whose other files stay closed."""

    def __init__(self, folder: Path, entry: SegmentEntry) -> None:
        self.documents = entry.documents
        self.text = TextStore(folder / f"{entry.name}.text", entry.files.text)
        self.alive: NDArray[np.uint8] | None = None
        found = open_tombstones(folder, entry)
        if found is not None:
            self.alive = np.ones(self.documents, dtype=np.uint8)
            self.alive[found["document"]] = 0


def starts_of(folder: str | Path, manifest: Manifest) -> list[int]:
    """`starts` of all segments of a commit."""
    return starts([Ids(Path(folder), entry) for entry in manifest.segments])


class PartReader(IndexReader):
    """Segments `only`, by their places in the manifest. `starts` are those of all segments, where they are known."""

    def __init__(
        self, folder: str | Path, only: Sequence[int], at: int | None = None, starts: Sequence[int] | None = None,
        cache_mb: int = CACHE_MB,
    ) -> None:  # fmt: skip
        self.only, self._given = sorted(set(only)), starts
        super().__init__(folder, cache_mb=cache_mb, at=at)

    @property
    def _described(self) -> Sequence[SegmentEntry]:
        described = self.manifest.segments
        if not self.only or not 0 <= self.only[0] <= self.only[-1] < len(described):
            raise UsageError(
                f"{self.folder}: commit {self.commit} has the segments 0 to {len(described) - 1}, not {self.only}"
            )
        if self._given is not None and len(self._given) != len(described):
            raise UsageError(
                f"{self.folder}: commit {self.commit} has {len(described)} segments, but {len(self._given)} starts "
                "are given"
            )
        return [described[s] for s in self.only]

    @cached_property
    def _all(self) -> list[Numbered]:
        """The ids of all segments."""
        own = dict(zip(self.only, self.segments, strict=True))
        return [own.get(s) or Ids(self.folder, entry) for s, entry in enumerate(self.manifest.segments)]

    @cached_property
    def numbers(self) -> list[I32]:
        first = self._given if self._given is not None else starts(self._all)
        if all(first[s] >= 0 for s in self.only):
            return [numbers_from(segment, first[s]) for s, segment in zip(self.only, self.segments, strict=True)]
        every = numbers(self._all)
        return [every[s] for s in self.only]

    @cached_property
    def numbered_as_stored(self) -> bool:
        return len(self.manifest.segments) == 1 and are_identity(self.segments)

    @cached_property
    def _by_number(self) -> list[tuple[I32, I32]]:
        """For each segment its documents in the order of their numbers, and these."""
        found = []
        for number in self.numbers:
            order = np.argsort(number, kind="stable").astype(np.int32)
            found.append((order, number[order]))
        return found

    @property
    def range(self) -> tuple[int, int]:
        """The least and the largest number of a document here; (0, -1) where there is none."""
        if self.numbered_as_stored:
            return 0, self.documents - 1
        living = [number[number >= 0] for number in self.numbers]
        found = [(int(n.min()), int(n.max())) for n in living if n.size]
        return (min(a for a, _b in found), max(b for _a, b in found)) if found else (0, -1)

    def holds(self, document: int) -> bool:
        """Whether a document is in one of the segments."""
        return 0 <= document < self.documents if self.numbered_as_stored else self._found(document) is not None

    def locate(self, document: int) -> tuple[Segment, int]:
        """The segment of a document and its number there; the whole collection's numbers would not fit here."""
        if self.numbered_as_stored:
            return self.segments[0], document
        found = self._found(document)
        if found is None:
            raise UsageError(f"{self.folder}: document {document} is not in the segments {self.only}")
        return found

    def _found(self, document: int) -> tuple[Segment, int] | None:
        for segment, (order, number) in zip(self.segments, self._by_number, strict=True):
            place = int(np.searchsorted(number, document))
            if place < number.size and number[place] == document:
                return segment, int(order[place])
        return None
