"""Catalogs of other projects: what becomes of their entities, names, types and hierarchies."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import fader
from corpora.cases import FIXTURES
from fader.cli import cli
from fader.corpora.formats.wordnet import read_synset
from fader.corpora.formats.yago import find_relation, make_type_name
from fader.corpora.frame import inputs
from fader.corpora.frame.base import EntityRow, Records, TypeRow
from fader.corpora.frame.records import encode
from fader.corpora.frame.run import import_corpus
from fader.corpora.frame.selection import Numbers, NumbersWriter, end_types
from fader.corpora.frame.sorted_runs import merge_runs
from fader.corpora.frame.store import Store
from fader.corpora.parsers.rdf.vocabularies import OWL, RDF, RDFS
from fader.corpus.documents import Faults
from fader.errors import InputError, UsageError

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
    assert entities["Björk"] == ["Björk", "wordnet_singer_110599806", "Björk Guðmundsdóttir"]
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
    assert types["schema:AdministrativeArea"] == ["administrative area", "thing"]
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
        "Berlin": ["Berlin", "City", "Berlin, Germany"],
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
def test_ontologies_over_several_lines(name: str, tmp_path: Path) -> None:
    """Turtle over several lines and RDF/XML are read; a file that is cut gives what stands before, and a fault."""
    (tmp_path / name).write_text(ONTOLOGY[name])
    import_corpus("dbpedia", tmp_path / name, tmp_path / "out")
    assert rows(tmp_path / "out" / "types.tsv") == {
        "City": ["city", "Settlement"],
        "Settlement": ["settlement", "thing"],
        "thing": ["thing", ""],
    }
    (tmp_path / name).write_text(ONTOLOGY[name][:-40])
    report = import_corpus("dbpedia", tmp_path / name, tmp_path / "cut")
    assert len(report.faults.counts) == 1
    assert re.search(rf"{name}:\d+: ", report.lines()[1])
    assert "City" in rows(tmp_path / "cut" / "types.tsv")


def test_wordnet(tmp_path: Path) -> None:
    """Synsets are types with YAGO's names, instances entities."""
    entities, types = catalog("wordnet", "dict", out=tmp_path)
    assert types["wordnet_vaccine_104517535"] == ["vaccine", "wordnet_entity_100001740"]
    assert entities["wordnet_Einstein_110954498"] == ["Einstein", "wordnet_physicist_110428004", "Albert Einstein"]
    assert len(entities["wordnet_Denmark_108779504"][1].split("|")) == 2


def test_a_synset() -> None:
    """Words are counted in hexadecimal, pointers not; an adjective loses its marker; a gloss may have bars."""
    words = " ".join(f"w{i} 0" for i in range(10))
    found = read_synset(f"00000001 03 n 0a {words} 001 @ 00000002 n 0000 | a | b")
    assert (found.key, len(found.words), found.above) == ("100000001", 10, ["100000002"])
    assert read_synset("00000001 00 s 01 galore(ip) 0 000 | x").words == ["galore"]
    with pytest.raises((ValueError, IndexError)):
        read_synset("00000001 03 n 01 cut 0 002 @ 00000002 n 0000 | x")


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


