"""Catalogs of other projects: what becomes of their entities, names, types and hierarchies."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import fader
from fader.cli import cli
from fader.corpus.documents import Faults
from fader.errors import UsageError
from fader.importers import inputs
from fader.importers.base import Batch, Records
from fader.importers.records import encode
from fader.importers.run import import_corpus
from fader.importers.selection import Numbers, end_types, write_numbers
from fader.importers.store import Store
from fader.importers.triples import LINES, RDF, Layout, layout_of, statements, unescaped
from fader.importers.wordnet import synset_of
from fader.importers.yago import relation_of, type_name
from importers.cases import FIXTURES

Rows = dict[str, list[str]]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several pieces, as of large files."""
    monkeypatch.setattr(inputs, "PIECE", 300)


def rows(path: Path) -> Rows:
    """The lines of a file by id."""
    return {cells[0]: cells[1:] for line in path.read_text("utf-8").split("\n")[:-1] if (cells := line.split("\t"))}


def catalog(name: str, *sources: str, out: Path, **options: Any) -> tuple[Rows, Rows]:
    import_corpus(name, [FIXTURES / name / source for source in sources], out, **options)
    there = (out / "entities.tsv").exists()
    return rows(out / "entities.tsv") if there else {}, rows(out / "types.tsv")


def test_yago_3(tmp_path: Path) -> None:
    """Facts of yagoTypes, yagoTaxonomy and yagoLabels: ids without brackets and escapes, preferred labels as names,
    other English labels as aliases; types named as in YAGO, shown by their words; classes are no entities."""
    entities, types = catalog("yago", "v3", out=tmp_path)
    assert entities["Albert_Einstein"] == [
        "Albert Einstein", "wikicat_German_physicists|wikicat_Violinists", "Einstein|A. Einstein",
    ]  # fmt: skip
    assert entities["Björk"] == ["Björk", "wordnet_singer_110599806|thing", "Björk Guðmundsdóttir"]
    assert entities["Niels_Bohr"][2] == "Bohr"
    assert entities["Alien:_Resurrection"][0] == "Alien: Resurrection"
    assert types["wordnet_physicist_110428004"] == ["physicist", "wordnet_person_100007846"]
    assert types["yagoGeoEntity"] == ['place "on" earth', "thing"]
    assert types["wikicat_Nobody_has_put_this_above_anything"] == ["Nobody has put this above anything", ""]
    assert set(types).isdisjoint(entities)


def test_yago_versions_agree(tmp_path: Path) -> None:
    """The native files of versions 1 and 2 and the Turtle of version 3 give the same rows for the same facts."""
    native, _types = catalog("yago", "v2", out=tmp_path / "2")
    columns, _types = catalog("yago", "v3", out=tmp_path / "3")
    turtle, types = catalog("yago", "v3ttl", out=tmp_path / "ttl")
    assert native["Björk"][:2] == ["Björk", "wordnet_singer_110599806"]
    assert native["Albert_Einstein"] == ["Albert Einstein", "wikicategory_German_physicists", "Einstein"]
    assert turtle["Björk"] == ["Björk", "wordnet_singer_110599806", 'Björk "G."']
    assert turtle["Kayna"][1] == columns["de/Kayna"][1]
    assert types["wordnet_town_108665504"] == ["town", "thing"]


def test_yago_4(tmp_path: Path) -> None:
    """N-Triples; with the ids of Wikidata, an entity that has no link to it is left out and counted."""
    entities, types = catalog("yago", "v4", out=tmp_path / "wikidata", ids="wikidata")
    assert entities["Q42"] == ["Douglas Adams", "schema:Person|Human", "Douglas Noël Adams"]
    assert sorted(entities) == ["Q3711", "Q42", "Q999"]
    assert types["Human"] == ["human", "schema:Person"]
    assert types["schema:AdministrativeArea"] == ["administrative area", "schema:Thing"]
    entities, _types = catalog("yago", "v4", out=tmp_path / "native")
    assert sorted(entities) == ["Belgrade", "Douglas_Adams", "Foo_Q999", "Unlinked"]


def test_yago_45(tmp_path: Path) -> None:
    """Turtle with prefixes; facts about facts are passed over; titles of Wikipedia lose their percent signs."""
    entities, types = catalog("yago", "v45", out=tmp_path, ids="wikipedia", unused=False)
    assert entities == {
        "Elvis_Presley": ["Elvis Presley", "Singer", "The King"],
        "Hound_Dog_(song)": ["Hound Dog", "schema:MusicComposition"],
    }
    assert types["Singer"] == ["singer", "Musician"]
    assert types["schema:MusicComposition"] == ["music composition", "schema:CreativeWork"]
    assert "Painter_Q1028181" not in types


