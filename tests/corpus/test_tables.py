"""Catalogs as people have them give the catalog that the same rows in Fader's own format give."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from fader.corpora.annotate.names import read_names
from fader.corpus.catalog import Catalog, read_catalog
from fader.corpus.tables import find_table, guess_columns
from fader.errors import CatalogError, FaderError, UsageError

ROWS = [
    {"Id": "ada", "Full name": "Ada Lovelace", "Occupation": "mathematician; writer", "Also known as": "Ada|A. King"},
    {"Id": "grace", "Full name": "Grace Hopper", "Occupation": "mathematician", "Also known as": ""},
]
WANTED = [
    ("ada", "Ada Lovelace", ["mathematician", "writer"], ["Ada", "A. King"]),
    ("grace", "Grace Hopper", ["mathematician"], []),
]


def shown(catalog: Catalog) -> list[Any]:
    """Id, name, types and aliases of every entity."""
    return [(e.id, e.name, e.above, e.aliases) for e in catalog.entities]


def separated(mark: str) -> str:
    lines = [list(ROWS[0]), *(list(row.values()) for row in ROWS)]
    return "".join(mark.join(f'"{c}"' if mark in c else c for c in line) + "\r\n" for line in lines)


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def parquet(folder: Path, rows: list[dict[str, Any]]) -> bytes:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "made")
    return (folder / "made").read_bytes()


@pytest.mark.parametrize("form", ["comma", "semicolon", "tab", "mark", "gz", "lines", "array", "parquet"])
def test_every_form_gives_the_same_catalog(tmp_path: Path, form: str) -> None:
    """Whatever the file is called; names of columns are found in the header, types in their column."""
    listed = [{**row, "Occupation": row["Occupation"].split("; ")} for row in ROWS]
    content: dict[str, str | bytes] = {
        "comma": separated(","),
        "semicolon": separated(";"),
        "tab": separated("\t"),
        "mark": b"\xef\xbb\xbf" + separated(",").encode(),
        "gz": gzip.compress(separated(",").encode()),
        "lines": "\n".join(map(json.dumps, listed)),
        "array": json.dumps(listed),
        "parquet": parquet(tmp_path, listed),
    }
    path = write(tmp_path, "people", content[form])
    catalog = read_catalog(path)
    assert shown(catalog) == WANTED
    assert [t.id for t in catalog.types] == ["mathematician", "writer"]
    assert catalog.entity_types == [[0, 1], [0]]
    assert "id=Id, name=Full name, types=Occupation, aliases=Also known as" in catalog.tables[0]
    names = read_names(path)
    assert names.ids == ["ada", "grace"]
    assert b"A. King" in names.surfaces
    assert names.types[0] == b"mathematician|writer"


def test_own_format_is_read_as_before(tmp_path: Path) -> None:
    """No header, tab-separated; without types they are those that entities have, named by their ids."""
    path = write(tmp_path, "entities.tsv", "ada\tAda Lovelace\tnaval_officer|writer\tAda\n")
    catalog = read_catalog(path)
    assert catalog.tables == []
    assert [(t.id, t.name) for t in catalog.types] == [("naval_officer", "naval officer"), ("writer", "writer")]
    assert catalog.entity_types == [[0, 1]]


def test_a_list_of_names_is_a_catalog(tmp_path: Path) -> None:
    """The name is the id; a name that comes twice is one entity; commas belong to names."""
    path = write(tmp_path, "people.txt", "Ada Lovelace\n\nHopper, Grace\nAda  Lovelace\n")
    catalog = read_catalog(path)
    assert shown(catalog) == [("Ada_Lovelace", "Ada Lovelace", [], []), ("Hopper,_Grace", "Hopper, Grace", [], [])]
    assert len(catalog.types) == 0


def test_rows_of_one_name_are_one_entity_where_there_is_no_id(tmp_path: Path) -> None:
    """With the types and aliases of all."""
    path = write(tmp_path, "p.csv", "name,type,alias\nAda,mathematician,A.\nAda,writer,A.|Countess\n")
    assert shown(read_catalog(path)) == [("Ada", "Ada", ["mathematician", "writer"], ["A.", "Countess"])]


def test_columns_can_be_said(tmp_path: Path) -> None:
    """By name in any case, by number where there is no header, and several for one role."""
    path = write(tmp_path, "p.csv", "nr,vorname,nachname,beruf\n7,Ada,Lovelace,writer\n")
    wanted = [("7", "Ada Lovelace", ["writer"], [])]
    assert shown(read_catalog(path, columns="id=NR,name=vorname+nachname,types=beruf")) == wanted
    bare = write(tmp_path, "bare.csv", "7,Ada,Lovelace,writer\n")
    assert shown(read_catalog(bare, columns="id=1,name=2+3,types=4")) == wanted


def test_first_and_last_names_are_joined(tmp_path: Path) -> None:
    """As lists of staff have them; an address is another name."""
    path = write(tmp_path, "s.csv", "First name,Last name,E-mail,Role\nAda,Lovelace,ada@example.org,writer\n")
    assert shown(read_catalog(path)) == [("Ada_Lovelace", "Ada Lovelace", ["writer"], ["ada@example.org"])]


def test_types_are_found_by_name_where_a_file_of_types_is_given(tmp_path: Path) -> None:
    """By id, else by a name that only one type has."""
    path = write(tmp_path, "p.csv", "name,type\nAda,Naval Officer\nBob,T2\n")
    types = [{"id": "T1", "name": "naval officer"}, {"id": "T2", "name": "writer"}]
    assert read_catalog(path, types).entity_types == [[0], [1]]
    twice = [*types, {"id": "T3", "name": "Naval officer"}]
    with pytest.raises(CatalogError, match=r"p\.csv:2: unknown type"):
        read_catalog(path, twice)


def test_a_quoted_cell_may_hold_line_ends(tmp_path: Path) -> None:
    """And the places of later faults still count lines."""
    path = write(tmp_path, "p.csv", 'id,name\n1,"Ada\nLovelace"\n2,Grace\n2,Again\n')
    with pytest.raises(CatalogError, match=r'p\.csv:5: duplicate entity id "2"; the first is at .*p\.csv:4'):
        read_catalog(path)
    assert [e.name for e in read_catalog(path, on_error="skip").entities] == ["Ada Lovelace", "Grace"]


WRONG = [
    ("p.csv", "colour,size\nred,1\n", None, "no column of .* is known as id or name; say which"),
    ("p.csv", "id,name\n1,a,b\n", None, r":2: 3 cells; the header has 2"),
    ("p.csv", "id,name,name\n1,a,b\n", None, 'has two columns "name"'),
    ("p.csv", 'id,name\n1,"a\n', None, "not CSV"),
    ("p.csv", "id,name\n1,a\n", "name=nam", 'has no column "nam"; did you mean "name"'),
    ("p.csv", "id,name\n1,a\n", "nome=name", 'no role "nome"'),
    ("p.csv", "id,name\n1,a\n", "name", "columns are given as"),
    ("p.csv", "id,name\n1,a\n", "name=a,name=b", "name is given twice"),
    ("p.csv", b"id,name\n1,\xff\n", None, ":2: not UTF-8"),
    ("p.jsonl", '{"id": 1, "name": "a"}\n{"id"', None, ":2: not a JSON object"),
    ("p.json", '[{"id": 1}, 3]', None, "not an array of JSON objects"),
    ("p.parquet", b"PAR1 and no more", None, "not a Parquet file"),
    ("p.csv", "id,name\n,a\n", None, ":2: needs an id"),
]


@pytest.mark.parametrize(("name", "content", "columns", "message"), WRONG)
def test_what_cannot_be_read_is_said(
    tmp_path: Path, name: str, content: str | bytes, columns: str | None, message: str
) -> None:
    """File, line where there is one, what is wrong."""
    path = write(tmp_path, name, content)
    for read in (read_catalog, read_names):
        with pytest.raises(FaderError, match=message):
            read(path, columns=columns)  # type: ignore[operator]


def test_standard_input_is_not_looked_at() -> None:
    """It can be read only once."""
    assert find_table("-", "entity") is None
    with pytest.raises(UsageError, match="save it first"):
        find_table("-", "entity", "name=1")


def test_what_a_header_does_not_name_is_not_guessed() -> None:
    """And the best word wins."""
    assert guess_columns(["title", "name", "born"], "entity").roles == {"name": ["name"]}
    assert guess_columns(["born"], "entity").roles == {}
