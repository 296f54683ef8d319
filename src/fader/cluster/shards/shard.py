"""A shard: some segments of a commit, and the calls that they answer. Every method is a pure function.

    Shard(folder, commit, segments).call("contexts", {"query": ..., "options": ..., "columns": ["start"]})

So any replica can answer a call, a call may be repeated, and a later call may go to another machine. The matches of
recent queries are cached, so a call for more columns of one does not match it again. Arguments and answers are plain
data (`wire.serialization`). Knows nothing of sockets, of other shards or of Ray.
"""

from __future__ import annotations

import inspect
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fader.budget import deadline
from fader.cluster.shards.groups import documents_in
from fader.cluster.shards.scores import load_features, score_partial
from fader.cluster.wire.serialization import (
    Plain,
    dump_columns,
    dump_partial,
    load_options,
    load_query,
    load_statistics,
    parse_columns,
)
from fader.contexts.columns import ColumnSource, RowColumns
from fader.contexts.partial import PartialContexts, count_query, match_partial, select_entities
from fader.errors import UsageError, quote
from fader.index.reader import CACHE_MB, IndexReader

I32 = NDArray[np.int32]
KEPT = 32  # queries whose matches are cached
KEPT_BYTES = 256 << 20  # of cached matches, for all groups of a host together
_OF_QUERIES = ("statistics", "contexts", "columns", "scores")
METHODS = ("about", *_OF_QUERIES, "texts", "document_ids", "find_document", "entity_documents")


class Shard:
    """Some segments of a commit, by their places in the manifest. Safe to share among threads."""

    def __init__(
        self,
        folder: str | Path,
        commit: int | None,
        segments: Sequence[int],
        cache_mb: int = CACHE_MB,
        starts: Sequence[int] | None = None,
        kept_bytes: int = KEPT_BYTES,
    ) -> None:
        self.reader = IndexReader(folder, cache_mb=cache_mb, at=commit, segments=segments, starts=starts)
        self._kept = _Kept(kept_bytes)

    @property
    def commit(self) -> int:
        return self.reader.commit

    @property
    def segments(self) -> list[int]:
        return self.reader.places

    def warm(self) -> None:
        """Number the documents before the first query."""
        if not self.reader.numbered_as_stored:
            self.reader.numbers  # noqa: B018 - computed on first use

    def call(self, method: str, arguments: Plain, deadline_ms: float | None = None) -> Any:
        """Call a method by name, within a time limit."""
        if method not in METHODS:
            raise UsageError(f"a shard has no method {quote(method)}; there are {', '.join(METHODS)}")
        with deadline(deadline_ms):
            return getattr(self, method)(**_bound(getattr(self, method), arguments))

    def about(self) -> Plain:
        """What it holds: segments, the number of documents that are not deleted, and the range of document numbers."""
        first, last = self.reader.number_range
        return {
            "commit": self.commit,
            "files": self.reader.manifest.fingerprint,
            "segments": self.segments,
            "documents": documents_in(self.reader.manifest, self.segments),
            "first": first,
            "last": last,
        }

    def statistics(self, query: Plain) -> Plain:
        """df and cf of the query's literals in this shard."""
        df, cf = count_query(self.reader, load_query(query))
        return {"df": df, "cf": cf}

    def contexts(self, query: Plain, options: Plain, columns: Sequence[str] = (), entities: Any = None) -> Plain:
        """The rows of the query in this shard, or those of some entities only, with further columns."""
        return dump_partial(self._select(query, options, entities), parse_columns(columns))

    def columns(self, query: Plain, options: Plain, names: Sequence[str], entities: Any = None) -> Plain:
        """Further columns of the rows that `contexts` returns for the same query, options and entities."""
        return dump_columns(self._select(query, options, entities).columns, parse_columns(names))

    def scores(
        self,
        query: Plain,
        options: Plain,
        statistics: Plain,
        features: str,
        weights: Any,
        policy: str,
        combined: bool = True,
        documents: bool = False,
    ) -> Plain | None:
        """Scores per entity of the contexts that the policy selects; statistics are those of the whole collection."""
        partial, whole = self._match(query, options), load_statistics(statistics)
        maps, weights = load_features(features, combined), np.asarray(weights)
        found = score_partial(load_query(query), whole, partial, maps, weights, policy, documents)
        return None if found is None else vars(found)

    def texts(self, documents: Any) -> list[list[str] | None]:
        """Id, title, url and text of some documents, by number; None for one that is not here."""
        held = (int(d) for d in documents)
        return [list(self.reader.read_documents([d])[0]) if self.reader.holds(d) else None for d in held]

    def document_ids(self, documents: Any) -> list[str | None]:
        """The ids of some documents, by number; None for one that is not here."""
        held = (int(d) for d in documents)
        return [self.reader.document_id(d) if self.reader.holds(d) else None for d in held]

    def find_document(self, doc_id: str) -> int:
        """The number of a document by its id; -1 where it is not here."""
        return self.reader.find_document(doc_id)

    def entity_documents(self, entities: Any = None) -> I32:
        """The number of documents here per given entity; per entity of the catalog where none is given."""
        return self.reader.entity_documents if entities is None else self.reader.entity_documents_of(entities)

    def _match(self, query: Plain, options: Plain) -> PartialContexts[ColumnSource]:
        key = msgspec.msgpack.encode([query, options])
        found = self._kept.get(key)
        if found is None:
            found = match_partial(self.reader, load_query(query), load_options(options))
            self._kept.put(key, found)
        return found

    def _select(self, query: Plain, options: Plain, entities: Any) -> PartialContexts[RowColumns]:
        partial = self._match(query, options)
        return partial if entities is None else select_entities(partial, entities)


def _bound(method: Any, arguments: Plain) -> Plain:
    """Check the arguments of a method."""
    try:
        inspect.signature(method).bind(**arguments)
    except TypeError as error:
        raise UsageError(f"{method.__name__} of a shard cannot be called this way: {error}") from None
    return arguments


class _Kept:
    """A cache of recent matches, bounded in number and bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._matches: OrderedDict[bytes, tuple[PartialContexts[ColumnSource], int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> PartialContexts[ColumnSource] | None:
        with self._lock:
            found = self._matches.get(key)
            if found is not None:
                self._matches.move_to_end(key)
            return found[0] if found else None

    def put(self, key: bytes, found: PartialContexts[ColumnSource]) -> None:
        size = 3 * sum(
            a.nbytes for a in (found.slot, found.document, found.distances)
        )  # with the data behind the columns
        with self._lock:
            self._matches[key] = found, size
            while len(self._matches) > 1 and (len(self._matches) > KEPT or self._bytes > self._most):
                self._matches.popitem(last=False)

    @property
    def _bytes(self) -> int:
        return sum(size for _found, size in self._matches.values())
