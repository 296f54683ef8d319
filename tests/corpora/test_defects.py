"""Sources of annotations with a defect: what can be read is read, what cannot is a fault of the right kind."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from corpora.cases import documents
from fader.corpora.frame.run import ImportReport, importer, run
from fader.errors import InputError

Found = dict[str, list[tuple[str, str]]]


class Defect(NamedTuple):
    """Files, the options that name some of them, and what comes of it; the files that no option names are sources."""

    about: str
    format: str
    files: dict[str, str | bytes]
    found: Found
    faults: dict[str, int]
    options: dict[str, Any] = {}  # noqa: RUF012 nobody changes it
    counts: dict[str, int] = {}  # noqa: RUF012 nobody changes it


def note(words: str, offset: object, name: str = "D000001") -> dict[str, Any]:
    where = [] if offset is None else [{"offset": offset, "length": len(words)}]
    return {"infons": {"identifier": name, "type": "Disease"}, "text": words, "locations": where}


def bioc(*passages: dict[str, Any]) -> str:
    return json.dumps({"documents": [{"id": "d", "passages": passages}]})


def tar(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


PREFIXES = (
    "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
    "@prefix its: <http://www.w3.org/2005/11/its/rdf#>\n"
)
CONTEXT = '<http://ex/d#char=0,8> a nif:Context ; nif:isString "In Vell." .\n<http://ex/d#char=3,7> a nif:Phrase ;'
CONTEXT += ' nif:referenceContext <http://ex/d#char=0,8> ; nif:anchorOf "Vell" ;'
BIOC = "<collection><document><id>{0}</id><passage><offset>0</offset><text>Ache</text><annotation>"
BIOC += '<infon key="MESH">D000001</infon><location offset="0" length="4"/><text>Ache</text></annotation></passage>'
BIOC += "</document></collection>"
ACHE = [("Ache", "MESH:D000001")]

DEFECTS = [
    Defect(
        "offsets that are no numbers are no relations",
        "pubtator",
        {"a.txt": "1|t|Ache\n1|a|\n1\tx\t4\tAche\tPain\tD000001\n1\t0\t-4\tAche\tPain\tD000001\n1\tCID\tD1\tD2\n"},
        {"1": []},
        {"lines that are neither text, mention nor relation": 2},
        counts={"relations, which are not imported": 1},
    ),
    Defect(
        "one cell line in two spellings",
        "pubtator",
        {"a.txt": "1|t|K562\n1|a|K562\n1\t0\t4\tK562\tCellLine\tCVCL_0004\n1\t5\t9\tK562\tCellLine\tCVCL:0004\n"},
        {"1": [("K562", "Cellosaurus:CVCL_0004")] * 2},
        {},
    ),
    Defect("a tar archive of BioC", "bioc", {"a.tar.gz": tar({"x/1.xml": BIOC.format(1), "x/2.xml": BIOC.format(2)})},
           {"1": ACHE, "2": ACHE}, {}),
    Defect(
        "composite mentions and repeated lines: mentions are lines, less repeated ones, more further ones",
        "pubtator",
        {"a.txt": "1|t|BRCA1/2 or BRCA1\n1\t0\t7\tBRCA1/2\tGene\t672;675\n" + "1\t11\t16\tBRCA1\tGene\t672\n" * 3},
        {"1": [("BRCA1/2", "NCBIGene:672"), ("BRCA1/2", "NCBIGene:675"), ("BRCA1", "NCBIGene:672")]},
        {},
        counts={"mentions": 3, "mentions repeated, which count once": 2,
                "further mentions, for composite ones are of several entities": 1},
    ),
    Defect("an archive of something else", "bioc", {"a.tar.gz": tar({"x/1.json": "{}"})}, {},
           {"documents that cannot be read": 1}),
    Defect("no BioC at all", "bioc", {"a.json": "words"}, {}, {"documents that cannot be read": 1}),
    Defect(
        "collections in an array, as PMC's service gives them, and a collection a line",
        "bioc",
        {"a.json": json.dumps([json.loads(bioc({"offset": 0, "text": "Ache", "annotations": [note("Ache", 0)]}))]),
         "b.json": "".join(bioc({"offset": 0, "text": "x"}).replace('"d"', f'"{i}"') + "\n" for i in (0, 1)) + "{}"},
        {"d": ACHE, "0": [], "1": []},
        {"documents that cannot be read": 1},
    ),
    Defect("an empty collection", "bioc", {"a.xml": "<collection></collection>"}, {}, {}),
    Defect(
        "an annotation that cannot be read costs no other",
        "bioc",
        {"a.json": bioc({"offset": 0, "text": "Ache", "annotations": [note("Ache", 0), note("Ache", "x"), 7]})},
        {"d": ACHE},
        {"annotations that cannot be read": 2},
    ),
    Defect(
        "annotations with an id and no location",
        "bioc",
        {"a.json": bioc({"offset": 0, "text": "Ache", "annotations": [note("Ache", 0), note("Ache", None)]})},
        {"d": ACHE},
        {"annotations that cannot be read": 1},
    ),
    Defect(
        "offsets that count from a passage, near enough to be mistaken for shifted ones",
        "bioc",
        {"a.json": bioc({"offset": 0, "text": "Ache of"}, {"offset": 8, "text": "Ache, ache, ache and ache",
                                                           "annotations": [note("ache", 12), note("Ache", 0)]})},
        {"d": [("Ache", "MESH:D000001"), ("ache", "MESH:D000001")]},
        {},
        counts={"mentions moved to their words": 0},
    ),
    Defect(
        "annotations of a passage that are in none of its sentences",
        "bioc",
        {"a.json": bioc({"offset": 0, "sentences": [{"offset": 0, "text": "Ache"}, {"offset": 5, "text": "Rash"}],
                         "annotations": [note("Rash", 5), note("Flu", 50)]})},
        {"d": [("Rash", "MESH:D000001")]},
        {"mentions whose words are not at their offsets": 1},
    ),
    Defect(
        "what is said in an annotation unit",
        "nif",
        {"a.ttl": f"{PREFIXES}{CONTEXT} nif:annotationUnit [ its:taIdentRef <http://dbpedia.org/resource/Vell> ] ."},
        {"http://ex/d": [("Vell", "Vell")]},
        {},
    ),
    Defect(
        "a mention of all the text has the address of the text",
        "nif",
        {"a.ttl": f'{PREFIXES}<http://ex/d#char=0,4> nif:isString "Vell" ; nif:anchorOf "Vell" ; '
                  "its:taIdentRef <http://dbpedia.org/resource/Vell> ."},
        {"http://ex/d": [("Vell", "Vell")]},
        {},
    ),
    Defect("RDF/XML", "nif", {"a.rdf": '<?xml version="1.0"?>\n<rdf:RDF/>\n'}, {},
           {"statements that cannot be read": 1}),
    Defect(
        "tokens that begin like remarks",
        "conll",
        {"a.txt": "#tag\tO\nVell\tB-LOC\n\n# a remark\n# text = B-LOC O\n# O\nAda B-PER\n"},
        {"a:1": [("Vell", "LOC:vell")], "a:6": [("Ada", "PER:ada")]},
        {},
    ),
    Defect("labels of no scheme", "conll", {"a.txt": "Vell LOC\nis O\n"}, {"a:1": []},
           {"tokens without a label, taken to be outside of mentions": 1}),
    Defect(
        "brackets that open or close nothing",
        "conll",
        {"a.conllu": "# newdoc id = d\n# global.Entity = GRP-etype-identity\n"
                     + "".join(f"{i}\t{word}" + "\t_" * 7 + f"\tEntity={said}\n" for i, (word, said) in enumerate(
                         [("Ada", "(1-person-Q1)"), ("of", "9)"), ("Vell", "(2-place-Q2")], 1))},
        {"d": [("Ada", "Q1")]},
        {"halves of mentions": 2},
    ),
    Defect("a no-break space in a token", "conll", {"a.txt": "Port\u00a0Vell NNP B-LOC\n"},
           {"a:1": [("Port\u00a0Vell", "LOC:port_vell")]}, {}),
    Defect(
        "a token whose label cannot be read stays in the text; entities without the id that is asked for",
        "aida",
        {"a.tsv": "-DOCSTART- (1 EU)\nVell\tB\tVell\tVell\t\t\t/m/1\nis\tX\tq\nBo\tB\tBo\tBo\n"},
        {"1": [("Vell", "/m/1")]},
        {"tokens without a label, taken to be outside of mentions": 1},
        {"ids": "freebase"},
        {"mentions without an id": 1},
    ),
    Defect(
        "CoNLL 2003 without the annotations: its lines are no tokens",
        "aida",
        {"a.txt": "-DOCSTART- -X- O O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n"},
        {},
        {"documents without annotations": 1},
    ),
    Defect(
        "texts that no source has links for",
        "rel",
        {"a.json": '{"d": [[0, 4, "Vell", "Vell", 1, 1, "LOC"]], "e": []}', "t.tsv": "d\tVell\ne\tx\nf\ty\ng\tz\n"},
        {"d": [("Vell", "Vell")], "e": []},
        {},
        {"texts": "t.tsv"},
        {"texts without links, which are no documents": 2},
    ),
    Defect(
        "texts that are nested too deeply, of two lines with one id the first",
        "rel",
        {"a.json": '{"d": [[0, 4, "Vell", "Vell", 1, 1, "LOC"]], "e": 5}',
         "t.jsonl": '{"id": "d", "text": "Vell"}\n' + '{"a":' * 9999 + '\n{"id": "d", "text": "x"}\n'},
        {"d": [("Vell", "Vell")]},
        {"texts that cannot be read": 1, "annotations that cannot be read": 1},
        {"texts": "t.jsonl"},
    ),
    Defect(
        "an array of MMEAD's objects, and a text that belongs to no answer",
        "rel",
        {"a.json": '[{"docid": "d", "body": [{"start_pos": 0, "end_pos": 4, "entity": "Vell"}]}]', "b.txt": "x",
         "t.tsv": "d\tVell\n"},
        {"d": [("Vell", "Vell")]},
        {"texts without their annotations": 1},
        {"texts": "t.tsv"},
    ),
    Defect(
        "a source that is no object, a field doc that is none, and a mark before the first line",
        "elastic",
        {"a.json": '\ufeff{"index": {"_id": "1"}}\n{"text": "[Vell](Vell)"}\n{"_id": 2, "_source": "x"}\n'
                   '{"id": 3, "doc": "x", "text": "y"}\n[1]\n' + "[" * 9999},
        {"1": [("Vell", "Vell")], "3": []},
        {"documents without a text": 1, "lines that are not JSON": 2},
    ),
    Defect(
        "a docsfile with a line that is not UTF-8: its words are not looked for in the next text",
        "qlever",
        {"w.tsv": "Ada\t0\t1\t1\n<Q1>\t1\t1\t1\nBo\t0\t2\t1\n<Q2>\t1\t2\t1\nCy\t0\t3\t1\n<Q3>\t1\t3\t1\nx\t0\t9\t1\n",
         "d.tsv": b"1\tAda\n2\tBo \xff\n3\tCy and Bo\nwords\n"},
        {"1": [("Ada", "Q1")], "3": [("Cy", "Q3")]},
        {"lines that are not UTF-8": 1, "lines that cannot be read": 1, "records without a text": 1},
        {"docs": "d.tsv"},
    ),
    Defect(
        "files beside texts and annotations",
        "brat",
        {"a.txt": "Vell", "a.ann": "T1\tLOC 0 4\tVell\n", "annotation.conf": "[entities]\n", "b.txt": "x", "c.a1": "y",
         "d.txt": "", "d.ann": ""},
        {"a": [("Vell", "LOC:vell")], "b": []},
        {"texts without their annotations": 1, "files that are neither .txt nor .ann": 1, "texts that are empty": 1},
    ),
    Defect(
        "a denotation that cannot be read costs no other; tracks of projects",
        "pubannotation",
        {"a.json": json.dumps({"sourceid": "d", "text": "Vell is", "denotations": [{"id": "T1", "obj": "x"}],
                               "tracks": [{"denotations": [{"id": "T1", "span": {"begin": 0, "end": 4}, "obj": "LOC"}]},
                                          7]}) + '\n{"text": 5}\n'},
        {"d": [("Vell", "LOC:vell")]},
        {"denotations that cannot be read": 2, "documents that cannot be read": 1},
    ),
    Defect("no MeSH", "mesh", {"a.xml": "<html></html>"}, {}, {"records that cannot be read": 1}),
]  # fmt: skip


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _handle: None)


def imported(format_: str, files: dict[str, str | bytes], options: dict[str, Any], folder: Path) -> ImportReport:
    (folder / "in").mkdir()
    for name, data in files.items():
        (folder / "in" / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    named = {key: str(folder / "in" / value) if value in files else value for key, value in options.items()}
    sources = [str(folder / "in" / name) for name in files if name not in options.values()]
    return run(importer(format_, **named), sources, folder / "out")


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: f"{defect.format}: {defect.about}")
def test_defect(defect: Defect, tmp_path: Path) -> None:
    """Mentions by their words, and faults by their kinds; each fault names its file."""
    report = imported(defect.format, defect.files, defect.options, tmp_path)
    found = {
        d["id"]: [(d["text"][m["start"] : m["end"]], m["entity"]) for m in d["mentions"]]
        for d in documents(tmp_path / "out")
    }
    assert found == defect.found
    assert report.faults.counts == defect.faults
    assert {name: report.counts.get(name, 0) for name in defect.counts} == defect.counts
    for example in (example for kind in report.faults.examples.values() for example in kind):
        assert example.startswith(str(tmp_path / "in"))


def test_a_file_that_is_no_mesh_is_an_error(tmp_path: Path) -> None:
    """The option names a file that is read whole before all else; without a heading it would do nothing."""
    with pytest.raises(InputError, match="no heading of MeSH"):
        imported("pubtator", {"a.txt": "1|t|Ache\n", "m.xml": "<html>"}, {"mesh": "m.xml"}, tmp_path)


def test_a_companion_that_is_cut_short_is_a_fault(tmp_path: Path) -> None:
    """The texts that are there are used."""
    lines = "".join(f'{{"id": "d{i}", "text": "Vell {os.urandom(60).hex()}"}}\n' for i in range(2000))
    links = {"d0": [[0, 4, "Vell", "Vell", 1, 1, "LOC"]], "d1999": []}
    files: dict[str, str | bytes] = {"a.json": json.dumps(links), "t.gz": gzip.compress(lines.encode())[:-20_000]}
    report = imported("rel", files, {"texts": "t.gz"}, tmp_path)
    assert [d["id"] for d in documents(tmp_path / "out")] == ["d0"]
    assert report.faults.counts["sources damaged or cut short"] == 1
    assert report.faults.counts["documents without a text"] == 1


def test_names_of_concepts_are_not_those_of_composite_mentions(tmp_path: Path) -> None:
    """While there is a single mention it names the concept; MeSH's name and entry terms go before."""
    text = "1|t|Ovarian and breast cancers in BRCA1/BRCA2, BRCA1/BRCA2 and Brca1\n1|a|\n"
    lines = [
        "1\t0\t26\tOvarian and breast cancers\tDisease\tD010051|D001943",
        "1\t30\t41\tBRCA1/BRCA2\tGene\t672;675",
        "1\t43\t54\tBRCA1/BRCA2\tGene\t672;675",
        "1\t59\t64\tBrca1\tGene\t672",
    ]
    mesh = "*NEWRECORD\nMH = Breast Neoplasms\nENTRY = Breast Cancer|T1\nMN = C04.588.180\nUI = D001943\n"
    imported("pubtator", {"a.txt": text + "\n".join(lines), "m.bin": mesh}, {"mesh": "m.bin"}, tmp_path)
    rows = [line.split("\t") for line in (tmp_path / "out" / "entities.tsv").read_text().splitlines()]
    assert {row[0]: (row[1], row[3:]) for row in rows} == {
        "MESH:D001943": ("Breast Neoplasms", ["Breast Cancer"]),
        "MESH:D010051": ("Ovarian and breast cancers", []),
        "NCBIGene:672": ("Brca1", []),
        "NCBIGene:675": ("BRCA1/BRCA2", []),
    }


