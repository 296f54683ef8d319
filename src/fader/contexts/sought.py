"""A literal as it is looked for in an index: its terms, whether by their stems, and the number of its entity.

Knows nothing of where it occurs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from fader.contexts.query import Literal
from fader.index.reader import IndexReader


class SoughtLiteral(NamedTuple):
    """What says where a literal occurs. `stems` names the language of stems, empty for words as they are; `entity` is
    the number of the entity whose mentions count as occurrences, -1 for none.
    """

    terms: tuple[str, ...]
    offsets: tuple[int, ...]
    length: int
    stems: str = ""
    entity: int = -1

    @property
    def is_plain(self) -> bool:
        """Whether it occurs where its own words stand, and nowhere else."""
        return not self.stems and self.entity < 0 and len(self.terms) > 0


class SoughtLiterals(NamedTuple):
    """The literals of a query: those to be near, which of them a document must have, and those it must not have."""

    positive: tuple[SoughtLiteral, ...]
    required: tuple[bool, ...]
    forbidden: tuple[SoughtLiteral, ...]


def seek(reader: IndexReader, literals: Iterable[Literal], stem: bool, entities: bool) -> tuple[SoughtLiteral, ...]:
    """Literals as they are looked for, by stem and by entity where that is wanted and the literal allows it."""
    stems, ids = reader.analysis.stems if stem else "", reader.catalog.entity_ids
    found = []
    for literal in literals:
        named = literal.entity is not None and (not literal.terms or (entities and not literal.exact))
        number = ids.find(literal.entity) if named and literal.entity is not None else -1
        own = "" if literal.exact or not literal.terms else stems
        found.append(SoughtLiteral(literal.terms, literal.offsets, literal.length, own, number))
    return tuple(found)