def test_wikidata(tmp_path: Path) -> None:
    """Instances are entities and subclasses types; deprecated, unknown and no values do not count; the name is that of
    the language, else the one of all languages; a cycle loses one edge; types that no entity has are left out."""
    entities, types = catalog("wikidata", "sample.json", out=tmp_path)
    assert entities["Q42"] == ["Douglas Adams", "Q5", "Douglas Noël Adams|DNA"]
    assert entities["Q64"] == ["Berlin", "Q515|Q1549591"]
    assert entities["Q300"] == ["Nobody", "Q5"]
    assert "Q134808" not in entities
    assert types["Q5"] == ["human", "Q154954|Q215627"]
    assert types["Q16334295"] == ["group of humans", ""]
    assert "Q12140" not in types
    report = json.loads((tmp_path / "import.json").read_text())
    assert report["cycle edges removed"] == ["Q486972 -> Q1549591"]


def test_wikidata_by_titles(tmp_path: Path) -> None:
    """With ids of Wikipedia, an entity is its title, types keep their numbers; with `classes`, classes are entities."""
    entities, types = catalog("wikidata", "sample.json", out=tmp_path, ids="wikipedia", classes=True)
    assert entities["Douglas_Adams"][:2] == ["Douglas Adams", "Q5"]
    assert entities["Vaccine"][1] == "Q12140"
    assert entities["Nobody_(band)"][0] == "Nobody"
    assert types["Q12140"][0] == "medication"


def test_wikidata_by_a_property(tmp_path: Path) -> None:
    """Ids may be the values of a property: those of Freebase are what FACC1 has; other items are counted."""
    entities, _types = catalog("wikidata", "sample.json", out=tmp_path, ids="P646", prefix="fb:")
    assert list(entities) == ["fb:/m/0282x"]
    assert entities["fb:/m/0282x"][:2] == ["Douglas Adams", "Q5"]


def test_wikidata_of_a_list(tmp_path: Path) -> None:
    """Only listed items are entities, their types and all above them are kept; languages are tried in order."""
    entities, types = catalog(
        "wikidata", "sample.json", out=tmp_path, only=str(FIXTURES / "wikidata" / "only.tsv"), language="de,en"
    )
    assert entities == {"Q64": ["Berlin (Stadt)", "Q515|Q1549591", "Berlin"]}
    assert sorted(types) == ["Q1549591", "Q486972", "Q515"]


def test_dbpedia(tmp_path: Path) -> None:
    """Types of the ontology, percent signs and escapes undone, redirects as aliases, no nodes that are no pages."""
    entities, types = catalog(
        "dbpedia", "instance-types.ttl", "ontology.nt", "labels.ttl", "redirects.ttl", out=tmp_path
    )
    assert entities == {
        "Albert_Einstein": ["Albert Einstein", "Scientist", "Einstein"],
        "Berlin": ["Berlin", "City|thing", "Berlin, Germany"],
        "Björk": ["Björk", "MusicalArtist"],
        "Untold": ["Untold", "thing"],
    }
    assert types["City"] == ["city", "Settlement"]
    assert types["MusicalArtist"] == ["musical artist", "Artist"]
    assert "birthPlace" not in types


ONTOLOGY = {
    "ontology.ttl": """@prefix : <http://dbpedia.org/ontology/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

:City a owl:Class ;
    rdfs:label "city"@en, "Stadt"@de ;
    rdfs:subClassOf :Settlement .

:Settlement a owl:Class ;
    rdfs:subClassOf owl:Thing .
""",
    "ontology.owl": """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#"
         xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
<owl:Class rdf:about="http://dbpedia.org/ontology/City"><rdfs:label xml:lang="en">city</rdfs:label>
<rdfs:subClassOf rdf:resource="http://dbpedia.org/ontology/Settlement"/></owl:Class>
<owl:Class rdf:about="http://dbpedia.org/ontology/Settlement">
<rdfs:subClassOf rdf:resource="http://www.w3.org/2002/07/owl#Thing"/></owl:Class>
</rdf:RDF>
""",
}


@pytest.mark.parametrize("name", ONTOLOGY)
def test_an_ontology_that_needs_a_parser(name: str, tmp_path: Path) -> None:
    """Turtle over several lines and RDF/XML are read by pyoxigraph; a file that is cut gives what stands before."""
    pytest.importorskip("pyoxigraph")
    (tmp_path / name).write_text(ONTOLOGY[name])
    import_corpus("dbpedia", tmp_path / name, tmp_path / "out")
    assert rows(tmp_path / "out" / "types.tsv") == {
        "City": ["city", "Settlement"],
        "Settlement": ["settlement", "thing"],
        "thing": ["thing", ""],
    }
    (tmp_path / name).write_text(ONTOLOGY[name][:-40])
    report = import_corpus("dbpedia", tmp_path / name, tmp_path / "cut")
    assert report.faults.counts == {"files that cannot be read to their end": 1}
    assert name in report.lines()[0] + report.lines()[1]


