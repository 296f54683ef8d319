"""Which way to find the mentions in a segment's matching documents: by the answer type, or by documents.

Type-driven: the rows of the type's mention list, those in matching documents kept. Document-driven: all mentions
of the matching documents, those of the type kept. Both give the same rows; only the cost differs. Knows nothing
of literals or distances.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.nearest import where
from fader.contexts.quota import ContextQuota
from fader.index.catalog import StoredCatalog
from fader.index.segment import Mentions, Segment
from fader.kernel import kernel

I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]
PLANS = ("type", "document")
# Measured nanoseconds: a mention of a type's list whose document is tested; a mention of a matching document
# enumerated, its entity's types looked up and tested; a document passed over.
TYPE_ROW, DOCUMENT_ROW, DOCUMENT = 1.0, 10.0, 1.0


def count_listed(segment: Segment, answer_type: int | None) -> int:
    """How many mentions the list of a type has (None: of all entities)."""
    return segment.mentions if answer_type is None else segment.rows_of_type.head(answer_type)[0]


def choose_plan(segment: Segment, answer_type: int | None, matching: int) -> str:
    """The cheaper plan for a type (None: any entity), given how many documents match."""
    listed = count_listed(segment, answer_type)
    through_documents = matching * segment.mentions / max(1, segment.documents)
    return "document" if DOCUMENT * matching + DOCUMENT_ROW * through_documents < TYPE_ROW * listed else "type"


def find_mentions(
    segment: Segment, catalog: StoredCatalog, answer_type: int | None, marks: U8, plan: str, quota: ContextQuota
) -> Mentions:
    """The mentions of the type in marked documents, in order of position, where there is quota for them."""
    if plan == "document":
        rows = segment.rows_of_documents(where(marks), catalog, answer_type)
        quota.reserve(rows.size)
        return segment.decode_mentions(rows)
    quota.check_list(count_listed(segment, answer_type))
    listed = segment.mentions_of_type(answer_type)
    kept = budget.gather_chunks(listed.document.size, lambda a, b: _find_marked(listed.document[a:b], a, marks))
    quota.reserve(kept.size)
    return listed.take(kept)


@kernel
def _find_marked(document: I32, first: int, marks: U8) -> I32:
    """The indexes of the mentions in marked documents, counted from `first` on, without a branch on the marks."""
    out = np.empty(document.size + 1, dtype=np.int32)
    n = np.uintp(0)
    for i in range(document.size):
        out[n] = np.int32(first + i)
        n += np.uintp(marks[np.uintp(document[np.uintp(i)])])
    return out[: np.int64(n)]
