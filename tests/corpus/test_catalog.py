"""Entities and types are read and checked as a whole: what does not fit together is named."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fader.corpus.catalog import Catalog, read_catalog
from fader.errors import CatalogError, InputError

ENTITIES = "E2\tBeta\tT1\tB|Bee\nE10\tAlpha\tT2|T1\n"
TYPES = "T2\tTwo\tT1\nT1\tOne\t\n"


def files(folder: Path, entities: str | bytes = ENTITIES, types: str | bytes = TYPES) -> tuple[Path, Path]:
    paths = folder / "entities.tsv", folder / "types.tsv"
    for path, content in zip(paths, (entities, types), strict=True):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return paths


def message_of(*given: Any, **options: Any) -> str:
    with pytest.raises(CatalogError) as caught:
        read_catalog(*given, **options)
    return str(caught.value)


def test_both_files_are_read(tmp_path: Path) -> None:
    """Rows are numbered by id in code point order; types and supertypes are given by these numbers."""
    catalog = read_catalog(*files(tmp_path))
    assert [(e.id, e.name, e.aliases) for e in catalog.entities] == [
        ("E10", "Alpha", []),
        ("E2", "Beta", ["B", "Bee"]),
    ]
    assert [(t.id, t.name) for t in catalog.types] == [("T1", "One"), ("T2", "Two")]
    assert catalog.entity_types == [[0, 1], [0]]
    assert catalog.supertypes == [[], [0]]
    assert catalog.notes == []


def test_dictionaries_mean_the_same_as_files(tmp_path: Path) -> None:
    """The two ways in lead to the same catalog; a missing name is the id."""
    entities = [
        {"id": "E2", "name": "Beta", "types": ["T1"], "aliases": ["B", "Bee"]},
        {"id": "E10", "name": "Alpha", "types": ["T2", "T1", "T1"], "aliases": None},
    ]
    types = [{"id": "T2", "name": "Two", "supertypes": ["T1"]}, {"id": "T1", "name": "One"}]
    assert plain(read_catalog(entities, types)) == plain(read_catalog(*files(tmp_path)))
    assert read_catalog([{"id": "E"}], []).entities[0].name == "E"


def plain(catalog: Catalog) -> tuple[Any, ...]:
    """A catalog without the places of its rows."""
    rows = [[(r.id, r.name, r.above, r.aliases) for r in side] for side in (catalog.entities, catalog.types)]
    for side in rows:
        side[:] = [(i, n, sorted(set(above)), aliases) for i, n, above, aliases in side]
    return (*rows, catalog.entity_types, catalog.supertypes)


def test_marks_line_ends_blank_lines_and_missing_cells_are_no_faults(tmp_path: Path) -> None:
    """The last columns may be missing or empty; empty aliases and types are none."""
    entities = b"\xef\xbb\xbfE1\tOne\t\t\r\n\r\nE2\tTwo\t|T1||\t|a||b|\r\nE3\t\r\n"
    catalog = read_catalog(*files(tmp_path, entities, "T1\n"))
    assert [(e.id, e.name, e.aliases) for e in catalog.entities] == [
        ("E1", "One", []),
        ("E2", "Two", ["a", "b"]),
        ("E3", "E3", []),
    ]
    assert catalog.entity_types == [[], [0], []]


def test_empty_files_are_an_empty_catalog(tmp_path: Path) -> None:
    """No entity and no type is a catalog too."""
    assert plain(read_catalog(*files(tmp_path, "", ""))) == ([], [], [], [])


def test_empty_aliases_of_dictionaries_are_none() -> None:
    """An empty name is no name, whichever way it came in."""
    assert read_catalog([{"id": "E", "aliases": ["", "a", ""]}], []).entities[0].aliases == ["a"]


@pytest.mark.parametrize(
    ("edges", "cycle"),
    [
        ("A\ta\tB\nB\tb\tC\nC\tc\tA\nD\td\tA\n", {"A", "B", "C"}),
        ("A\ta\tB|A\nB\tb\t\n", {"A"}),
    ],
)
def test_a_cycle_is_named(tmp_path: Path, edges: str, cycle: set[str]) -> None:
    """The message walks the cycle, says where one of its lines is, and what to do."""
    message = message_of(*files(tmp_path, "", edges))
    place, text, remedy = message.replace(": the type hierarchy has a cycle: ", "; ").split("; ")
    walk = text.split(" -> ")
    assert walk[0] == walk[-1]
    assert set(walk) == cycle
    assert len(walk) == len(cycle) + 1
    assert remedy == "remove one of these edges"
    path, line = place.rsplit(":", 1)
    assert path == str(tmp_path / "types.tsv")
    assert edges.split("\n")[int(line) - 1][0] in cycle


graphs = st.integers(1, 6).flatmap(lambda n: st.lists(st.sets(st.integers(0, n - 1)), min_size=n, max_size=n))


@given(graphs)
def test_exactly_the_graphs_with_a_cycle_are_refused(above: list[set[int]]) -> None:
    """Every edge of the cycle that the message walks exists, from subtype to supertype."""
    types = [{"id": str(i), "supertypes": [str(a) for a in sorted(row)]} for i, row in enumerate(above)]
    reach = [set(row) for row in above]
    for _ in above:
        reach = [row | {b for a in row for b in above[a]} for row in reach]
    if not any(i in row for i, row in enumerate(reach)):
        assert read_catalog([], types).supertypes == [sorted(row) for row in above]
        return
    walk = [int(i) for i in message_of([], types).split("cycle: ")[1].split(";")[0].split(" -> ")]
    assert len(walk) > 1
    assert walk[0] == walk[-1]
    assert all(b in above[a] for a, b in itertools.pairwise(walk))


def test_an_unknown_supertype_is_named_with_a_suggestion(tmp_path: Path) -> None:
    """Place, value, and the nearest known type."""
    message = message_of(*files(tmp_path, "", "person\tPerson\t\nscientist\tScientist\tpersn\n"))
    assert message == f'{tmp_path / "types.tsv"}:2: unknown supertype "persn"; did you mean "person"?'


def test_an_unknown_type_of_an_entity_is_named_with_a_suggestion(tmp_path: Path) -> None:
    """Place, value, and the nearest known type."""
    message = message_of(*files(tmp_path, "E\te\tpersn\n", "person\tPerson\t\n"))
    assert message == f'{tmp_path / "entities.tsv"}:1: unknown type "persn"; did you mean "person"?'


def test_an_unknown_type_beside_no_known_one_is_named() -> None:
    """Without anything to suggest the message stands alone."""
    assert message_of([{"id": "E", "types": ["T"]}], []) == 'entity 1: unknown type "T"'


def test_a_duplicate_id_names_both_places(tmp_path: Path) -> None:
    """The second is at fault; the first is where to look."""
    entities, types = files(tmp_path, "E1\ta\nE2\tb\nE1\tc\n", "T\n")
    assert message_of(entities, types) == (f'{entities}:3: duplicate entity id "E1"; the first is at {entities}:1')
    entities, types = files(tmp_path, "", "T\tx\nT\ty\n")
    assert message_of(entities, types) == f'{types}:2: duplicate type id "T"; the first is at {types}:1'


@pytest.mark.parametrize(
    ("entities", "types", "expected"),
    [
        ("E1\n", "", "entities.tsv:1: 1 columns; expected tab-separated id, name, types, aliases"),
        ("E1\ta\t\t\tx\n", "", "entities.tsv:1: 5 columns; expected tab-separated id, name, types, aliases"),
        ("", "T\tx\t\ty\n", "types.tsv:1: 4 columns; expected tab-separated id, name, supertypes"),
        ("\ta\t\n", "", "entities.tsv:1: "),
    ],
)
def test_bad_columns_are_named(tmp_path: Path, entities: str, types: str, expected: str) -> None:
    """Place, what was found, what was expected."""
    assert expected in message_of(*files(tmp_path, entities, types))


def test_a_dictionary_needs_an_id() -> None:
    """Named by kind and number."""
    assert message_of([{"id": "E"}, {"name": "x"}], []) == "entity 2: needs an id"
    assert message_of([], [{"id": None}]) == "type 1: needs an id"


def test_an_id_may_be_a_number() -> None:
    """As in documents, a number is read as its digits."""
    assert read_catalog([{"id": 0}], []).entities[0].id == "0"


def test_a_list_of_paths_is_refused(tmp_path: Path) -> None:
    """A catalog is one file or dictionaries; anything else is the caller's error, not a traceback."""
    entities, types = files(tmp_path)
    with pytest.raises((InputError, CatalogError)):
        read_catalog([str(entities)], types)  # type: ignore[list-item]


