"""Examples that are kept beside an index, so that no start of a service waits for them.

They are chosen when `fader index`, `start` or `add` has made an index of 1,000 documents or more, and kept in the file
examples.json of its folder. They are chosen anew when an index is built anew, and when documents, entities or types
have become more or fewer by a tenth since then; until then they are used as they are, since a question that was
answered well by nine tenths of an index is a good one still. Those of smaller indexes, or of a folder that cannot be
written, are made when they are asked for. The file is no part of a commit: an index without it is whole.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from fader.search.examples import ExampleQuery, make_examples
from fader.search.index import Index
from fader.search.suggest import Suggester

FILE = "examples.json"
VERSION = 1  # of the rule by which they are chosen
MADE = 6
CHANGE = 0.1
LARGEST = 1 << 16  # bytes


class Sizes(msgspec.Struct, frozen=True):
    """How much an index has of what examples depend on."""

    documents: int
    entities: int
    types: int

    def is_near(self, other: Sizes) -> bool:
        """Whether none of the counts differs by more than a tenth."""
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return all(abs(a - b) <= CHANGE * max(a, b) for a, b in pairs)


class StoredExamples(msgspec.Struct, frozen=True):
    """The examples of an index, and how large it was when they were chosen."""

    version: int
    sizes: Sizes
    examples: list[str]


def find_examples(index: Index, suggester: Suggester) -> list[ExampleQuery]:
    """The examples that are kept beside an index, or else made now."""
    stored = _read(index.collection.folder, _measure(index))
    return make_examples(index, suggester, MADE) if stored is None else [ExampleQuery(text) for text in stored]


def renew_examples(folder: Path, anew: bool = False) -> bool:
    """Choose the examples of an index where that is due, or `anew` in any case, and keep them; whether it was done."""
    index = Index.open(folder)
    sizes = _measure(index)
    if not anew and _read(folder, sizes) is not None:
        return False
    made = make_examples(index, Suggester(index.collection), MADE)
    kept = StoredExamples(VERSION, sizes, [example.q for example in made])
    pending = folder / f"{FILE}.pending"
    with suppress(OSError):  # they are made when they are asked for
        pending.write_bytes(msgspec.json.encode(kept))
        pending.replace(folder / FILE)
        return True
    return False


def _read(folder: Path, sizes: Sizes) -> list[str] | None:
    """The examples of a folder that are still good, or None."""
    with suppress(OSError, msgspec.MsgspecError, ValueError, RecursionError):
        with (folder / FILE).open("rb") as file:
            stored = msgspec.json.decode(file.read(LARGEST), type=StoredExamples)
        if stored.version == VERSION and stored.sizes.is_near(sizes):
            return stored.examples[:MADE]
    return None


def _measure(index: Index) -> Sizes:
    catalog = index.collection.catalog
    return Sizes(index.collection.documents, len(catalog.entity_ids), len(catalog.type_ids))