def written(path: Path, *lines: str) -> Path:
    """A file of lines."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


YAGO_PREFIXES = (
    "@prefix yago: <http://yago-knowledge.org/resource/> .",
    "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .",
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
    "@prefix schema: <https://schema.org/> .",
)


def test_yago_generic_instances(tmp_path: Path) -> None:
    """Nodes of 4.5 that stand for any degree or office are no entities, wherever they are labelled; schema.org may be
    written with https; a number of few digits at the end of a title is part of it."""
    facts = ("Elviss_Degree_1\trdf:type\tyago:Degree", "Audi_Q5\trdf:type\tschema:Product", "A_Q1234\trdf:type\tyago:B")
    facts += ('Audi_Q5\tschema:alternateName\t"Q; five"@en', 'Elviss_Degree_1\trdfs:label\t"Generic instance"@en')
    path = written(tmp_path / "facts.ttl", *YAGO_PREFIXES, *(f"yago:{fact}\t." for fact in facts))
    report = import_corpus("yago", path, tmp_path / "out", ids="wikipedia")
    assert rows(tmp_path / "out" / "entities.tsv") == {"Audi_Q5": ["Audi Q5", "schema:Product", "Q; five"]}
    assert report.counts["rows of generic instances"] >= 1


def test_yago_tiny(tmp_path: Path) -> None:
    """The small YAGO has the schema, over several lines, before facts of a line each; some lines hold two facts."""
    schema = (
        "schema:Person rdf:type rdfs:Class ;", "\trdfs:subClassOf schema:Thing ;", '\trdfs:comment "A; b." ;',
        "\tschema:property [ schema:path schema:birth ] .",
        'schema:Place a rdfs:Class ; rdfs:subClassOf schema:Thing ; rdfs:label "place"@en .',
    )  # fmt: skip
    facts = ("yago:Singer\trdfs:subClassOf\tschema:Person\t.", "yago:Adele\trdf:type\tyago:Singer\t.") * 20
    two = 'yago:Kg rdfs:label "kg"@en; rdf:type yago:Unit .'
    path = written(tmp_path / "yago-tiny.ttl", *YAGO_PREFIXES, *schema, *facts, two)
    report = import_corpus("yago", path, tmp_path / "out")
    assert not report.faults.counts
    assert rows(tmp_path / "out" / "entities.tsv") == {"Adele": ["Adele", "Singer"], "Kg": ["kg", "Unit"]}
    types = rows(tmp_path / "out" / "types.tsv")
    assert types["schema:Person"] == ["person", "thing"]
    assert types["schema:Place"] == ["place", "thing"]


def test_yago_2_with_marked_numbers(tmp_path: Path) -> None:
    """Facts of version 2 may have numbers like #12; a file of a relation that is not known is counted."""
    written(tmp_path / "type.tsv", "# remark", "#12\tUlm\twordnet_city_108524735\t0.9", "#13\tUlm\twikicategory_Towns")
    written(tmp_path / "bornIn.tsv", "#14\tEinstein\tUlm")
    report = import_corpus("yago", [tmp_path / "type.tsv", tmp_path / "bornIn.tsv"], tmp_path / "out")
    assert rows(tmp_path / "out" / "entities.tsv") == {"Ulm": ["Ulm", "wordnet_city_108524735|wikicategory_Towns"]}
    assert report.counts["facts of other relations"] == 1


def claim(target: int, rank: str = "normal", kind: str = "value") -> dict[str, Any]:
    data = {"value": {"entity-type": "item", "id": f"Q{target}"}, "type": "wikibase-entityid"}
    return {"mainsnak": {"snaktype": kind} | ({"datavalue": data} if kind == "value" else {}), "rank": rank}


def item(number: int, label: str = "", **claims: list[dict[str, Any]]) -> dict[str, Any]:
    labels = {"en": {"language": "en", "value": label}} if label else {}
    return {"type": "item", "id": f"Q{number}", "labels": labels, "claims": claims}


@pytest.mark.parametrize(
    ("claims", "best", "every"),
    [
        ([claim(1), claim(2)], "Q1|Q2", "Q1|Q2"),
        ([claim(1), claim(2, "preferred"), claim(3, "deprecated")], "Q2", "Q1|Q2"),
        ([claim(1), claim(0, "preferred", "somevalue")], "thing", "Q1"),
        ([claim(0, kind="novalue"), claim(1, "deprecated")], "thing", "thing"),
    ],
)
def test_wikidata_ranks(claims: list[dict[str, Any]], best: str, every: str, tmp_path: Path) -> None:
    """Of the statements those of the best rank count, as in Wikidata's truthy dumps; or all but the deprecated."""
    path = written(tmp_path / "dump.json", json.dumps(item(9, "x", P31=claims)))
    import_corpus("wikidata", path, tmp_path / "best")
    import_corpus("wikidata", path, tmp_path / "all", all_ranks=True)
    found = [rows(tmp_path / name / "entities.tsv")["Q9"][1] for name in ("best", "all")]
    assert found == [best, every]


