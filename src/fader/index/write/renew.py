"""The mentions of a segment under another catalog: entities renumbered, removed ones left out, lists of types anew.

Terms, postings and texts stay as they are; two files are written beside them, which take the place of the old ones.
They are those that a build with the new catalog would write. A segment that mentions no entity whose number or types
are others keeps its files, unless types are numbered anew. Knows nothing of commits.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from fader.corpus.tokenise import NameNumbers
from fader.index.catalog import StoredCatalog
from fader.index.manifest import PartEntries, SegmentEntry
from fader.index.segment import Segment
from fader.index.write.freeze import Closure, MentionColumns, write_mentions
from fader.kernel import kernel

I32 = NDArray[np.int32]


@dataclass(frozen=True)
class Renumbering:
    """The new number of each entity of a catalog, -1 for one that is gone, and what is another for segments.

    `moved` marks entities that have another number or other types now; `types` says whether types are numbered anew.
    """

    number: I32
    moved: NDArray[np.bool_]
    types: bool

    @classmethod
    def between(cls, old: StoredCatalog, new: StoredCatalog) -> Renumbering:
        """What a new catalog makes of an old one's numbers."""
        ids, type_ids, new_types = new.entity_ids.decode_all(), old.type_ids.decode_all(), new.type_ids.decode_all()
        before = old.entity_ids.decode_all()
        number = NameNumbers(ids.data, ids.at).find(before.data, before.at)
        moved = number != np.arange(number.size)
        same = np.array_equal(type_ids.at, new_types.at) and np.array_equal(type_ids.data, new_types.data)
        if same:
            every = np.arange(len(type_ids), dtype=np.int32)
            other = _differ(*old.ancestors(), *new.ancestors(), every, np.zeros(every.size, dtype=np.bool_))
            of_new = new.entity_types_at, new.entity_types
            moved |= _differ(old.entity_types_at, old.entity_types, *of_new, number, other)
        return cls(number, moved, not same)

    def concerns(self, segment: Segment) -> bool:
        """Whether a segment has to be written anew."""
        return self.types or bool(self.moved[segment.entity.all()].any())


@kernel
def _differ(a_at: I32, a: I32, b_at: I32, b: I32, number: I32, other: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows of a relation are not those of another, where row i is `number[i]`, or have a value that is marked."""
    out = np.zeros(number.size, dtype=np.bool_)
    for i in range(number.size):
        j = number[i]
        if j < 0 or a_at[i + 1] - a_at[i] != b_at[j + 1] - b_at[j]:
            out[i] = True
            continue
        for k in range(a_at[i + 1] - a_at[i]):
            value = a[a_at[i] + k]
            if value != b[b_at[j] + k] or other[value]:
                out[i] = True
    return out


def renew_segment(
    folder: Path, name: str, entry: SegmentEntry, segment: Segment, number: I32, catalog: Closure
) -> SegmentEntry:
    """Write the mentions of a segment under `name`; `number` has each entity's new number, -1 for one that is gone.

    The old files are read through first: what is damaged must not get new checksums that fit.
    """
    for container in segment.mention_containers:
        container.verify()
    entity, document = number[segment.entity.all()], segment.document.all()
    rows = np.flatnonzero(entity >= 0).astype(np.int32)
    document = document[rows]
    start = segment.start.gather(rows) - segment.base[document]
    codes, confidences = segment.confidence_codes(rows)
    columns = MentionColumns(document, start, segment.length.gather(rows), entity[rows], codes, confidences)
    counts = np.asarray(segment.distinct), np.asarray(segment.square)
    documents, mentions = write_mentions(folder, name, columns, np.asarray(segment.base), catalog, counts)
    deleted = entry.deleted
    if deleted is not None and segment.alive is not None:
        buried = int(np.count_nonzero(segment.alive[document] == 0))
        deleted = structs.replace(deleted, mentions=buried)
    files = PartEntries(documents, mentions, entry.files.terms, entry.files.text)
    return structs.replace(entry, deleted=deleted, files=files, mentions=int(rows.size), renewed=name)
