"""MeSH, the medical subject headings: headings as entities, the places of the tree as types.

An entity has the types right above it in the tree, and its own if others are below it. A supplement has the types of
the headings that it is mapped to. Files and tables: `parsers.biomedical.mesh_tables`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fader.corpora.frame.base import Batch, Importer, Records
from fader.corpora.parsers.biomedical.mesh_tables import Mesh, cut_files, read_headings, read_mesh
from fader.corpus.documents import Faults
from fader.progress import Progress


@dataclass(frozen=True)
class MeshCatalog(Importer):
    """The medical subject headings as a catalog."""

    name: ClassVar[str] = "mesh"
    title: ClassVar[str] = "MeSH descriptors, supplements and trees: a catalog"
    example: ClassVar[str] = "fader import mesh desc2026.xml supp2026.xml -o mesh/"
    citation: ClassVar[str] = "U.S. National Library of Medicine, https://www.nlm.nih.gov/mesh/filelist.html"
    passes: ClassVar[int] = 2
    state_type: ClassVar[Any] = Mesh

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return cut_files(sources, faults)

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> Any:
        return read_mesh(sources, Faults(), progress)

    def convert(self, batch: Batch, state: Mesh, faults: Faults) -> Records:
        out = Records()
        for heading in read_headings(batch, faults):
            key = heading.ui or state.named.get(heading.title.lower(), "")
            row = state.entity(key)
            if row is not None:
                out.entities.append(row._replace(aliases=heading.aliases))
                out.types.extend(state.rows(row.types))
        return out
