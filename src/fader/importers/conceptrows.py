"""Rows of biomedical concepts that were mentioned: their types, and what MeSH knows of them.

Knows nothing of files; `pubtator` and `bioc` share it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fader.importers.base import EntityRow, Records, TypeRow
from fader.importers.mesh import Mesh
from fader.importers.store import Store


class ConceptRows:
    """The rows of the concepts of a piece, each once, with their types and what MeSH knows of them."""

    def __init__(self, mesh: Mesh | None) -> None:
        self._mesh = mesh
        self._types: dict[str, dict[str, None]] = {}
        self._titles: dict[str, str] = {}

    def see(self, names: Sequence[str], types: Sequence[str], titles: Mapping[str, str]) -> None:
        """Concepts that were met, with the types of the mention, and names for some of them."""
        for name in names:
            self._types.setdefault(name, {}).update(dict.fromkeys(types))
            if titles.get(name):
                self._titles.setdefault(name, titles[name])

    def add_to(self, out: Records) -> None:
        for name, types in self._types.items():
            known = self._mesh.entity(name.removeprefix("MESH:")) if self._mesh and name.startswith("MESH:") else None
            above = [] if known is None else list(known.types)
            title = self._titles.get(name, "") if known is None else known.name
            out.entities.append(EntityRow(name, title, [*types, *above]))
            if self._mesh:
                out.types += self._mesh.rows(above)
        out.types += [TypeRow(t, t) for t in dict.fromkeys(t for types in self._types.values() for t in types)]


def place_by_name(mesh: Mesh | None, store: Store) -> None:
    """Types for concepts of MeSH whose ids the file does not have: a tree without ids knows them by their names."""
    if mesh is None:
        return
    for name, surface, _count in store.mentioned():
        found = mesh.headings.get(mesh.named.get(surface.lower(), ""))
        if found and not found.ui and name.startswith("MESH:") and name.removeprefix("MESH:") not in mesh.headings:
            above = mesh.types(found)
            store.entity(EntityRow(name, found.title, above))
            for row in mesh.rows(above):
                store.type(row)