def test_wikidata_layouts(tmp_path: Path) -> None:
    """An array with its brackets on lines of their own or not, with and without commas, or plain JSON lines, give the
    same; properties and lexemes are counted; an item without a name has that of its page, else its number."""
    lines = [
        json.dumps(item(1, "One", P31=[claim(5)])),
        json.dumps(item(2) | {"sitelinks": {"enwiki": {"title": "T"}}}),
    ]
    lines += [json.dumps(item(3)), json.dumps({"type": "property", "id": "P31", "datatype": "string"})]
    lines += [json.dumps({"type": "lexeme", "id": "L1", "lemmas": {}, "claims": []})]
    made = []
    for i, text in enumerate(
        ("\n".join(lines), "[\n" + ",\n".join(lines) + "\n]", "[" + ",\r\n".join(lines) + "]\r\n")
    ):
        (tmp_path / f"{i}.json").write_text("\ufeff" * (i == 2) + text, encoding="utf-8", newline="")
        report = import_corpus("wikidata", tmp_path / f"{i}.json", tmp_path / str(i))
        assert not report.faults.counts
        assert report.counts["properties and lexemes"] == 2
        made.append((tmp_path / str(i) / "entities.tsv").read_text("utf-8"))
    assert made == ["Q1\tOne\tQ5\nQ2\tT\tthing\nQ3\tQ3\tthing\n"] * 3


def test_wikidata_of_a_list_in_any_order(tmp_path: Path) -> None:
    """Whether an item is listed is seen from its own id, wherever in the line that stands."""
    first = {"claims": {"P31": [claim(5)]}, "labels": {}, "type": "item", "id": "Q7"}
    path = written(tmp_path / "dump.json", json.dumps(first), json.dumps(item(8, "no", P31=[claim(7)])))
    only = written(tmp_path / "only.txt", "Q7")
    report = import_corpus("wikidata", path, tmp_path / "out", only=str(only))
    assert rows(tmp_path / "out" / "entities.tsv") == {"Q7": ["Q7", "Q5"]}
    assert report.counts["rows of entities that are not in the list"] == 1
    assert report.counts["items"] == 2


def dbpedia_line(subject: str, predicate: str, thing: str) -> str:
    known = {"type": RDF + "type", "label": RDFS + "label", "redirect": "http://dbpedia.org/ontology/wikiPageRedirects"}
    known["same"] = OWL + "sameAs"
    said = thing if thing[0] == '"' else f"<http://{thing}>"
    return f"<http://{subject}> <{known[predicate]}> {said} ."


def test_dbpedia_redirects(tmp_path: Path) -> None:
    """Redirects that lead to redirects are followed to their end; those in a circle are counted."""
    page = "dbpedia.org/resource/"
    pairs = [("A", "B"), ("B", "C"), ("C", "End"), ("X", "Y"), ("Y", "X"), ("S", "S"), ("Z", "End")]
    lines = [dbpedia_line(page + a, "redirect", page + b) for a, b in pairs]
    lines += [
        dbpedia_line(page + "End", "type", "dbpedia.org/ontology/City"),
        dbpedia_line(page + "B", "label", '"B"@en'),
    ]
    report = import_corpus("dbpedia", written(tmp_path / "x.nt", *lines), tmp_path / "out")
    entities = rows(tmp_path / "out" / "entities.tsv")
    assert list(entities) == ["End"]
    assert sorted(entities["End"][2].split("|")) == ["A", "B", "C", "Z"]
    assert report.counts["redirects that lead in a circle"] == 3


