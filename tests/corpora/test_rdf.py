"""RDF files: how they write their statements, and that each is found; against what is known and other readers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpora.frame import inputs
from fader.corpora.frame.base import Batch
from fader.corpora.parsers.rdf import oxigraph
from fader.corpora.parsers.rdf.escapes import unescape
from fader.corpora.parsers.rdf.layout import LINES, Layout, cut_statements, find_layout, find_layouts
from fader.corpora.parsers.rdf.triples import read_statements
from fader.corpora.parsers.rdf.vocabularies import RDF, RDFS
from fader.corpus.documents import Faults


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
    assert find_layout(str(tmp_path / "any.name")).kind == kind


def escaped(text: str) -> str:
    """Characters as N-Triples may write them."""
    plain = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return "".join(plain.get(c) or (c if " " <= c < "\x7f" else f"\\U{ord(c):08X}") for c in text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escapes_are_undone(text: str) -> None:
    """A text that is escaped as N-Triples asks is the same text when read."""
    assert unescape(escaped(text)) == text


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
    found = list(read_statements(batch, Layout(LINES, {}, ""), wanted, lambda address: address[9:], faults))
    assert [statement[1:] for statement in found] == expected
    assert not faults.counts


WANTED = {RDF + "type": "type", RDFS + "subClassOf": "below", RDFS + "label": "label"}


def found_in(path: Path, faults: Faults | None = None) -> list[tuple[str, str, str, str | None]]:
    """The statements of a file, without their lines."""
    layout = find_layouts([str(path)])[str(path)]
    told = faults or Faults("fail")
    batches = cut_statements([str(path)], told)
    return [said[1:] for batch in batches for said in read_statements(batch, layout, WANTED, str, told)]


TURTLE = """@prefix ex: <http://ex/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

ex:Part%d a ex:Class ;
    rdfs:label "part; one."@en, "Teil"@de ;
    rdfs:comment \"\"\"Long.
ex:No a ex:Statement .
\"\"\" ;
    rdfs:subClassOf ex:Whole , [ a ex:Restriction ; ex:on ex:p ] .
# a remark. With a stop .
ex:Line%d a ex:Class ; rdfs:subClassOf ex:Part%d .
"""


def test_turtle_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turtle is cut between statements only, whatever is in its long texts; each statement is found once."""
    monkeypatch.setattr(inputs, "PIECE", 100)
    text = TURTLE.partition("\n\n")[0] + "\n\n" + "".join(TURTLE.partition("\n\n")[2] % (i, i, i) for i in range(20))
    (tmp_path / "x.ttl").write_text(text)
    assert len(list(cut_statements([str(tmp_path / "x.ttl")], Faults("fail")))) > 10
    expected = []
    for i in range(20):
        part, line = f"http://ex/Part{i}", f"http://ex/Line{i}"
        expected += [(part, "type", "http://ex/Class", None), (part, "label", "part; one.", "en")]
        expected += [(part, "label", "Teil", "de"), (part, "below", "http://ex/Whole", None)]
        expected += [(line, "type", "http://ex/Class", None), (line, "below", part, None)]
    assert found_in(tmp_path / "x.ttl") == expected


def test_a_byte_order_mark_costs_no_statement(tmp_path: Path) -> None:
    """The first statement of a file with a mark is read, in any layout."""
    for text in (f"<http://a> <{RDF}type> <http://b> .\n", "<a>\t<http://a>\trdf:type\t<http://b>\t\n"):
        (tmp_path / "x").write_text(text, encoding="utf-8-sig")
        assert found_in(tmp_path / "x") == [("http://a", "type", "http://b", None)]


def test_several_statements_on_a_line(tmp_path: Path) -> None:
    """A line with several predicates or objects gives them all, and one whose text only looks like that gives one."""
    text = f'<http://a> <{RDF}type> <http://b>, <http://c>; <{RDFS}label> "x ; y" .\n'
    text += f'<http://a> <http://other> "p"; <{RDFS}label> "q"@en.\n<http://a> <http://other> "; <{RDFS}label> 1 ." .\n'
    (tmp_path / "x").write_text(text)
    assert found_in(tmp_path / "x") == [
        ("http://a", "type", "http://b", None), ("http://a", "type", "http://c", None),
        ("http://a", "label", "x ; y", ""), ("http://a", "label", "q", "en"),
    ]  # fmt: skip


XML = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ <!ENTITY ex "http://ex/"> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
         xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:ex="http://ex/" xml:base="http://ex/base" xml:lang="en">
