"""A commit whose catalog is here and whose segments are elsewhere: what search asks of a reader, asked of shards.

Documents' ids and texts are fetched some at once, and those seen last are kept. Before anything is asked it is made
sure that the shards hold each segment of this very commit, and each once. Knows nothing of queries or sockets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.cluster.wire.transport import Missing, Transport
from fader.errors import IncompleteError, UsageError
from fader.index.reader import IndexReader, Stored
from fader.index.segment import Segment
from fader.memory import Cache

I32 = NDArray[np.int32]
CACHE_MB = 64  # of documents' texts


class ClusterReader(IndexReader):
    """A commit whose catalog is here and whose segments are elsewhere. Safe to share among threads."""

    is_elsewhere = True

    def __init__(
        self, folder: str | Path, shards: Transport, at: int | None = None, allow_partial: bool = False
    ) -> None:
        self.shards, self.allow_partial = shards, allow_partial
        self._texts = Cache(CACHE_MB << 20)
        super().__init__(folder, cache_mb=1, at=shards.commit if at is None else at)

    def _choose_segments(self) -> list[int]:
        return []

    def ask(self, method: str, arguments: Any, allow_partial: bool = False) -> list[Any]:
        """The answer of each group."""
        return self.shards.call_all(method, arguments, commit=self.commit, allow_partial=allow_partial)

    @property
    def groups(self) -> int:
        """How many shard groups there are."""
        return self.shards.groups(self.commit)

    @property
    def entity_documents(self) -> I32:
        """How many documents mention each entity; gathered when first asked for. All groups must answer."""
        known: I32 | None = self.__dict__.get("_counted")
        if known is None:
            known = self.__dict__["_counted"] = added(self.ask("entity_documents", {}))
        return known

    def entity_documents_of(self, entities: I32) -> I32:
        if "_counted" in self.__dict__:
            return self.entity_documents[entities]
        return added(self.ask("entity_documents", {"entities": entities}))

    def document_id(self, document: int) -> str:
        return self.document_ids([document])[0]

    def document_ids(self, documents: list[int]) -> list[str]:
        """The ids of some documents."""
        self.prefetch(documents, texts=False)
        return [self._kept("id", document) for document in documents]

    def stored(self, document: int) -> Stored:
        found: Stored = self._kept("text", document)
        return found

    def prefetch(self, documents: Iterable[int], texts: bool = True) -> None:
        """Get ids of documents, and texts, that are not here yet, in one call."""
        kind = "text" if texts else "id"
        wanted = [d for d in dict.fromkeys(int(d) for d in documents) if (kind, d) not in self._texts]
        if wanted:
            for document, found in zip(wanted, self._fetched(kind, wanted), strict=True):
                self._texts.get((kind, document), partial(_same, found), _size)

    def _kept(self, kind: str, document: int) -> Any:
        return self._texts.get((kind, document), lambda: self._fetched(kind, [document])[0], _size)

    def _fetched(self, kind: str, documents: list[int]) -> list[Any]:
        """Ids or texts of documents, asked of those groups alone that may have them."""
        some = np.array(documents, dtype=np.int32)
        near = [some[(some >= first) & (some <= last)] for first, last in self._ranges()]
        answers = self.ask("texts" if kind == "text" else "document_ids",
                           [{"documents": n} if n.size else None for n in near])  # fmt: skip
        found: dict[int, Any] = {}
        for numbers, answer in zip(near, answers, strict=True):
            found |= {n: a for n, a in zip(numbers.tolist(), answer or (), strict=True) if a is not None}
        lost = next((d for d in documents if d not in found), None)
        if lost is not None:
            raise IncompleteError(f"no shard of commit {self.commit} has document {lost}; ask again")
        return [Stored(*found[d]) if kind == "text" else found[d] for d in documents]

    def locate(self, document: int) -> tuple[Segment, int]:
        raise UsageError(f"document {document} is in a segment on another machine; ask for what is stored of it")

    def find_document(self, doc_id: str) -> int:
        return int(max(self.ask("find_document", {"doc_id": doc_id})))

    def _ranges(self) -> list[tuple[int, int]]:
        """The least and the largest number of each group's documents; nothing of a group that does not answer."""
        return [(0, -1) if isinstance(a, Missing) else (a["first"], a["last"]) for a in self.about()]

    def about(self) -> list[Any]:
        """What each group holds; found once, when all have answered."""
        if "_about" not in self.__dict__:
            found = self.ask("about", {}, self.allow_partial)
            self._check([a for a in found if not isinstance(a, Missing)], len(found))
            if any(isinstance(a, Missing) for a in found):
                return found
            self.__dict__["_about"] = found
        known: list[Any] = self.__dict__["_about"]
        return known

    def _check(self, there: list[Any], groups: int) -> None:
        """All segments of this commit are there once; none twice, where a group is missing."""
        held = sorted(s for about in there for s in about["segments"])
        every = list(range(len(self.manifest.segments)))
        is_whole = held == every if len(there) == groups else len(set(held)) == len(held) and set(held) < set(every)
        if not is_whole or any(about["files"] != self.manifest.fingerprint for about in there):
            raise IncompleteError(
                f"{self.folder}: the shards do not hold each segment of commit {self.commit} once; start them again "
                "from this index"
            )


def nobody(answers: Sequence[Any]) -> IncompleteError:
    """The error where all groups are missing."""
    why = next((a.why for a in answers if isinstance(a, Missing)), "none is known")
    return IncompleteError(f"no shard group answers ({why}); ask again, or look whether all nodes are up")


def added(counts: list[Any]) -> I32:
    """Counts of all groups that were asked."""
    total: I32 = np.sum([c for c in counts if c is not None], axis=0, dtype=np.int32)
    return total


def _same(value: Any) -> Any:
    return value


def _size(value: Any) -> int:
    return 200 + sum(map(len, value)) if isinstance(value, Stored) else 100 + len(value)
