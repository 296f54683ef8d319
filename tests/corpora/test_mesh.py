"""MeSH: types from trees."""

from __future__ import annotations

from pathlib import Path

from fader.corpora.parsers.biomedical.mesh_tables import read_mesh
from fader.corpus.documents import Faults

FIXTURES = Path(__file__).parent / "fixtures" / "mesh"


def mesh(*names: str):  # type: ignore[no-untyped-def]
    return read_mesh([str(FIXTURES / name) for name in names], Faults("fail"))


def test_types_of_headings() -> None:
    """A heading has the types right above it, and its own if others are below it; a supplement that of its heading."""
    tables = mesh("desc.xml", "supp.xml")
    assert tables.entity("D006973").types == ["mesh_D014652"]
    assert tables.entity("D009371").types == ["mesh_D009369", "mesh_D009371"]
    assert tables.entity("C012345").types == ["mesh_D014652"]
    assert tables.entity("D1") is None


def test_types_above_types() -> None:
    """The rows of a type reach up to the branch, each once; a gap in the tree is closed by the nearest known place."""
    tables = mesh("desc.xml")
    rows = {row.id: list(row.supertypes) for row in tables.rows(["mesh_D009371"])}
    assert rows == {"mesh_D009371": ["mesh_D009369"], "mesh_D009369": ["mesh_C"], "mesh_C": []}
    assert tables.entity("D001943").types == ["mesh_D009371", "mesh_C"]


def test_trees_join_descriptors() -> None:
    """A tree without ids adds its places to headings of the same name; others are known by their tree numbers."""
    tables = mesh("desc.xml", "mtrees.bin")
    assert tables.named["hypertension"] == "D006973"
    assert tables.entity("A01.923").types == ["mesh_A01", "mesh_A01.923"]
