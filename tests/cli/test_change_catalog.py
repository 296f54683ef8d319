"""`fader add` with --entities, --types, --remove-entities and --remove-types: what it says, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.running import passed, refused

ENTITIES = "ada\tAda Lovelace\tpoet\tAda\ngrace\tGrace Hopper\tofficer\n"
TYPES = "person\tperson\npoet\tpoet\tperson\nofficer\tofficer\tperson\nspare\tspare\n"
DOCUMENTS = [
    {"id": "1", "text": "Ada wrote a program.", "mentions": [{"start": 0, "end": 3, "entity": "ada"}]},
    {"id": "2", "text": "Grace wrote a compiler.", "mentions": [{"start": 0, "end": 5, "entity": "grace"}]},
]


@pytest.fixture
def living(tmp_path: Path) -> Path:
    write(tmp_path / "corpus.jsonl", "".join(json.dumps(d) + "\n" for d in DOCUMENTS))
    write(tmp_path / "entities.tsv", ENTITIES)
    write(tmp_path / "types.tsv", TYPES)
    given = [tmp_path / "corpus.jsonl", "--entities", tmp_path / "entities.tsv", "--types", tmp_path / "types.tsv"]
    passed("index", *given, "-o", tmp_path / "index", "--quiet")
    return tmp_path / "index"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def found(index: Path, query: str, *more: str) -> list[str]:
    return [r["entity"] for r in passed("search", index, query, "--json", *more).json["results"]]


def test_rows_come_change_and_go_in_one_commit(living: Path, tmp_path: Path) -> None:
    """A type with an edge, an entity that gets it, an entity that goes; the old commit still has the old catalog."""
    entities = write(tmp_path / "e", "ada\tLady Lovelace\tpoet|analyst\n")
    types = write(tmp_path / "t", "analyst\tanalyst\tperson\n")
    gone = write(tmp_path / "g", "grace\nnobody\n")
    made = passed("add", living, "--entities", entities, "--types", types, "--remove-entities", gone, "--json")
    assert made.json["commit"] == 2
    assert made.json["entities"] == {"added": 0, "changed": 1, "removed": 1, "joined": 0, "missing": ["nobody"]}
    assert made.json["types"] == {"added": 1, "changed": 0, "removed": 0, "joined": 0, "missing": []}
    assert found(living, "wrote", "--type", "analyst") == found(living, "wrote") == ["ada"]
    assert sorted(found(living, "wrote", "--at", "1")) == ["ada", "grace"]
    assert "Lady Lovelace" in passed("entities", living, "lady").out
    passed("check", living)


def test_it_says_what_it_did(living: Path, tmp_path: Path) -> None:
    gone = write(tmp_path / "g", "grace\n")
    said = passed("add", living, "--remove-entities", gone).err
    assert "1 mention of removed entities set aside" in said
    assert "1 entity removed; commit 2: 2 documents in 1 segment" in said
    said = passed("add", living, "--entities", tmp_path / "entities.tsv").err
    assert "1 mention came back with their entities" in said
    assert found(living, "wrote", "--type", "officer") == ["grace"]


def test_two_become_one_and_two_again(living: Path, tmp_path: Path) -> None:
    """Names, types and mentions go over, also of documents that come later; a row for the id splits them again."""
    same = write(tmp_path / "s", "grace\tada\n")
    assert "1 entity joined" in passed("add", living, "--same-as", same).err
    more = {"id": "3", "text": "Grace wrote more.", "mentions": [{"start": 0, "end": 5, "entity": "grace"}]}
    passed("add", living, write(tmp_path / "more.jsonl", json.dumps(more) + "\n"))
    answer = passed("search", living, "wrote", "--type", "officer", "--json").json["results"]
    assert [(r["entity"], r["support"]) for r in answer] == [("ada", 3)]
    assert 'entity "grace" is the same as "ada"; give that id instead' in refused(1, "search", living, "entity:grace")
    passed("merge", living)
    passed("add", living, "--entities", tmp_path / "entities.tsv")
    answer = passed("search", living, "wrote", "--json").json["results"]
    assert sorted((r["entity"], r["support"]) for r in answer) == [("ada", 1), ("grace", 2)]
    passed("check", living)


def test_rows_as_they_are_make_no_commit(living: Path, tmp_path: Path) -> None:
    said = passed("add", living, "--entities", tmp_path / "entities.tsv", "--types", tmp_path / "types.tsv").err
    assert "no document was changed; commit 1" in said


WRONG = {
    "an unknown type": (("--entities", "eve\tEve\tspy\n"), 1, 'unknown type "spy"'),
    "an unknown supertype": (("--types", "spy\tspy\tagent\n"), 1, 'unknown supertype "agent"'),
    "a cycle with a stored type": (("--types", "person\tperson\tpoet\n"), 1, "cycle: person -> poet -> person"),
    "a type that an entity has": (("--remove-types", "poet\n"), 1, 'type "poet" cannot be removed: entity "ada"'),
    "a type that a type has": (("--remove-types", "person\n"), 1, 'type "person" cannot be removed: type "officer"'),
    "an empty file": (("--entities", ""), 1, "there is no entity in it"),
    "an empty file of types": (("--types", "\n"), 1, "there is no type in it"),
    "an empty file of ids": (("--remove-entities", "\n"), 1, "has no ids"),
    "an id twice": (("--entities", "eve\tEve\tpoet\neve\tEva\tpoet\n"), 1, 'duplicate entity id "eve"'),
    "the same as nobody": (("--same-as", "ada\tnobody\n"), 1, '"ada" cannot be the same as "nobody": there is no such'),
    "the same as itself": (("--same-as", "ada\tada\n"), 1, '"ada" is said to be the same as itself'),
    "the same in a circle": (("--same-as", "ada\tgrace\ngrace\tada\n"), 1, "in a circle"),
    "the same as two": (("--same-as", "eve\tgrace\neve\tada\n"), 1, 'the same as "ada" and "grace"; choose one'),
    "no pair": (("--same-as", "ada\n"), 1, "1 columns; expected two ids with a tab between"),
    "an empty file of pairs": (("--same-as", ""), 1, "there is no pair in it"),
    "a row of one column": (("--types", "a\tb\tc\td\te\n"), 1, "expected tab-separated id, name, supertypes"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_rows_change_nothing(case: str, living: Path, tmp_path: Path) -> None:
    """A clear error, its exit code, and the same files as before."""
    (option, text), code, message = WRONG[case]
    before = {p.name: p.read_bytes() for p in living.iterdir()}
    said = refused(code, "add", living, tmp_path / "corpus.jsonl", option, write(tmp_path / "wrong.tsv", text))
    assert message in said
    assert {p.name: p.read_bytes() for p in living.iterdir()} == before


def test_an_id_cannot_come_and_go_at_once(living: Path, tmp_path: Path) -> None:
    entities, gone = write(tmp_path / "e", "ada\tAda\tpoet\n"), write(tmp_path / "g", "ada\n")
    said = refused(1, "add", living, "--entities", entities, "--remove-entities", gone)
    assert 'entity "ada" is given and removed at once' in said


def test_nothing_given_is_refused(living: Path) -> None:
    assert "nothing is given to add" in refused(2, "add", living)


def test_types_of_a_catalog_without_types_follow_its_entities(tmp_path: Path) -> None:
    """A new one comes with the entity that has it, and goes with the last one."""
    people = write(tmp_path / "people.csv", "name,occupation\nAda Lovelace,poet\nGrace Hopper,officer\n")
    write(tmp_path / "corpus.jsonl", json.dumps({"id": "1", "text": "Ada.", "mentions": []}) + "\n")
    passed("index", tmp_path / "corpus.jsonl", "--catalog", people, "-o", tmp_path / "index", "--quiet")
    more = write(tmp_path / "more.csv", "name,occupation\nGrace Hopper,admiral\n")
    passed("add", tmp_path / "index", "--catalog", more)
    assert passed("types", tmp_path / "index", "--json").json != []
    said = passed("types", tmp_path / "index").out
    assert "admiral" in said
    assert "officer" not in said
