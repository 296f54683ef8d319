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
    same: dict[str, str] = field(default_factory=dict)

    def begin(self) -> None:
        self.types["~"] = {"id": "~", "name": "kind", "supertypes": []}  # so that types are not those of entities alone
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
        """Documents that mention what the catalog knows: of others nothing is kept."""
        return [self._without_unknown(document) for document in super()._documents(most)]

    def _without_unknown(self, document: dict[str, Any]) -> dict[str, Any]:
        known = self.entities.keys() | self.same.keys()
        return document | {"mentions": [m for m in document["mentions"] if m["entity"] in known]}

    def change(self) -> str:
        """One random change, of the catalog in two cases of three."""
        return self.change_catalog() if self.chance.random() < 0.67 else super().change()

    def change_catalog(self) -> str:
        """Some rows in, some out, and perhaps documents, in one commit."""
        c = self.chance
        types = {i: self._some_type(i) for i in c.sample(TYPE_IDS, c.choice([0, 0, 1, 2]))}
        known = {**self.types, **types}
        used = {t for row in (*self.entities.values(), *self.types.values(), *types.values()) for t in _above(row)}
        gone_types = [t for t in self.types if t not in {*used, *types, "~"} and c.random() < 0.5]
        left = [t for t in known if t not in gone_types]
        ids = c.sample([f"E{i}" for i in range(9)] + ["D1", "E10", "é"], c.choice([0, 1, 2, 3]))
        entities = {i: some_entity(c, i, left) for i in ids}
        gone = [e for e in self.entities if e not in entities and c.random() < 0.1]
        same = self._some_same(set(self.entities) | set(entities) - set(gone), {*entities, *gone})
        if not (types or gone_types or entities or gone or same):
            return "nothing"
        change = CatalogChange(
            list(entities.values()) or None, list(types.values()) or None, [*gone, "absent"], gone_types,
            same_as=same or None,
        )  # fmt: skip
        self.entities = {i: row for i, row in (self.entities | entities).items() if i not in gone}
        self.types = {i: row for i, row in (self.types | types).items() if i not in gone_types}
        self._join(same)
        report = self._commit(change)
        assert report.entities.missing == ["absent"]
        assert (report.entities.removed, report.types.removed) == (len(gone), len(gone_types))
        return "catalog"

    def _some_same(self, left: set[str], touched: set[str]) -> dict[str, str]:
        """Perhaps a pair or a chain of entities that become others, none of which is put in or removed at once."""
        free = sorted(left - touched)
        if len(free) < 4 or self.chance.random() < 0.6:
            return {}
        a, b, c = self.chance.sample(free, 3)
        return self.chance.choice([{a: b}, {a: b, b: c}, {a: c, b: c}, {"unseen": c}])

    def _join(self, new: dict[str, str]) -> None:
        """What becomes of rows and of ids that stand for others."""
        same = {a: b for a, b in self.same.items() if a not in self.entities} | new
        ends = {a: _end(same, a) for a in same}
        for a in new:
            if a in self.entities:
                gone, stays = self.entities[a], self.entities[ends[a]]
                labels = [*stays["aliases"], gone["name"], *gone["aliases"]]
                labels = [label for label in dict.fromkeys(labels) if label != stays["name"]]
                types = [*stays["types"], *gone["types"]]
                self.entities[ends[a]] = stays | {"aliases": labels, "types": list(dict.fromkeys(types))}
        self.entities = {i: row for i, row in self.entities.items() if i not in new}
        self.same = {a: b for a, b in ends.items() if b in self.entities}

    def _commit(self, change: CatalogChange) -> ChangeReport:
        documents = self._documents(4)
        options = ChangeOptions(merge=self.chance.random() < 0.5)
        report = add(self.folder, documents, options, catalog=change)
        self._take(documents)
        return report

    def _resolved(self, document: dict[str, Any]) -> dict[str, Any]:
        """A document whose mentions say what they count for."""
        return document | {
            "mentions": [m | {"entity": self.same.get(m["entity"], m["entity"])} for m in document["mentions"]]
        }

    def fresh(self, folder: Path) -> fader.Index:
        """An index of the survivors with the catalog as it is now."""
        documents = [self._resolved(document) for document in self.living.values()]
        rows, types = list(self.entities.values()), list(self.types.values())
        for some in (documents, rows, types):
            self.chance.shuffle(some)
        kept = IndexReader(self.folder).segments[0].text.keeps_text
        return fader.build(folder, documents, rows, types, stopwords=STOP, store_text=kept)


def _above(row: dict[str, Any]) -> list[str]:
    found: list[str] = row.get("types", row.get("supertypes"))
    return found


def _end(same: dict[str, str], at: str) -> str:
    while at in same:
        at = same[at]
    return at
