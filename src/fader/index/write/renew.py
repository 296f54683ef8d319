"""The mentions of a segment under another catalog: entities renumbered, removed ones set aside, lists of types anew.

Terms, postings and texts stay as they are; two files are written beside them, which take the place of the old ones.
They are those that a build with the new catalog would write. A segment that mentions no entity whose number or types
are others keeps its files, unless types are numbered anew. Knows nothing of commits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from fader.corpus.tokenise import NameNumbers
from fader.index.catalog import StoredCatalog
from fader.index.encoding.strings import Joined
from fader.index.manifest import PartEntries, SegmentEntry
from fader.index.segment import Segment
from fader.index.write.freeze import Closure, MentionColumns, write_mentions
from fader.kernel import kernel

I32 = NDArray[np.int32]


@dataclass(frozen=True)
class Renumbering:
    """The new number of each entity of a catalog, and what is another for segments.

    `number` is that of the entity that an id stands for now, -1 for none. `given` numbers, in `names`, the ids that are
    not those of entities any more, and is -1 for others. `moved` marks entities that have another number or other types
    now; `types` says whether types are numbered anew.
    """

    old: StoredCatalog
    new: StoredCatalog
    number: I32
    given: I32
    names: Joined
    moved: NDArray[np.bool_]
    types: bool

    @classmethod
    def between(cls, old: StoredCatalog, new: StoredCatalog) -> Renumbering:
        """What a new catalog makes of an old one's numbers."""
        before, after = old.entity_ids.decode_all(), new.entity_ids.decode_all()
        number = NameNumbers(after.data, after.at).find(before.data, before.at)
        gone = np.flatnonzero(number < 0)
        ids = before.select((number < 0).astype(np.uint8))
        given = np.full(number.size, -1, dtype=np.int32)
        given[gone] = np.arange(gone.size, dtype=np.int32)
        number[gone] = [new.find_same(name) for name in _texts(ids)]
        moved = number != np.arange(number.size)
        moved[gone] = True
        types, new_types = old.type_ids.decode_all(), new.type_ids.decode_all()
        same = np.array_equal(types.at, new_types.at) and np.array_equal(types.data, new_types.data)
        if same:
            every = np.arange(len(types), dtype=np.int32)
            other = _differ(*old.ancestors(), *new.ancestors(), every, np.zeros(every.size, dtype=np.bool_))
            of_new = new.entity_types_at, new.entity_types
            moved |= _differ(old.entity_types_at, old.entity_types, *of_new, number, other)
        return cls(old, new, number, given, ids, moved, not same)

    def concerns(self, segment: Segment) -> bool:
        """Whether a segment has to be written anew."""
        if self.types or bool(self.moved[segment.entity.all()].any()):
            return True
        names = _texts(segment.aside.names)
        return any(self.new.entity_ids.find(name) >= 0 or self._has_turned(name) for name in names)

    def _has_turned(self, name: str) -> bool:
        """Whether an id that is not that of an entity stands for another one than before."""
        was = self.old.find_same(name)
        return self.new.find_same(name) != (-1 if was < 0 else int(self.number[was]))

    def apply(self, m: MentionColumns) -> MentionColumns:
        """Mentions with the numbers of the new catalog."""
        if m.given is None or m.names is None:
            gone, number = self.given[m.entity], self.number[m.entity]
            return (
                replace(m, entity=number, given=gone, names=self.names)
                if len(self.names)
                else replace(m, entity=number)
            )
        names, of_gone, of_aside = self.names.merge(m.names)
        texts = _texts(m.names)
        own = np.array([self.new.entity_ids.find(name) for name in texts], dtype=np.int32)
        same = np.array([self.new.find_same(name) for name in texts], dtype=np.int32)
        was_own = m.given < 0
        gone = np.append(of_gone, np.int32(-1)).astype(np.int32)[self.given[m.entity]]
        aside = np.where(own[m.given] >= 0, np.int32(-1), of_aside[m.given])
        entity = np.where(was_own, self.number[m.entity], np.maximum(own, same)[m.given])
        given = np.where(was_own, gone, aside)
        return replace(m, entity=entity.astype(np.int32), given=given.astype(np.int32), names=names)


def _texts(strings: Joined) -> list[str]:
    data = strings.data.tobytes()
    return [data[a:b].decode("utf-8", "replace") for a, b in pairwise(strings.at.tolist())]


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


def read_columns(segment: Segment) -> MentionColumns:
    """All mentions of a segment, also those that count for no entity."""
    document, aside = segment.document.all(), segment.aside
    codes, confidences = segment.confidence_codes(np.arange(segment.mentions, dtype=np.int32))
    start = segment.start.all() - segment.base[document]
    columns = (document, start, segment.length.all(), segment.entity.all(), codes)
    if not len(aside):
        return MentionColumns(*columns, confidences)
    given = np.full(document.size, -1, dtype=np.int32)
    counts, rest = aside.row >= 0, np.flatnonzero(aside.row < 0)
    given[aside.row[counts]] = aside.name[counts]
    none = np.full(rest.size, -1, dtype=np.int32)
    others = (aside.document[rest], aside.start[rest], aside.length[rest], none, aside.confidence[rest])
    document, start, length, entity, codes = (np.concatenate(pair) for pair in zip(columns, others, strict=True))
    given = np.concatenate([given, aside.name[rest]])
    return MentionColumns(document, start, length, entity, codes, confidences, given, aside.names)


def renew_segment(
    folder: Path, name: str, entry: SegmentEntry, segment: Segment, numbering: Renumbering, catalog: Closure
) -> SegmentEntry:
    """Write the mentions of a segment under `name`, as a new catalog has them.

    The old files are read through first: what is damaged must not get new checksums that fit.
    """
    for container in segment.mention_containers:
        container.verify()
    columns = numbering.apply(read_columns(segment))
    counts = np.asarray(segment.distinct), np.asarray(segment.square)
    documents, mentions = write_mentions(folder, name, columns, np.asarray(segment.base), catalog, counts)
    deleted = entry.deleted
    if deleted is not None and segment.alive is not None:
        buried = (segment.alive[columns.document] == 0) & (columns.entity >= 0)
        deleted = structs.replace(deleted, mentions=int(np.count_nonzero(buried)))
    files = PartEntries(documents, mentions, entry.files.terms, entry.files.text)
    return structs.replace(entry, deleted=deleted, files=files, mentions=columns.count, renewed=name)
