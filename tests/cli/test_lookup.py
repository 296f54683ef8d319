"""`fader types`, `fader entities` and `fader analyze`."""

from __future__ import annotations

from pathlib import Path

from cli.running import passed, refused


def test_types_by_prefix(index: Path) -> None:
    """By the first letters of a name or of its words, in any case; what starts so comes first."""
    rows = passed("types", index, "SCIENTIS", "--json").json
    row = rows[0]
    assert (row["id"], row["name"], row["supertypes"]) == ("scientist", "scientist", ["person"])
    assert row["label"] == "scientist"
    assert row["entities"] > 10
    assert row["subtypes"] > 3
    assert [row["id"] for row in rows[1:]] == ["computer_scientist"]
    out = passed("types", index, "scientis").out
    assert out.startswith("scientist  'scientist'  < person  (")
    assert passed("types", index, "sci comp", "--json").json == rows[1:2]


def test_types_with_most_entities_come_first(index: Path) -> None:
    rows = passed("types", index, "--json").json
    assert len(rows) == 50
    assert [row["entities"] for row in rows] == sorted((row["entities"] for row in rows), reverse=True)


def test_all_types(index: Path, demo: Path) -> None:
    """Without a prefix every type is listed once, up to the limit."""
    wanted = {line.split("\t")[0] for line in (demo / "types.tsv").read_text("utf-8").splitlines()}
    rows = passed("types", index, "--limit", "10000", "--json").json
    assert len(rows) == len(wanted)
    assert {row["id"] for row in rows} == wanted
    assert len(passed("types", index, "--limit", "3").out.splitlines()) == 3
    assert passed("types", index, "zzz").out == ""


def test_entities_by_any_name(index: Path) -> None:
    """By the first letters of a name or an alias, or of its words, in any case; the most mentioned come first."""
    (row,) = passed("entities", index, "EINSTEIN", "--json").json
    documents = row.pop("documents")
    assert row == {
        "id": "Albert_Einstein", "name": "Albert Einstein", "label": "Einstein",
        "types": ["nobel_laureate", "physicist"], "aliases": ["Einstein"],
    }  # fmt: skip
    assert documents > 10
    for text in ("albert e", "einst al"):
        assert passed("entities", index, text).out.startswith("Albert_Einstein  'Albert Einstein'  nobel_laureate")
    rows = passed("entities", index, "--json").json
    assert [row["documents"] for row in rows] == sorted((row["documents"] for row in rows), reverse=True)


def test_entities_of_a_type(index: Path) -> None:
    everybody = passed("entities", index, "--limit", "10000", "--json").json
    scientists = passed("entities", index, "--type", "scientist", "--limit", "10000", "--json").json
    assert 0 < len(scientists) < len(everybody)
    counted = passed("types", index, "scientist", "--json").json[0]["entities"]
    assert len(scientists) == counted
    assert 'unknown type "scientis"; did you mean' in refused(1, "entities", index, "--type", "scientis")


def test_analyze_shows_terms_and_characters() -> None:
    out = passed("analyze", "Straße, naïve, COVID-19").out
    assert [line.split() for line in out.splitlines()] == [
        ["0", "strasse", "[0:6]"], ["1", "naïve", "[8:13]"], ["2", "covid", "[15:20]"], ["3", "19", "[21:23]"],
    ]  # fmt: skip
    tokens = passed("analyze", "Running", "--stemmer", "english", "--json").json
    assert tokens == [{"position": 0, "term": "run", "start": 0, "end": 7}]
    assert passed("analyze", "...").out == ""


def test_analyze_refuses_an_unknown_stemmer() -> None:
    assert 'unknown stemmer "klingon"' in refused(2, "analyze", "x", "--stemmer", "klingon")
