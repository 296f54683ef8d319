"""A shard: some segments of a commit, which answer calls (requests.py).

    Shard(folder, commit, segments).call(FindRows(question))

The matches of recent queries are cached, so a call for more columns of one does not match it again. Knows nothing of
sockets, of other shards or of Ray.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.allowance import allowance
from fader.budget import deadline
from fader.cluster.shards.requests import Question
from fader.cluster.wire.transport import ShardCall
from fader.contexts.columns import ColumnSource, RowColumns
from fader.contexts.partial import PartialContexts, match_partial, select_entities
from fader.index.reader import CACHE_MB, IndexReader

KEPT = 32  # queries whose matches are cached
KEPT_BYTES = 256 << 20  # of cached matches, for all groups of a host together


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
        self.kept_bytes = kept_bytes
        self._kept: OrderedDict[Question, tuple[PartialContexts[ColumnSource], int]] = OrderedDict()
        self._lock = threading.Lock()

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

    def call(self, call: ShardCall, deadline_ms: float | None = None) -> Any:
        """Answer a call within a time limit."""
        with deadline(deadline_ms):
            return call.run(self)

    def match(self, question: Question) -> PartialContexts[ColumnSource]:
        """The rows of a question; those of recent ones are cached, bounded in number and bytes."""
        with self._lock:
            if question in self._kept:
                self._kept.move_to_end(question)
                return self._kept[question][0]
        options = question.options
        with allowance(options.limits):
            found = match_partial(self.reader, question.query, options)
        size = 3 * sum(a.nbytes for a in (found.slot, found.document, found.distances))  # with data behind the columns
        with self._lock:
            self._kept[question] = found, size
            while len(self._kept) > 1 and (
                len(self._kept) > KEPT or sum(size for _found, size in self._kept.values()) > self.kept_bytes
            ):
                self._kept.popitem(last=False)
        return found

    def find_rows(self, question: Question, entities: NDArray[np.int32] | None) -> PartialContexts[RowColumns]:
        """The rows of a question, or those of some entities only."""
        found = self.match(question)
        return found if entities is None else select_entities(found, entities)
