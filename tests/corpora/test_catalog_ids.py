"""The table of docs/importing.md: corpora and catalogs whose ids agree, each imported for real."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import fader
from fader.corpora.frame.run import import_corpus
from fader.corpora.parsers.rdf.vocabularies import OWL, RDF

DOCS = Path(__file__).parents[2] / "docs" / "importing.md"
RESOURCE = "http://dbpedia.org/resource/"
TITLES = ("Björk", "Hound_Dog_(song)")
TEXT = "Björk sang Hound Dog."
SPANS = ((0, 5), (11, 20))


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


# --- corpora: what mentions which entities -------------------------------------------------------------------


def wikipedia(folder: Path) -> list[Path]:
    page = f"<page><title>Songs</title><ns>0</ns><id>1</id><revision><text>[[björk]] sang [[{TITLES[1]}|Hound Dog]]."
    return [written(folder / "wiki.xml", f'<mediawiki xml:lang="en">{page}</text></revision></page></mediawiki>')]


def wikiextractor(folder: Path) -> list[Path]:
    links = '<a href="bj%C3%B6rk">Björk</a> sang <a href="Hound%20Dog%20%28song%29">Hound Dog</a>.'
    head = '<doc id="1" url="https://en.wikipedia.org/wiki?curid=1" title="Songs">'
    return [written(folder / "wiki_00", f"{head}\nSongs\n\n{links}\n</doc>\n")]


def rel(folder: Path) -> list[Path]:
    links = [[s, e - s, TEXT[s:e], title, 0.9, 0.9, "PER"] for (s, e), title in zip(SPANS, TITLES, strict=True)]
    return [written(folder / "x.json", json.dumps(links)), written(folder / "x.txt", TEXT)]


def aida(folder: Path) -> list[Path]:
    token = "{0}\tB\t{0}\t{1}\thttp://en.wikipedia.org/wiki/{2}\t1\t/m/0345h\n"
    lines = token.format("Björk", "Bj\\u00f6rk", "Bj%C3%B6rk") + "sang\n"
    return [
        written(folder / "aida.tsv", f"-DOCSTART- (1 Songs)\n{lines}" + token.format("Hound", TITLES[1], TITLES[1]))
    ]


def nif(folder: Path) -> list[Path]:
    space = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
    text = f"@prefix nif: <{space}> .\n@prefix its: <http://www.w3.org/2005/11/its/rdf#> .\n"
    text += f'<http://x/1#char=0,{len(TEXT)}> a nif:Context ; nif:isString "{TEXT}" .\n'
    for (s, e), title in zip(SPANS, ("Bj%C3%B6rk", TITLES[1]), strict=True):
        context = f"nif:referenceContext <http://x/1#char=0,{len(TEXT)}>"
        text += f'<http://x/1#char={s},{e}> a nif:Phrase ; {context} ; nif:anchorOf "{TEXT[s:e]}" ;\n'
        text += f'  nif:beginIndex "{s}" ; nif:endIndex "{e}" ; its:taIdentRef <{RESOURCE}{title}> .\n'
    return [written(folder / "x.ttl", text)]


def conll(folder: Path) -> list[Path]:
    return [written(folder / "x.conll", "Björk B-Q42455\nsang O\nHound B-Q1135032\nDog I-Q1135032\n\n")]


def pyserini(folder: Path) -> list[Path]:
    links = [
        {"start_pos": s, "end_pos": e, "wikidata_id": q}
        for (s, e), q in zip(SPANS, ("Q42455", "Q1135032"), strict=True)
    ]
    return [written(folder / "corpus.jsonl", json.dumps({"id": "1", "contents": TEXT, "entities": links}) + "\n")]


def facc1(folder: Path) -> list[Path]:
    page = "<p>Naloxone and Germany.</p>"
    head = "WARC/1.0\r\nWARC-Type: response\r\nWARC-TREC-ID: clueweb12-0000tw-00-00000\r\nContent-Length: "
    body = f"HTTP/1.1 200 OK\r\n\r\n{page}"
    start = body.index("Germany")
    row = f"clueweb12-0000tw-00-00000\tUTF-8\tGermany\t{start}\t{start + 7}\t0.9\t0.1\t/m/0345h\n"
    return [written(folder / "x.warc", f"{head}{len(body)}\r\n\r\n{body}\r\n\r\n"), written(folder / "x.tsv", row)]


def pubtator(folder: Path) -> list[Path]:
    line = "1\t0\t8\tNaloxone\tChemical\tD009270\n"
    return [written(folder / "x.txt", f"1|t|Naloxone works.\n1|a|It does.\n{line}")]


def bioc(folder: Path) -> list[Path]:
    said = '<infon key="identifier">D009270</infon><infon key="type">Chemical</infon><location offset="0" length="8"/>'
    passage = f"<offset>0</offset><text>Naloxone works.</text><annotation>{said}<text>Naloxone</text></annotation>"
    text = f"<collection><document><id>1</id><passage>{passage}</passage></document></collection>"
    return [written(folder / "x.xml", f"<?xml version='1.0'?>{text}")]


# --- catalogs: what describes which entities ------------------------------------------------------------------


def yago(folder: Path) -> list[Path]:
    """Version 4.5, whose ids are titles with percent signs."""
    spaces = {
        "yago": "http://yago-knowledge.org/resource/",
        "rdf": RDF,
        "owl": OWL,
        "wd": "http://www.wikidata.org/entity/",
    }
    text = "".join(f"@prefix {name}: <{space}> .\n" for name, space in spaces.items())
    for title, number in (("Björk", 42455), ("Hound_Dog_%28song%29", 1135032)):
        text += f"yago:{title}\trdf:type\tyago:Kind\t.\nyago:{title}\towl:sameAs\twd:Q{number}\t.\n"
    return [written(folder / "yago-facts.ttl", text)]


def yago_3(folder: Path) -> list[Path]:
    lines = ("<Bj\\u00f6rk>\trdf:type\t<wordnet_kind_100000001>", f"<{TITLES[1]}>\trdf:type\t<wordnet_kind_100000001>")
    return [written(folder / "yagoTypes.tsv", "".join(f"<id_{i}>\t{line}\t\n" for i, line in enumerate(lines)))]


def yago_2(folder: Path) -> list[Path]:
    lines = ("Bj\\u00f6rk\twordnet_kind_100000001", f"{TITLES[1]}\twordnet_kind_100000001")
    return [written(folder / "type.tsv", "".join(f"{i}\t{line}\t0.9\n" for i, line in enumerate(lines, 1)))]


def dbpedia(folder: Path) -> list[Path]:
    text = ""
    for title, number in (("Bj%C3%B6rk", 42455), (TITLES[1], 1135032)):
        text += f"<{RESOURCE}{title}> <{RDF}type> <http://dbpedia.org/ontology/Kind> .\n"
        text += f"<{RESOURCE}{title}> <{OWL}sameAs> <http://www.wikidata.org/entity/Q{number}> .\n"
    return [written(folder / "types.nt", text)]


def wikidata(folder: Path) -> list[Path]:
    lines = []
    for number, title, values in (
        (42455, "Björk", {}), (1135032, "Hound Dog (song)", {}), (183, "Germany", {"P646": "/m/0345h"}),
        (409672, "Naloxone", {"P486": "D009270"}),
    ):  # fmt: skip
        claims = {"P31": [_claim({"entity-type": "item", "id": "Q1"})]} | {k: [_claim(v)] for k, v in values.items()}
        labels = {"en": {"language": "en", "value": title}}
        links = {"enwiki": {"site": "enwiki", "title": title}}
        lines.append({"type": "item", "id": f"Q{number}", "labels": labels, "claims": claims, "sitelinks": links})
    lines.append(
        {"type": "item", "id": "Q1", "labels": {"en": {"value": "kind"}}, "claims": {"P279": [_claim({"id": "Q2"})]}}
    )
    return [written(folder / "dump.json", "".join(json.dumps(line) + "\n" for line in lines))]


def _claim(value: Any) -> dict[str, Any]:
    return {"mainsnak": {"snaktype": "value", "datavalue": {"value": value}}, "rank": "normal"}


def mesh(folder: Path) -> list[Path]:
    records = (("Chemicals", "D000001", "D02"), ("Naloxone", "D009270", "D02.100"))
    text = "".join(f"*NEWRECORD\nRECTYPE = D\nMH = {name}\nMN = {at}\nUI = {ui}\n\n" for name, ui, at in records)
    return [written(folder / "d.bin", text)]


MAKERS = {f.__name__: f for f in (
    wikipedia, wikiextractor, rel, aida, nif, conll, pyserini, facc1, pubtator, bioc, yago, yago_3, yago_2, dbpedia,
    wikidata, mesh,
)}  # fmt: skip
ROWS: list[tuple[list[tuple[str, dict[str, str]]], list[tuple[str, dict[str, str]]], str]] = [
    (
        [("wikipedia", {}), ("wikiextractor", {}), ("rel", {}), ("aida", {"ids": "wikipedia"}), ("nif", {})],
        [("yago", {"ids": "wikipedia"}), ("dbpedia", {}), ("wikidata", {"ids": "wikipedia"})],
        "kind",
    ),
    ([("aida", {})], [("yago_3", {}), ("yago_2", {})], "kind"),
    (
        [("conll", {}), ("pyserini", {})],
        [("wikidata", {}), ("yago", {"ids": "wikidata"}), ("dbpedia", {"ids": "wikidata"})],
        "kind",
    ),
    ([("facc1", {})], [("wikidata", {"ids": "P646"})], "kind"),
    ([("pubtator", {}), ("bioc", {})], [("wikidata", {"ids": "P486", "prefix": "MESH:"})], "kind"),
    ([("pubtator", {}), ("bioc", {})], [("mesh", {})], "chemicals"),
]
PAIRS = [(corpus, catalog, kind) for corpora, catalogs, kind in ROWS for corpus in corpora for catalog in catalogs]


def imported(part: tuple[str, dict[str, str]], folder: Path) -> Path:
    name, options = part
    sources = MAKERS[name](folder / "sources")
    if name == "pyserini":
        return sources[0].parent
    report = import_corpus(name.partition("_")[0], sources, folder / "out", **options)
    assert not report.faults.counts
    return folder / "out"


@pytest.mark.parametrize(("corpus", "catalog", "kind"), PAIRS, ids=[f"{a[0]}-{b[0]}" for a, b, _kind in PAIRS])
def test_ids_agree(
    corpus: tuple[str, dict[str, str]], catalog: tuple[str, dict[str, str]], kind: str, tmp_path: Path
) -> None:
    """Every mention of the corpus is of an entity that the catalog has, and a search by the catalog's type finds it."""
    texts, names = imported(corpus, tmp_path / "corpus"), imported(catalog, tmp_path / "catalog")
    files = [str(names / file) for file in ("entities.tsv", "types.tsv")]
    index = fader.build(tmp_path / "index", [str(texts / "corpus.jsonl")], *files, on_error="fail")
    document = json.loads((texts / "corpus.jsonl").read_text("utf-8").split("\n")[0])
    said = document.get("mentions") or document["entities"]
    mentioned = {each.get("entity") or each["wikidata_id"] for each in said}
    word = {"facc1": "naloxone", "pubtator": "works", "bioc": "works"}.get(corpus[0], "sang")
    assert {result.entity for result in index.search(word, type=kind).results} == mentioned


def test_the_table_of_the_documentation_is_tested() -> None:
    """Each format in the table stands in the rows above."""
    table = DOCS.read_text("utf-8").split("| corpus | its ids | catalog |")[1].split("\n\n")[0]
    cells = [row.split("|") for row in table.strip().split("\n")[1:]]
    named = {name for cell in cells for part in (cell[1], cell[3]) for name in re.findall(r"`([a-z0-9]+)", part)}
    tested = {name.partition("_")[0] for corpora, catalogs, _k in ROWS for name, _o in (*corpora, *catalogs)}
    assert named <= tested
