"""Which entity a document is about: the one whose id is the document's, else the one whose name is its title.

Names and titles are compared without regard to case. Of several entities with one name it is that of the least id.
Knows nothing of queries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fader.arrays import I32, I64, U8
from fader.corpus.strings import lower_strings
from fader.corpus.tokenise import NameNumbers, RawVocabulary, pad
from fader.index.catalog import StoredCatalog
from fader.index.encoding.strings import Strings

TOGETHER = 1 << 14  # strings that are numbered together


class Subjects:
    """Entities by id and by name."""

    def __init__(self, catalog: StoredCatalog) -> None:
        ids = catalog.entity_ids.decode_all()
        self._ids = NameNumbers(ids.data, ids.at)
        self._names = RawVocabulary()
        name = self._number(catalog.entity_names)
        known, first = np.unique(name, return_index=True)
        self._entity = np.full(self._names.size + 1, -1, dtype=np.int32)
        self._entity[known] = first
        self._entity[-1] = -1  # an empty name is nobody's

    def find(self, ids: Strings, titles: Strings) -> I32:
        """The entity of each document; -1 where it is about none."""
        found = self._ids.find(*_arrays(ids))
        title = self._number(titles)
        known = np.where(title < self._entity.size - 1, title, -1)
        return np.where(found >= 0, found, self._entity[known]).astype(np.int32)

    def _number(self, strings: Strings) -> I32:
        """A number for each folded string, -1 for an empty one."""
        data, at = _arrays(strings)
        data, at = lower_strings(data, at, str.casefold, squeeze=False)
        out = np.full(at.size - 1, -1, dtype=np.int32)
        for first in range(0, out.size, TOGETHER):
            ends = at[first : first + TOGETHER + 1]
            some = np.flatnonzero(np.diff(ends))
            edges = np.column_stack((ends[:-1], ends[1:]))[some] - ends[0]
            if some.size:
                words = pad(data[ends[0] : ends[-1]])
                out[first + some] = self._names.number(words, edges.astype(np.int32).reshape(-1))
        return out


def _arrays(strings: Strings) -> tuple[U8, I64]:
    data, at = strings.texts
    whole: NDArray[np.int64] = at.astype(np.int64)
    return np.asarray(data), whole
