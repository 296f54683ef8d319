"""The tree of types: roots, children by pages, the way down, counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings

from fader.errors import CatalogError, UsageError
from fader.search.typetree import TypeNode, TypeTree
from index.catalogs import Rows, graphs, stored_catalog
from oracles.bruteforce import reachable_types

TYPES: Rows = [
    {"id": "thing", "name": "Thing"},
    {"id": "person", "name": "Person", "supertypes": ["thing"]},
    {"id": "poet", "name": "Poet", "supertypes": ["writer", "person"]},
    {"id": "writer", "name": "Writer", "supertypes": ["person"]},
    {"id": "b-place", "name": "Âge", "supertypes": ["thing"]},
    {"id": "a-place", "name": "zone", "supertypes": ["thing"]},
    {"id": "alone", "name": "Alone"},
]
ENTITIES: Rows = [{"id": "E1", "types": ["poet", "writer"]}, {"id": "E2", "types": ["person"]}]


@contextmanager
def tree_of(entities: Rows, types: Rows) -> Iterator[TypeTree]:
    with stored_catalog(entities, types) as catalog:
        reader: Any = SimpleNamespace(catalog=catalog)
        yield TypeTree(reader)


@pytest.fixture(scope="module")
def tree() -> Iterator[TypeTree]:
    with tree_of(ENTITIES, TYPES) as found:
        yield found


def ids(nodes: list[TypeNode]) -> list[str]:
    return [node.id for node in nodes]


def test_a_node(tree: TypeTree) -> None:
    """An entity with two types below counts once."""
    assert tree.node("person") == TypeNode("person", "Person", ["thing"], subtypes=2, descendants=2, entities=2)
    assert tree.node("POET") == TypeNode("poet", "Poet", ["person", "writer"], subtypes=0, descendants=0, entities=1)
    with pytest.raises(CatalogError, match='unknown type "persn"; did you mean'):
        tree.node("persn")


def test_children(tree: TypeTree) -> None:
    """The most entities first, then by name, whatever its case and accents."""
    total, roots = tree.children(None)
    assert (total, ids(roots)) == (2, ["thing", "alone"])
    assert ids(tree.children("thing")[1]) == ["person", "b-place", "a-place"]
    assert ids(tree.children("person")[1]) == ["poet", "writer"]
    assert tree.children("alone") == (0, [])


def test_pages(tree: TypeTree) -> None:
    """Some of them, and always how many there are."""
    assert [ids(tree.children("thing", at, 2)[1]) for at in (0, 2, 4)] == [["person", "b-place"], ["a-place"], []]
    assert tree.children("thing", 10**30, 1) == (3, [])
    for offset, limit in ((-1, 1), (0, 0), (0, True), ("0", 1), (0, 10**9)):
        with pytest.raises(UsageError, match="must be a whole number"):
            tree.children("thing", offset, limit)  # type: ignore[arg-type]


def test_paths(tree: TypeTree) -> None:
    """The shortest way from a root, the type itself last."""
    assert ids(tree.path("poet")) == ["thing", "person", "poet"]
    assert ids(tree.path("thing")) == ["thing"]


@settings(deadline=None)
@given(graphs())
def test_any_hierarchy(case: tuple[Rows, Rows]) -> None:
    """Children are the reverse of supertypes; paths are chains of them, as short as a search downwards finds."""
    entities, types = case
    above = {t["id"]: t["supertypes"] for t in types}
    with tree_of(entities, types) as tree:
        for parent in (None, *above):
            total, nodes = tree.children(parent)
            assert set(ids(nodes)) == {t for t in above if (parent in above[t] if parent else not above[t])}
            assert total == len(nodes)
            assert nodes == sorted(nodes, key=lambda node: (-node.entities, node.name.casefold(), node.id))
        depth = {t: 0 for t in above if not above[t]}
        while len(depth) < len(above):
            level = max(depth.values())
            new = {t for t in above if t not in depth and any(depth.get(p) == level for p in above[t])}
            depth |= dict.fromkeys(new, level + 1)
        for t in above:
            node, path = tree.node(t), ids(tree.path(t))
            assert node.subtypes == sum(t in parents for parents in above.values())
            assert node.descendants == sum(t in reachable_types([u], above) for u in above) - 1
            assert node.entities == sum(t in reachable_types(e["types"], above) for e in entities)
            assert path[-1] == t
            assert not above[path[0]]
            assert all(a in above[b] for a, b in pairwise(path))
            assert len(path) == depth[t] + 1
