"""Types by the words of their names: what a question can name, found without looking at all types.

A name has parts, its synonyms ("film, movie, picture", "chemical or drug"); a part is its lemmas. A question names a
part where the part's words stand in it one after another, and hints at one where the question's head noun is the head
of the part (the word before "of", or its last). Made once per catalog: about 7 microseconds per type.
Knows nothing of probabilities.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.index.catalog import StoredCatalog
from fader.index.names import name_key, split_synonyms

I32 = NDArray[np.int32]
F64 = NDArray[np.float64]
LONGEST = 6  # words of a part that a question may name
LOOK = 512  # types between two looks at the clock
MOST_SAME = 16  # types of one name, or with one head, that are candidates: those with the most entities


@dataclass(frozen=True, slots=True)
class Named:
    """A type that a question names: the part's words, where they begin, and whether all of them stand there."""

    type: int
    words: int
    begin: int
    whole: bool
    share: float = 1.0  # of the type among those of this name, by entities


class TypeNames:
    """The names of a catalog's types, to be found by their words."""

    def __init__(self, catalog: StoredCatalog) -> None:
        self.catalog = catalog
        self.sizes: F64 = np.asarray(catalog.entities_below, dtype=np.float64)
        self.entities = max(1, len(catalog.entity_ids))
        self.parts: list[tuple[tuple[str, ...], ...]] = []
        exact: dict[tuple[str, ...], list[int]] = defaultdict(list)
        heads: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, name in enumerate(catalog.type_names):
            if number % LOOK == 0:
                budget.check()
            parts = tuple(dict.fromkeys(part for text in split_synonyms(name) if (part := name_key(text))))
            self.parts.append(parts)
            if self.sizes[number] > 0:
                for part in parts:
                    exact[part].append(number)
                    if len(part) > 1:
                        heads[head_of(part)].append((number, len(part)))
        self.total_size = {part: float(self.sizes[found].sum()) for part, found in exact.items()}
        order = self.sizes
        self.exact = {part: sorted(found, key=lambda t: (-order[t], t))[:MOST_SAME] for part, found in exact.items()}
        self.heads = {
            head: sorted(found, key=lambda pair: (-order[pair[0]], pair[0]))[:MOST_SAME]
            for head, found in heads.items()
        }
        self.depths = _count_levels(catalog)
        self._above_at, self._above = catalog.ancestors()

    def find(self, lemmas: tuple[str, ...], skip: tuple[bool, ...]) -> list[Named]:
        """The types that some words name, whole; a single word that is to be skipped names none."""
        found = []
        for length in range(1, LONGEST + 1):
            for begin in range(len(lemmas) - length + 1):
                if length > 1 or not skip[begin]:
                    part = lemmas[begin : begin + length]
                    found += [Named(t, length, begin, True, self.share(t, part)) for t in self.exact.get(part, ())]
        return found

    def hinted(self, head: str, place: int) -> list[Named]:
        """The types of longer names with this head."""
        return [Named(t, words, place, False) for t, words in self.heads.get(head, ())]

    def above(self, number: int) -> list[int]:
        """The type and all types above it."""
        found: list[int] = self._above[self._above_at[number] : self._above_at[number + 1]].tolist()
        return found

    def share(self, number: int, part: tuple[str, ...]) -> float:
        """The share of a type among the types with a name, by entities: 1 for a name without other senses."""
        total = self.total_size.get(part, 0.0)
        return float(self.sizes[number] / total) if total else 1.0


def head_of(part: tuple[str, ...]) -> str:
    """The head of a name: the word before "of", or its last."""
    return part[part.index("of") - 1] if "of" in part[1:] else part[-1]


def _count_levels(catalog: StoredCatalog) -> I32:
    """How far each type is below a root, on the shortest way."""
    at, above = catalog.supertypes
    depth = np.where(np.diff(at) == 0, 0, -1).astype(np.int32)
    owner = np.repeat(np.arange(at.size - 1), np.diff(at))
    level = 0
    while True:
        reached = owner[(depth[above] == level) & (depth[owner] < 0)]
        if not reached.size:
            return np.maximum(depth, 0)
        level += 1
        depth[reached] = level