def test_skipping_leaves_out_rows_and_notes_them(tmp_path: Path) -> None:
    """Policy skip: what is at fault is left out, the rest is read, every fault is noted."""
    entities, types = files(tmp_path, "E1\ta\tT\nbad\nE1\tb\nE2\tc\t\n", "T\nT\n")
    catalog = read_catalog(entities, types, on_error="skip")
    assert [(e.id, e.name) for e in catalog.entities] == [("E1", "a"), ("E2", "c")]
    assert catalog.entity_types == [[0], []]
    assert [note.split(": ")[0] for note in catalog.notes] == [f"{types}:2", f"{entities}:2", f"{entities}:3"]


def test_skipping_leaves_out_unknown_types(tmp_path: Path) -> None:
    """Policy skip: an unknown type is no type of the row, and noted."""
    entities, types = files(tmp_path, "E1\ta\tT|U\n", "T\n")
    catalog = read_catalog(entities, types, on_error="skip")
    assert catalog.entity_types == [[0]]
    assert catalog.notes == [f'{entities}:1: unknown type "U"']


def test_a_cycle_cannot_be_skipped() -> None:
    """No single row is at fault, so none can be left out."""
    assert "cycle" in message_of([], [{"id": "T", "supertypes": ["T"]}], on_error="skip")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """Named as given."""
    with pytest.raises(InputError, match=r"none\.tsv: no such file"):
        read_catalog(tmp_path / "none.tsv", [])
