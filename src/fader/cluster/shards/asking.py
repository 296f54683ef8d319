"""The shard groups of one commit: calls to all of them, a check before the first query, and partial answers.

The check makes sure that the groups hold every segment of this commit exactly once. Ids and texts of documents are
fetched in batches, and the most recent are cached. Knows nothing of queries or sockets.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.cluster.shards.requests import About, CountDocuments, DescribeShard, NameDocuments, ReadDocuments
from fader.cluster.wire.transport import Calls, Missing, Transport
from fader.errors import IncompleteError
from fader.index.reader import CommitHead, Stored
from fader.lazy import cached_property
from fader.memory import Cache

log = logging.getLogger("fader.cluster")
I32 = NDArray[np.int32]
CACHE_MB = 64  # of documents' texts


class ShardGroups:
    """The groups that hold the segments of a commit. Safe to share among threads."""

    def __init__(self, head: CommitHead, shards: Transport, allow_partial: bool) -> None:
        self.head, self.shards, self.allow_partial = head, shards, allow_partial
        self._about: list[About | Missing] | None = None
        self._kept = Cache(CACHE_MB << 20)

    @property
    def count(self) -> int:
        """The number of groups."""
        return self.shards.groups(self.head.commit)

    def ask(self, calls: Calls, allow_partial: bool = False) -> list[Any]:
        """The answer of each group."""
        return self.shards.call_all(calls, commit=self.head.commit, allow_partial=allow_partial)

    def about(self) -> list[About | Missing]:
        """What each group holds; cached once all have answered."""
        if self._about is not None:
            return self._about
        found: list[About | Missing] = self.ask(DescribeShard(), self.allow_partial)
        there = [a for a in found if not isinstance(a, Missing)]
        self._check(there, len(found))
        if len(there) == len(found):
            self._about = found
        return found

    def _check(self, there: list[About], groups: int) -> None:
        """Check that all segments are held once; where a group is missing, that none is held twice."""
        held = sorted(s for about in there for s in about.segments)
        every = list(range(len(self.head.manifest.segments)))
        is_whole = held == every if len(there) == groups else len(set(held)) == len(held) and set(held) < set(every)
        if not is_whole or any(about.files != self.head.manifest.fingerprint for about in there):
            raise IncompleteError(
                f"{self.head.folder}: the shards do not hold each segment of commit {self.head.commit} once; "
                "restart them from this index"
            )

    def warn_of_missing(self, answers: Sequence[Any]) -> list[str]:
        """Warn of what a partial answer lacks; raises where no group has answered."""
        missing = [a for a in answers if isinstance(a, Missing)]
        if not missing:
            return []
        if len(missing) == len(answers):
            raise describe_absence(answers)
        lacking, documents = {a.group for a in missing}, self.head.manifest.live.documents
        for one in missing:  # addresses of machines belong in the log, not in the answer
            log.warning("partial answer of commit %d: shard group %d: %s", self.head.commit, one.group, one.why)
        held = [(g, a.documents) for g, a in enumerate(self.about()) if not isinstance(a, Missing)]
        there = sum(held_here for g, held_here in held if g not in lacking)
        numbers = ", ".join(map(str, sorted(lacking)[:8])) + (" and more" if len(lacking) > 8 else "")
        return [
            f"this answer is partial: {len(missing)} of {self.count} shard groups did not answer, and "
            f"{documents - there:,} of {documents:,} documents were not looked at (missing: {numbers})"
        ]

    def forget_documents(self) -> None:
        """Drop the cached documents."""
        self._kept = Cache(CACHE_MB << 20)

    @cached_property
    def entity_documents(self) -> I32:
        """The number of documents per entity; computed on first use. All groups must answer."""
        return add_counts(self.ask(CountDocuments()))

    def entity_documents_of(self, entities: I32) -> I32:
        """The number of documents per given entity; from all counts where these are cached."""
        if "entity_documents" in self.__dict__:
            return self.entity_documents[entities]
        return add_counts(self.ask(CountDocuments(np.asarray(entities, dtype=np.int32))))

    def document_ids(self, documents: Sequence[int]) -> list[str]:
        """The ids of some documents."""
        return self._fetch(NameDocuments, documents)

    def read_documents(self, documents: Sequence[int]) -> list[Stored]:
        """Ids, titles, urls and texts of some documents."""
        return self._fetch(ReadDocuments, documents)

    def _fetch(self, kind: type[NameDocuments | ReadDocuments], documents: Sequence[int]) -> list[Any]:
        """Ids or texts of documents; those that are not cached in one call to the groups that may have them."""
        found = {d: self._kept.find((kind, d)) for d in documents}
        wanted = [d for d, value in found.items() if value is None]
        if wanted:
            numbers = np.array(wanted, dtype=np.int32)
            ranges = [(0, -1) if isinstance(a, Missing) else (a.first, a.last) for a in self.about()]
            near = [numbers[(numbers >= first) & (numbers <= last)] for first, last in ranges]
            answers = self.ask([kind(n) if n.size else None for n in near])
            for asked, answer in zip(near, answers, strict=True):
                for document, value in zip(asked.tolist(), answer or (), strict=True):
                    if value is not None:
                        found[document] = value
                        self._kept.put((kind, document), value, 200 + sum(map(len, value)))
        lost = next((d for d, value in found.items() if value is None), None)
        if lost is not None:
            raise IncompleteError(f"no shard of commit {self.head.commit} has document {lost}; ask again")
        return [found[d] for d in documents]


def describe_absence(answers: Sequence[Any]) -> IncompleteError:
    """The error where no group has answered."""
    why = next((a.why for a in answers if isinstance(a, Missing)), "none is known")
    return IncompleteError(f"no shard group answers ({why}); ask again, or look whether all nodes are up")


def add_counts(counts: list[Any]) -> I32:
    """The sum of the counts of all groups that were asked."""
    total: I32 = np.sum([c for c in counts if c is not None], axis=0, dtype=np.int32)
    return total
