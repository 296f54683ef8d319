"""Random histories of an index: adds, replacements, deletes and merges, and the documents that survive them.

Small alphabets, so that ids, words and spans collide. Everything is drawn from one seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fader
from fader.errors import QueryError
from fader.index.reader import IndexReader
from fader.index.write.change import ChangeOptions, add, delete, merge

WORDS = ["a", "b", "c", "d", "e", "the", "of", "é", "x1", "A"]
STOP = ("the", "of")
IDS = 40
TYPES = [
    {"id": "thing", "name": "thing", "supertypes": []},
    {"id": "person", "name": "person", "supertypes": ["thing"]},
    {"id": "poet", "name": "poet", "supertypes": ["person"]},
]
ENTITIES = [{"id": f"E{i}", "name": f"name {i}", "types": [("thing", "person", "poet")[i % 3]]} for i in range(7)]
LITERALS = [*(w for w in WORDS if w not in STOP), '"a b"', '"b the c"', '"c c"', '"é a"', "absent"]


def some_document(chance: random.Random) -> dict[str, Any]:
    """A document of a few tokens, or of none, with mentions that may overlap."""
    tokens = [chance.choice(WORDS) for _ in range(chance.randrange(16))]
    starts = [sum(len(t) + 1 for t in tokens[:i]) for i in range(len(tokens))]
    mentions = []
    for i, start in enumerate(starts):
        while chance.random() < 0.3:
            last = min(len(tokens) - 1, i + chance.randrange(3))
            span = {"start": start, "end": starts[last] + len(tokens[last])}
            confidence = chance.choice([1.0, 0.5, chance.random()])
            mentions.append({**span, "entity": f"E{chance.randrange(7)}", "confidence": confidence})
    name = chance.choice(["d{}", "{:03d}", "é{}"]).format(chance.randrange(IDS))
    return {"id": name, "text": " ".join(tokens), "mentions": mentions, "title": f"T{name}", "prior": chance.random()}


def some_query(chance: random.Random) -> tuple[str, str | None]:
    """A query, and its type; literals may contradict each other."""
    signs = ["", "", "", "+", "-"]
    literals = [chance.choice(signs) + chance.choice(LITERALS) for _ in range(chance.randrange(1, 6))]
    return " ".join(literals), chance.choice([None, "thing", "person", "poet"])


@dataclass
class History:
    """An index that is changed, and what is in it."""

    folder: Path
    chance: random.Random
    living: dict[str, dict[str, Any]] = field(default_factory=dict)

    def _documents(self, most: int) -> list[dict[str, Any]]:
        """Fewer than `most` documents to put in."""
        return [some_document(self.chance) for _ in range(self.chance.randrange(most))]

    def begin(self) -> None:
        documents = self._documents(25)
        fader.build(
            self.folder, documents, ENTITIES, TYPES, stopwords=STOP, store_text=self.chance.random() < 0.9,
            segment_tokens=self.chance.choice([None, 20, 60]),
        )  # fmt: skip
        self._take(documents)

    def _take(self, documents: list[dict[str, Any]]) -> None:
        """Of documents with one id the first counts; it takes the place of one that was there before."""
        first: dict[str, dict[str, Any]] = {}
        for document in documents:
            first.setdefault(document["id"], document)
        self.living |= first

    def change(self) -> str:
        """One random change."""
        options = ChangeOptions(merge=self.chance.random() < 0.5, keep=self.chance.choice([None, 1, 3]))
        kind = self.chance.choice(["add", "add", "delete", "merge"])
        if kind == "add":
            documents = self._documents(9)
            add(self.folder, documents, options)
            self._take(documents)
        elif kind == "delete":
            ids = [some_document(self.chance)["id"] for _ in range(self.chance.randrange(9))]
            delete(self.folder, ids, options)
            for name in ids:
                self.living.pop(name, None)
        else:
            merge(self.folder, options)
        return kind

    def fresh(self, folder: Path) -> fader.Index:
        """An index of the survivors, built at once and in another order."""
        documents = list(self.living.values())
        self.chance.shuffle(documents)
        kept = IndexReader(self.folder).segments[0].text.keeps_text
        return fader.build(folder, documents, ENTITIES, TYPES, stopwords=STOP, store_text=kept)

    def queries(self, count: int) -> Iterator[tuple[str, str | None]]:
        """So many queries that can be asked."""
        index = fader.open(self.folder)
        while count:
            query = some_query(self.chance)
            with suppress(QueryError):
                index.parse(*query)
                count -= 1
                yield query