def test_without_the_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    (tmp_path / "ontology.ttl").write_text(ONTOLOGY["ontology.ttl"])
    with pytest.raises(UsageError, match=r"fader\[import\]"):
        import_corpus("dbpedia", tmp_path / "ontology.ttl", tmp_path / "out")


def test_wordnet(tmp_path: Path) -> None:
    """Synsets are types with YAGO's names, instances entities."""
    entities, types = catalog("wordnet", "dict", out=tmp_path)
    assert types["wordnet_vaccine_104517535"] == ["vaccine", "wordnet_entity_100001740"]
    assert entities["wordnet_Einstein_110954498"] == ["Einstein", "wordnet_physicist_110428004", "Albert Einstein"]
    assert len(entities["wordnet_Denmark_108779504"][1].split("|")) == 2


def test_a_synset() -> None:
    """Words are counted in hexadecimal, pointers not; an adjective loses its marker; a gloss may have bars."""
    words = " ".join(f"w{i} 0" for i in range(10))
    found = synset_of(f"00000001 03 n 0a {words} 001 @ 00000002 n 0000 | a | b")
    assert (found.key, len(found.words), found.above) == ("100000001", 10, ["100000002"])
    assert synset_of("00000001 00 s 01 galore(ip) 0 000 | x").words == ["galore"]
    with pytest.raises((ValueError, IndexError)):
        synset_of("00000001 03 n 01 cut 0 002 @ 00000002 n 0000 | x")


def test_obo(tmp_path: Path) -> None:
    """Remarks behind a value are cut, synonyms lose their quotes, obsolete terms are left out."""
    entities, types = catalog("obo", "sample.obo", out=tmp_path, entities=True)
    assert types["DOID:8469"] == ["influenza", "DOID:934"]
    assert entities["DOID:8469"] == ["influenza", "DOID:8469", 'flu|grippe, "la"|DOID:1']
    assert "DOID:77" not in types
    assert types["DOID:555"] == ["DOID:555", ""]


@pytest.mark.parametrize(
    ("name", "form"), [("yago", "freebase"), ("wikidata", "native"), ("dbpedia", "native"), ("wordnet", None)]
)
def test_refuses_unknown_options(name: str, form: str | None, tmp_path: Path) -> None:
    """An unknown form of ids or part of speech is refused with those there are."""
    options = {"ids": form} if form else {"parts": "x"}
    with pytest.raises(UsageError, match="must be"):
        import_corpus(name, FIXTURES / name, tmp_path, **options)


@pytest.mark.parametrize(
    ("form", "names"),
    [("wikipedia", {"Berlin": "Berlin", "Nowhere": "Nowhere"}), ("wikidata", {"Q64": "Berlin", "Q0": "Nowhere"})],
)
def test_a_catalog_for_the_corpus_of_another_import(form: str, names: dict[str, str], tmp_path: Path) -> None:
    """Where ids agree, corpus.jsonl of one import and entities.tsv and types.tsv of another make an index; mentions of
    entities that the catalog lacks are counted, and the search finds the others by the types of the catalog."""
    known, lacking = names
    text = "Berlin is a capital, Nowhere is none."
    mentions = [{"start": 0, "end": 6, "entity": known}, {"start": 21, "end": 28, "entity": lacking}]
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"id": "d1", "text": text, "mentions": mentions}) + "\n")
    (tmp_path / "mentioned.tsv").write_text("".join(f"{name}\t{shown}\n" for name, shown in names.items()))
    sources = ["instance-types.ttl", "ontology.nt", "labels.ttl", "links.nt"]
    entities, _types = catalog(
        "dbpedia", *sources, out=tmp_path / "catalog", ids=form, only=str(tmp_path / "mentioned.tsv")
    )
    assert list(entities) == [known]
    files = [str(tmp_path / "catalog" / name) for name in ("entities.tsv", "types.tsv")]
    command = ["index", str(tmp_path / "corpus.jsonl"), "--entities", files[0], "--types", files[1]]
    done = CliRunner().invoke(cli, [*command, "-o", str(tmp_path / "index")])
    assert done.exit_code == 0, done.output
    assert "1 mentions of unknown entities" in done.output.replace(":", "")
    answer = fader.open(tmp_path / "index").search("capital", type="populated place")
    assert [result.entity for result in answer.results] == [known]