def test_a_fault_of_a_document_names_it(tmp_path: Path) -> None:
    """Where one object holds all documents, its first byte says nothing."""
    report = imported("rel", {"a.json": '{"d": [], "e": 5}'}, {}, tmp_path)
    assert report.faults.examples == {
        "documents without a text": [f'{tmp_path}/in/a.json: document "d"; give a file of texts with --texts'],
        "annotations that cannot be read": [f'{tmp_path}/in/a.json: document "e" needs a list of links, not "5"'],
    }


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GIF89a words", "it is not compressed with zlib, or damaged"),
        (zlib.compress(b"\xc1"), "what is compressed in it is not MessagePack"),
        (zlib.compress(msgspec.msgpack.encode({"version": 1})), "it has no 'attrs'"),
        (zlib.compress(msgspec.msgpack.encode([1])), "its parts are not of the types that they must have"),
        (zlib.compress(b"words" * 99)[:-4], "it is cut short"),
    ],
)
def test_why_a_source_is_no_docbin(data: bytes, reason: str, tmp_path: Path) -> None:
    """The message is in our words, not in those of the libraries."""
    report = imported("spacy", {"a.spacy": data}, {}, tmp_path)
    assert f"no DocBin of spaCy 2 or 3, for {reason};" in report.faults.examples["sources that are no DocBin"][0]