<!-- a remark -->
<owl:Class rdf:about="&ex;City" rdfs:label="by attribute">
  <rdfs:label xml:lang="de">Stadt</rdfs:label><rdfs:label>city</rdfs:label>
  <rdfs:label rdf:datatype="http://www.w3.org/2001/XMLSchema#string">typed</rdfs:label>
  <rdfs:subClassOf rdf:resource="#Place"/>
  <rdfs:subClassOf><owl:Class rdf:ID="Inner"><rdfs:subClassOf rdf:resource="&ex;Top#"/></owl:Class></rdfs:subClassOf>
  <rdfs:subClassOf><owl:Restriction><ex:on rdf:resource="&ex;p"/></owl:Restriction></rdfs:subClassOf>
  <ex:oneOf rdf:parseType="Collection"><ex:Kind rdf:about="&ex;one"/></ex:oneOf>
</owl:Class>
<rdf:Description rdf:about="http://ex/Plain" rdf:type="http://ex/T"><rdfs:label rdf:parseType="Literal"><b>x</b>
</rdfs:label></rdf:Description>
</rdf:RDF>
"""


def test_rdf_in_xml(tmp_path: Path) -> None:
    """Nodes in nodes, attributes, languages that are inherited, bases and declared entities are read."""
    (tmp_path / "x.owl").write_text(XML)
    owl = "http://www.w3.org/2002/07/owl#Class"
    assert sorted(found_in(tmp_path / "x.owl"), key=str) == sorted(
        [
            ("http://ex/City", "type", owl, None), ("http://ex/City", "label", "by attribute", "en"),
            ("http://ex/City", "label", "Stadt", "de"), ("http://ex/City", "label", "city", "en"),
            ("http://ex/City", "label", "typed", ""), ("http://ex/City", "below", "http://ex/base#Place", None),
            ("http://ex/City", "below", "http://ex/base#Inner", None), ("http://ex/base#Inner", "type", owl, None),
            ("http://ex/base#Inner", "below", "http://ex/Top#", None), ("http://ex/Plain", "type", "http://ex/T", None),
            ("http://ex/one", "type", "http://ex/Kind", None),
        ],
        key=str,
    )  # fmt: skip


def test_xml_as_pyoxigraph_reads_it(tmp_path: Path) -> None:
    """pyoxigraph finds the same."""
    pyoxigraph = pytest.importorskip("pyoxigraph")
    (tmp_path / "x.owl").write_text(XML)
    theirs = set()
    for said in pyoxigraph.parse(XML.encode(), format=pyoxigraph.RdfFormat.RDF_XML):
        tag = WANTED.get(said.predicate.value)
        if tag and isinstance(said.subject, pyoxigraph.NamedNode) and not isinstance(said.object, pyoxigraph.BlankNode):
            literal = isinstance(said.object, pyoxigraph.Literal)
            theirs.add((said.subject.value, tag, said.object.value, said.object.language or "" if literal else None))
    assert {each for each in theirs if "<b" not in each[2]} == set(found_in(tmp_path / "x.owl"))


@pytest.mark.parametrize(
    "text", ["<?xml version='1.0' encoding='x-none'?><a/>", "<?xml version='1.0'?><a><b></a>", "<?xml"]
)
def test_bad_xml_is_a_fault(text: str, tmp_path: Path) -> None:
    """A file that is no XML is named, with the line."""
    (tmp_path / "x.owl").write_text(text)
    faults = Faults()
    assert found_in(tmp_path / "x.owl", faults) == []
    assert list(faults.counts) == [oxigraph.CUT]
    assert "x.owl" in faults.examples[oxigraph.CUT][0]


def test_nodes_in_nodes_without_end(tmp_path: Path) -> None:
    """Nodes may be nested as deep as a file likes, and nothing breaks."""
    body = f'<a xmlns="http://a/" xmlns:r="{RDF}" r:about="http://x"><p>' * 3000 + "</p></a>" * 3000
    (tmp_path / "x.owl").write_text("<?xml version='1.0'?>" + body)
    assert len(found_in(tmp_path / "x.owl")) == 3000


def test_entities_that_explode_are_a_fault(tmp_path: Path) -> None:
    """Declared entities that would expand to gigabytes are refused at once."""
    declared = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
    text = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "lol">{declared}]><x xmlns:r="{RDF}" r:about="&a9;"/>'
    (tmp_path / "x.owl").write_text(text)
    faults = Faults()
    assert found_in(tmp_path / "x.owl", faults) == []
    assert list(faults.counts) == [oxigraph.CUT]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_encodings_of_xml(encoding: str, tmp_path: Path) -> None:
    """The encoding that a file declares is undone."""
    text = XML.replace('version="1.0"?', f'version="1.0" encoding="{encoding}"?').replace("Stadt", "Städtchen")
    (tmp_path / "x.owl").write_bytes(text.encode(encoding))
    assert ("http://ex/City", "label", "Städtchen", "de") in [
        (t.subject, "label" if t.predicate == RDFS + "label" else "", t.object, t.language)
        for t in oxigraph.read_xml((tmp_path / "x.owl").read_bytes(), "x.owl", Faults("fail"))
    ]
