"""Rows of biomedical concepts that were mentioned: their types, their names, and what MeSH knows of them.

A concept is named by MeSH, else by the source, else by the words of its mentions. A composite mention, "BRCA1/BRCA2",
has the words of several: of a concept that has one in a piece, the words that most single mentions there have are the
name. Knows nothing of the files they are mentioned in; `pubtator` and `bioc` share it, and the option `mesh`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from fader.corpora.frame.base import EntityRow, Records, TypeRow
from fader.corpora.frame.store import Store
from fader.corpora.parsers.biomedical.mesh_tables import Mesh, read_mesh
from fader.corpus.documents import Faults
from fader.errors import InputError
from fader.progress import Progress

MESH = "A file of MeSH (descriptors or tree) that gives entities their names, other names and types."


def read_chosen_mesh(path: str, faults: Faults, progress: Progress) -> Mesh | None:
    """The tables of the file that the option `mesh` names, if it names one."""
    if not path:
        return None
    mesh = read_mesh([path], faults, progress, aliases=True)
    if not mesh.headings:
        raise InputError(f"{path}: no heading of MeSH in it; give --mesh desc2026.xml, d2026.bin or mtrees2026.bin")
    return mesh


class ConceptRows:
    """The rows of the concepts of a piece, each once, with their types and what MeSH knows of them."""

    def __init__(self, mesh: Mesh | None) -> None:
        self._mesh = mesh
        self._types: dict[str, dict[str, None]] = {}
        self._titles: dict[str, str] = {}
        self._composite: set[str] = set()
        self._single: dict[str, Counter[str]] = {}

    def see(self, names: Sequence[str], types: Sequence[str], titles: Mapping[str, str], words: str) -> None:
        """Concepts of a mention, with its types and words, and names for some of them."""
        if len(names) == 1:
            self._single.setdefault(names[0], Counter())[" ".join(words.split())] += 1
        else:
            self._composite.update(names)
        for name in names:
            self._types.setdefault(name, {}).update(dict.fromkeys(types))
            if titles.get(name):
                self._titles.setdefault(name, titles[name])

    def add_to(self, out: Records) -> None:
        for name, types in self._types.items():
            known = self._mesh.entity(name.removeprefix("MESH:")) if self._mesh and name.startswith("MESH:") else None
            above = [] if known is None else list(known.types)
            alone = self._single.get(name) if name in self._composite else None  # others get a name from all pieces
            words = min(alone, key=lambda words: (-alone[words], words)) if alone else ""
            title = (self._titles.get(name) or words) if known is None else known.name
            out.entities.append(EntityRow(name, title, [*types, *above]))
            if self._mesh:
                out.types += self._mesh.rows(above)
        out.types += [TypeRow(t, t) for t in dict.fromkeys(t for types in self._types.values() for t in types)]


def complete_rows(mesh: Mesh | None, store: Store) -> None:
    """What MeSH has for all concepts together: other names, and types for those whose ids the file does not have.

    A tree without ids knows concepts by their names.
    """
    if mesh is None:
        return
    for name, surface, _count in store.mentioned():
        heading = mesh.headings.get(name.removeprefix("MESH:")) if name.startswith("MESH:") else None
        if heading and heading.aliases:
            store.entity(EntityRow(name, heading.title, (), heading.aliases))
        found = mesh.headings.get(mesh.named.get(surface.lower(), ""))
        if found and not found.ui and name.startswith("MESH:") and name.removeprefix("MESH:") not in mesh.headings:
            above = mesh.types(found)
            store.entity(EntityRow(name, found.title, above))
            for row in mesh.rows(above):
                store.type(row)