def test_dbpedia_in_other_languages(tmp_path: Path) -> None:
    """Titles are those of the language's Wikipedia, addresses its own; typed texts are names too; pages of other
    namespaces and terms of the ontology that are no classes are left out; links to Wikidata have several forms."""
    page = "de.dbpedia.org/resource/"
    lines = [
        dbpedia_line(page + "M%C3%BCnchen", "type", "dbpedia.org/ontology/City"),
        dbpedia_line(page + "München", "label", '"München"^^<http://www.w3.org/2001/XMLSchema#string>'),
        dbpedia_line(page + "Kategorie:Stadt", "label", '"Stadt"@de'),
        dbpedia_line(page + "München", "same", "wikidata.dbpedia.org/resource/Q1726"),
        dbpedia_line("dbpedia.org/ontology/City", "label", '"Stadt"@de'),
        dbpedia_line("dbpedia.org/ontology/Person/height", "label", '"Höhe"@de'),
    ]
    path = written(tmp_path / "x.nt", *lines)
    expected = {"wikipedia": "München", "uri": "http://de.dbpedia.org/resource/München", "wikidata": "Q1726"}
    for form, name in expected.items():
        import_corpus("dbpedia", path, tmp_path / form, ids=form, language="de")
        assert rows(tmp_path / form / "entities.tsv") == {name: ["München", "City"]}
        assert rows(tmp_path / form / "types.tsv") == {"City": ["Stadt", ""]}


def test_wordnet_instances_that_others_are_below(tmp_path: Path) -> None:
    """A synset that is an instance, and that others lead to, is an entity and a type with a name; files of other names
    are taken if they begin like a data file, and files that do not are named."""
    lines = ["  1 licence", "00000001 03 n 01 god 0 000 | x", "00000002 18 n 01 Fury 0 001 @i 00000001 n 0000 | x"]
    lines.append("00000003 18 n 01 Alecto 0 001 @i 00000002 n 0000 | x")
    written(tmp_path / "nouns", *lines)
    written(tmp_path / "readme", "hello")
    import_corpus("wordnet", [tmp_path / "nouns", tmp_path / "readme"], tmp_path / "out", unused=False)
    assert rows(tmp_path / "out" / "entities.tsv")["wordnet_Alecto_100000003"][1] == "wordnet_Fury_100000002"
    assert rows(tmp_path / "out" / "types.tsv") == {
        "wordnet_Fury_100000002": ["Fury", "wordnet_god_100000001"],
        "wordnet_god_100000001": ["god", ""],
    }
    with pytest.raises(InputError, match=r"readme: no data\.noun"):
        import_corpus("wordnet", tmp_path / "readme", tmp_path / "none")


@settings(deadline=None)
@given(st.dictionaries(st.text(), st.integers(0, 2**63)), st.lists(st.text()))
def test_numbers(tmp_path_factory: pytest.TempPathFactory, pairs: dict[str, int], others: list[str]) -> None:
    """A table of numbers finds what a dictionary finds."""
    folder = tmp_path_factory.mktemp("numbers")
    table = NumbersWriter()
    for name, number in pairs.items():
        table.add(name, number)
    table.write(folder, "x")
    asked = [*pairs, *others]
    assert Numbers(folder, "x").find(asked) == {name: pairs[name] for name in asked if name in pairs}
    assert Numbers(folder, "absent").find(asked) == {}


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20), st.sets(st.integers(0, 9), max_size=3))
def test_unused_types(tmp_path_factory: pytest.TempPathFactory, edges: list[tuple[int, int]], used: set[int]) -> None:
    """Types stay if an entity has them or one below them; twice gives the same, as after a kill."""
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
        assert {name for name, _rows in merge_runs(store.runs("types"))} == {f"T{a}" for a, _b in edges if a in stay}
    gone = {a for a, _b in edges if a not in stay}
    assert store.counts["types that no entity has"] == 2 * len(gone)


def test_names_of_types() -> None:
    """A type without a label is named by the words in its id."""
    assert make_type_name("wordnet_subsidiary_company_108003935") == "subsidiary company"
    assert make_type_name("wikicat_Towns_in_Saxony-Anhalt") == "Towns in Saxony-Anhalt"
    assert make_type_name("schema:BodyOfWater") == "body of water"
    assert make_type_name("Painter_%28artist%29_Q1028181") == "Painter (artist)"
    assert find_relation("x/type/ArticleExtractor.txt") == find_relation("type.tsv.gz") == "type"
    assert find_relation("bornIn.tsv") == ""
