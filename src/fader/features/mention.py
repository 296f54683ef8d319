"""Mention: where the mention stands, and with how many others, whatever the query's words.

    position     ln(1 + start) / 7
    length       min(tokens of the mention, 5) / 5
    document     ln(tokens of the document) / 7
    candidates   ln(candidates that the document mentions)
    mentions     ln(mentions of this entity in the document)
    first        1 for the entity's first mention in the document

Golden case: in a document of 8 tokens that mentions e at 0 and 3 and f at 6, with one token each, the mention at 3 has
ln(4)/7, 1/5, ln(8)/7, ln 2, ln 2 and 0. Knows nothing of literals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.contexts.table import Contexts
from fader.features.base import F64
from fader.features.family import ColumnFamily, sort_rows


@dataclass(frozen=True)
class Mention(ColumnFamily):
    """The mention in its document."""

    name: ClassVar[str] = "mention"
    columns: ClassVar[tuple[str, ...]] = ("position", "length", "document", "candidates", "mentions", "first")

    def compute(self, contexts: Contexts) -> F64:
        documents, start, slot, n = contexts.documents, contexts.start, contexts.slot, len(contexts)
        order, _at = sort_rows(contexts)
        pair = contexts.document[order].astype(np.int64) * contexts.entities.size + slot[order]
        order = order[np.argsort(pair, kind="stable")]  # rows of one entity and document together, by position
        document, entity = contexts.document[order], slot[order]
        is_new = np.diff(document, prepend=-1) != 0
        is_first = is_new | (np.diff(entity, prepend=-1) != 0)
        own, whole = np.cumsum(is_first) - 1, np.cumsum(is_new) - 1
        out = np.empty((n, self.size))
        out[:, 0] = np.log1p(start) / 7
        out[:, 1] = np.minimum(contexts.end - start, 5) / 5
        out[:, 2] = (np.log(np.maximum(documents.length, 1)) / 7)[documents.row]
        out[order, 3] = np.log(np.bincount(whole, weights=is_first))[whole]
        out[order, 4] = np.log(np.bincount(own))[own]
        begins = start[order]
        out[order, 5] = begins == begins[is_first][own]  # all that begin at the same token
        return out
