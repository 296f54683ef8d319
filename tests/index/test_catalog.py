"""The stored catalog answers what the plain one would: who is of which type, and what is called how."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from fader.errors import CatalogError
from fader.index.catalog import StoredCatalog
from index.catalogs import Rows, graphs, stored_catalog
from oracles.bruteforce import reachable_types

TYPES: Rows = [
    {"id": "T1", "name": "Scientist", "supertypes": ["T2"]},
    {"id": "T2", "name": "Person"},
    {"id": "T3", "name": "Bank"},
    {"id": "T4", "name": "bank"},
    {"id": "person", "name": "Grammatical person"},
    {"id": "Straße", "name": "Street"},
]
ENTITIES: Rows = [
    {"id": "E1", "name": "Albert Einstein", "types": ["T1"], "aliases": ["Einstein", "A. E."]},
    {"id": "E2", "name": "Alberta", "types": []},
    {"id": "E3", "name": "einsteinium", "types": ["T3", "T2"]},
]


@pytest.fixture(scope="module")
def catalog() -> Iterator[StoredCatalog]:
    with stored_catalog(ENTITIES, TYPES) as found:
        yield found


def test_rows_come_back(catalog: StoredCatalog) -> None:
    """Ids, names, direct types, aliases and supertypes."""
    assert list(catalog.entity_ids) == ["E1", "E2", "E3"]
    assert list(catalog.entity_names) == ["Albert Einstein", "Alberta", "einsteinium"]
    assert [catalog.types_of(e) for e in range(3)] == [["T1"], [], ["T2", "T3"]]
    described = [("E3", "einsteinium", ["T2", "T3"]), ("E1", "Albert Einstein", ["T1"]), ("E2", "Alberta", [])]
    assert catalog.describe_entities([2, 0, 1]) == described
    assert catalog.describe_entities([]) == []
    assert [catalog.aliases_of(e) for e in range(3)] == [["Einstein", "A. E."], [], []]
    assert catalog.supertypes_of(catalog.resolve_type("T1")) == ["T2"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("T1", "T1"),
        ("t1", "T1"),
        ("Scientist", "T1"),
        ("SCIENTIST", "T1"),
        ("person", "person"),
        ("Street", "Straße"),
        ("STRASSE", "Straße"),
        ("grammatical person", "person"),
    ],
)
def test_a_type_is_found_by_id_or_name(catalog: StoredCatalog, wanted: str, found: str) -> None:
    """An id as it stands wins; names and ids are then found whatever their case."""
    assert catalog.type_ids[catalog.resolve_type(wanted)] == found


def test_of_an_ambiguous_name_the_larger_sense_is_taken(catalog: StoredCatalog) -> None:
    """It is said, and the others are offered."""
    taken, other = catalog.find_senses("Bank")
    assert {catalog.type_ids[taken], catalog.type_ids[other]} == {"T3", "T4"}
    assert catalog.entities_below[taken] >= catalog.entities_below[other]
    assert catalog.resolve_type("Bank") == taken
    assert f"it may also be {catalog.type_ids[other]} (" in catalog.note_senses("Bank")
    assert catalog.note_senses("T3") == ""


@pytest.mark.parametrize("wanted", ["scientst", "Scientists"])
def test_an_unknown_type_comes_with_a_suggestion(catalog: StoredCatalog, wanted: str) -> None:
    """The nearest name; nothing where nothing is near."""
    with pytest.raises(CatalogError, match=rf'^unknown type "{wanted}"; did you mean "scientist"'):
        catalog.resolve_type(wanted)
    with pytest.raises(CatalogError, match=r'^unknown type "qqqqqqqq"'):
        catalog.resolve_type("qqqqqqqq")


def test_an_unknown_entity_is_an_error(catalog: StoredCatalog) -> None:
    """Entities are found by id only."""
    assert catalog.resolve_entity("E2") == 1
    with pytest.raises(CatalogError, match='unknown entity "E9"'):
        catalog.resolve_entity("E9")


def test_an_unknown_entity_comes_with_a_suggestion() -> None:
    """An id is compared with ids."""
    with stored_catalog([{"id": "Q12345", "name": "x"}], []) as found:
        with pytest.raises(CatalogError) as caught:
            found.resolve_entity("Q12346")
        assert str(caught.value) == 'unknown entity "Q12346"; did you mean "Q12345"?'


@settings(deadline=None)
@given(graphs())
def test_entities_of_a_type_are_those_that_reach_it(case: tuple[Rows, Rows]) -> None:
    """An entity matches T if T is reachable from one of its types; descendants are what reaches a type."""
    entities, types = case
    above = {t["id"]: t["supertypes"] for t in types}
    with stored_catalog(entities, types) as found:
        for number, name in enumerate(found.type_ids):
            matching = [e["id"] for e in entities if name in reachable_types(e["types"], above)]
            assert [found.entity_ids[e] for e in found.entities_of_type(number)] == sorted(matching)
            below = sorted(t for t in above if name in reachable_types([t], above))
            assert [found.type_ids[t] for t in found.descendants(number)] == below
            assert found.type_mask(number).tolist() == [int(t in below) for t in found.type_ids]
            assert found.entities_below[number] == len(matching)
