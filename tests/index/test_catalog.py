"""The stored catalog answers what the plain one would: who is of which type, and what is called how."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.errors import CatalogError
from fader.index.catalog import StoredCatalog
from fader.index.names import name_key
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
WORDS = [
    "city", "cities", "City", "citys", "person", "people", "Persons", "man", "men", "series", "box", "boxes", "gas",
    "goose", "geese", "día", "dias", "naval officer", "naval officers", "officer", "officers", "navals officer",
]  # fmt: skip


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


@pytest.mark.parametrize(
    ("wanted", "type", "entities"),
    [
        ("scientists", "T1", 1),
        ("Physician", "T6", 0),
        ("PHYSICIAN", "T6", 0),
        ("naval officers", "naval_officer", 0),
        ("cafes", "T7", 0),
        ("people", "T2", 2),
        ("films", "T8", 0),
        ("movie", "T8", 0),
    ],
)
def test_number_and_accents_do_not_matter(wanted: str, type: str, entities: int) -> None:
    """By the rule of questions, whether the catalog or the user has the plural; it is said, but for a synonym."""
    more: Rows = [
        {"id": "T6", "name": "Physicians"},
        {"id": "naval_officer", "name": "sailor"},
        {"id": "T7", "name": "Café"},
        {"id": "T8", "name": "film, movie"},
    ]
    with stored_catalog(ENTITIES, [*TYPES[:4], *more]) as catalog:
        assert catalog.type_ids[catalog.resolve_type(wanted)] == type
        said = f'"{wanted}" is read as type {type} ({entities:,} entities)'
        assert catalog.note_senses(wanted) == ("" if wanted == "movie" else said)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6, unique=True), st.sampled_from(WORDS))
def test_alike_names_are_found_as_by_comparing_all(names: list[str], wanted: str) -> None:
    """What the words of labels find are the names with the same singulars."""
    with stored_catalog([], [{"id": f"T{i}", "name": name} for i, name in enumerate(names)]) as catalog:
        same = [i for i, name in enumerate(names) if name.casefold() == wanted.casefold()]
        alike = [i for i, name in enumerate(names) if name_key(name) == name_key(wanted)]
        assert catalog.find_senses(wanted) == (same or alike)


def test_insults_are_never_offered() -> None:
    """Neither as the nearest spelling nor as another sense; by its own name such a type is found."""
    types: Rows = [{"id": "T1", "name": "moron"}, {"id": "T2", "name": "fool, simpleton"}, {"id": "T3", "name": "fool"}]
    types += [{"id": "T4", "name": "fool or moron"}]
    with stored_catalog([{"id": "E", "name": "E", "types": ["T2"]}], types) as catalog:
        assert catalog.type_ids[catalog.resolve_type("moron")] == "T1"
        with pytest.raises(CatalogError, match=r'^unknown type "moroon"; `fader types` lists the types$'):
            catalog.resolve_type("moroon")
        assert catalog.note_senses("fools") == '"fools" is read as type T2 (1 entities); it may also be T3 (0)'


@pytest.mark.parametrize("wanted", ["scientst", "Sciientists"])
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
