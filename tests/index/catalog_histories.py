"""Random histories of a catalog: entities, names, types and edges come, change and go, among changes of documents.

Small alphabets, so that ids and names collide and sort between each other. Everything is drawn from one seed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fader
from fader.corpus.catalog_change import CatalogChange
from fader.index.reader import IndexReader
from fader.index.write.change import ChangeOptions, ChangeReport, add
from index.histories import STOP, History

NAMES = ["a", "b c", "the é", "A", "name 1", "x1 c", "É"]
TYPE_IDS = [f"T{i}" for i in range(5)] + ["thing", "person", "poet"]


def some_entity(chance: random.Random, identity: str, types: list[str]) -> dict[str, Any]:
    """A row with a name, a few aliases and a few types."""
    aliases = [chance.choice(NAMES) for _ in range(chance.randrange(3))]
    above = chance.sample(types, min(len(types), chance.randrange(3)))
    return {"id": identity, "name": chance.choice([*NAMES, identity]), "types": above, "aliases": aliases}


@dataclass
class CatalogHistory(History):
    """An index whose catalog is changed too, and the catalog's rows; edges run to smaller ids, so there is no cycle."""

    entities: dict[str, dict[str, Any]] = field(default_factory=dict)
    types: dict[str, dict[str, Any]] = field(default_factory=dict)
    removed: int = 0

    def begin(self) -> None:
        for identity in self.chance.sample(TYPE_IDS, 4):
            self.types[identity] = self._some_type(identity)
        for i in range(7):
            self.entities[f"E{i}"] = some_entity(self.chance, f"E{i}", list(self.types))
        documents = self._documents(25)
        fader.build(
            self.folder, documents, self.entities.values(), self.types.values(), stopwords=STOP,
            segment_tokens=self.chance.choice([None, 20, 60]),
        )  # fmt: skip
        self._take(documents)

    def _some_type(self, identity: str) -> dict[str, Any]:
        higher = [t for t in self.types if t < identity]
        above = self.chance.sample(higher, min(len(higher), self.chance.randrange(3)))
        return {"id": identity, "name": self.chance.choice(["kind", identity]), "supertypes": above}

    def _documents(self, most: int) -> list[dict[str, Any]]:
        """Documents that mention entities of the catalog alone."""
        return [self._without_unknown(document) for document in super()._documents(most)]

    def _without_unknown(self, document: dict[str, Any]) -> dict[str, Any]:
        return document | {"mentions": [m for m in document["mentions"] if m["entity"] in self.entities]}

    def change(self) -> str:
        """One random change, of the catalog in two cases of three."""
        return self.change_catalog() if self.chance.random() < 0.67 else super().change()

    def change_catalog(self) -> str:
        """Some rows in, some out, and perhaps documents, in one commit."""
        c = self.chance
        types = {i: self._some_type(i) for i in c.sample(TYPE_IDS, c.choice([0, 0, 1, 2]))}
        known = {**self.types, **types}
        used = {t for row in (*self.entities.values(), *self.types.values(), *types.values()) for t in _above(row)}
        gone_types = [t for t in self.types if t not in used and t not in types and c.random() < 0.5]
        left = [t for t in known if t not in gone_types]
        ids = c.sample([f"E{i}" for i in range(9)] + ["D1", "E10", "é"], c.choice([0, 1, 2, 3]))
        entities = {i: some_entity(c, i, left) for i in ids}
        gone = [e for e in self.entities if e not in entities and c.random() < 0.1]
        if not (types or gone_types or entities or gone):
            return "nothing"
        report = self._commit(CatalogChange(
            list(entities.values()) or None, list(types.values()) or None, [*gone, "absent"], gone_types,
        ), entities, types, gone, gone_types)  # fmt: skip
        assert report.entities.missing == ["absent"]
        assert (report.entities.removed, report.types.removed) == (len(gone), len(gone_types))
        return "catalog"

    def _commit(
        self, change: CatalogChange, entities: Any, types: Any, gone: list[str], gone_types: list[str]
    ) -> ChangeReport:
        self.entities = {i: row for i, row in (self.entities | entities).items() if i not in gone}
        self.types = {i: row for i, row in (self.types | types).items() if i not in gone_types}
        self.living = {i: self._without_unknown(document) for i, document in self.living.items()}
        documents = self._documents(4)
        options = ChangeOptions(merge=self.chance.random() < 0.5)
        report = add(self.folder, documents, options, catalog=change)
        self._take(documents)
        self.removed += len(gone)
        return report

    def fresh(self, folder: Path) -> fader.Index:
        """An index of the survivors with the catalog as it is now."""
        documents, rows, types = list(self.living.values()), list(self.entities.values()), list(self.types.values())
        for some in (documents, rows, types):
            self.chance.shuffle(some)
        kept = IndexReader(self.folder).segments[0].text.keeps_text
        return fader.build(folder, documents, rows, types, stopwords=STOP, store_text=kept)


def _above(row: dict[str, Any]) -> list[str]:
    found: list[str] = row.get("types", row.get("supertypes"))
    return found