# --- readers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("<id_1>\t<A>\trdf:type\t<B>\t\n\t<A>\t<bornIn>\t<C>\t\n", "columns"),
        ("1\tA\tB\t0.9\n2\tA\tC\n", "bare"),
        ("<http://a> <http://b> <http://c> .\n", "lines"),
        ("@prefix y: <http://y/> .\r\ny:A\trdf:type\ty:B\t.\r\n", "lines"),
        ("@prefix y: <http://y/> .\ny:A a y:B ;\n  y:p y:C .\n", "turtle"),
        ("\ufeff<?xml version='1.0'?>\n<rdf:RDF/>\n", "xml"),
        ("# nothing\n", "lines"),
    ],
)
def test_layouts_are_seen(written: str, kind: str, tmp_path: Path) -> None:
    """What a file is, is seen from its lines."""
    (tmp_path / "any.name").write_text(written, encoding="utf-8", newline="")
    assert layout_of(str(tmp_path / "any.name")).kind == kind


def escaped(text: str) -> str:
    """Characters as N-Triples may write them."""
    plain = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return "".join(plain.get(c) or (c if " " <= c < "\x7f" else f"\\U{ord(c):08X}") for c in text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escapes_are_undone(text: str) -> None:
    """A text that is escaped as N-Triples asks is the same text when read."""
    assert unescaped(escaped(text)) == text


names = st.text(st.characters(categories=["L", "N"]), min_size=1)


@settings(deadline=None)
@given(st.lists(st.tuples(names, st.booleans(), names, st.sampled_from([" ", "\t", "  "]), st.booleans())))
def test_statements_are_read_however_they_are_spaced(facts: list[tuple[str, bool, str, str, bool]]) -> None:
    """Each statement of a wanted predicate is found, in order, whatever blanks stand between its terms, and whether it
    is written with escapes."""
    lines, expected = [], []
    for subject, is_text, thing, blank, plain in facts:
        write = str if plain else escaped
        address = f"<http://x/{write(subject)}>"
        predicate = "label" if is_text else "type"
        said = f'"{write(thing)}"@en' if is_text else f"<http://x/{write(thing)}>"
        lines.append(blank.join((address, f"<{RDF}{predicate}>", said, ".")).encode())
        lines.append(blank.join((address, "<http://x/other>", said, ".")).encode())
        expected.append((subject, predicate, thing, "en" if is_text else None))
    wanted = {RDF + "type": "type", RDF + "label": "label"}
    faults = Faults()
    batch = Batch("file", 1, lines, 0)
    found = list(statements(batch, Layout(LINES, {}, ""), wanted, lambda address: address[9:], faults))
    assert [statement[1:] for statement in found] == expected
    assert not faults.counts


@settings(deadline=None)
@given(st.dictionaries(st.text(), st.integers(0, 2**63)), st.lists(st.text()))
def test_numbers(tmp_path_factory: pytest.TempPathFactory, pairs: dict[str, int], others: list[str]) -> None:
    """A table of numbers finds what a dictionary finds."""
    folder = tmp_path_factory.mktemp("numbers")
    write_numbers(folder, "x", pairs.items())
    asked = [*pairs, *others]
    assert Numbers(folder, "x").find(asked) == {name: pairs[name] for name in asked if name in pairs}
    assert Numbers(folder, "absent").find(asked) == {}


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20), st.sets(st.integers(0, 9), max_size=3))
def test_unused_types(tmp_path_factory: pytest.TempPathFactory, edges: list[tuple[int, int]], used: set[int]) -> None:
    """Types stay if an entity has them or one below them; twice gives the same, as after a kill."""
    from fader.importers.base import EntityRow, TypeRow
    from fader.importers.runs import merged

    store = Store(tmp_path_factory.mktemp("store"), part_bytes=1)
    records = Records(types=[TypeRow(f"T{a}", "", (f"T{b}",)) for a, b in edges])
    records.entities = [EntityRow(f"E{t}", "x", (f"T{t}",)) for t in used]
    store.put(encode(records, "x", Faults()))
    store.end_part()
    stay, size = set(used), -1
    while size < len(stay):
        size = len(stay)
        stay |= {b for a, b in edges if a in stay}
    for _again in range(2):
        end_types(store, str.lower, False)
        assert {name for name, _rows in merged(store.runs("types"))} == {f"T{a}" for a, _b in edges if a in stay}
    gone = {a for a, _b in edges if a not in stay}
    assert store.counts["types that no entity has"] == 2 * len(gone)


def test_names_of_types() -> None:
    """A type without a label is named by the words in its id."""
    assert type_name("wordnet_subsidiary_company_108003935") == "subsidiary company"
    assert type_name("wikicat_Towns_in_Saxony-Anhalt") == "Towns in Saxony-Anhalt"
    assert type_name("schema:BodyOfWater") == "body of water"
    assert type_name("Painter_%28artist%29_Q1028181") == "Painter (artist)"
    assert relation_of("x/type/ArticleExtractor.txt") == relation_of("type.tsv.gz") == "type"
    assert relation_of("bornIn.tsv") == ""
