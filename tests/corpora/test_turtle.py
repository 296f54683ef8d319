"""Turtle, against what is known, against pyoxigraph on the whole text, and against rdflib where it is installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpora.formats import nif
from fader.corpora.parsers.rdf.escapes import unescape
from fader.corpora.parsers.rdf.oxigraph import FAULTY, Context, Triple, read_turtle
from fader.corpora.parsers.rdf.vocabularies import RDF
from fader.corpus.documents import Faults
from fader.errors import UsageError

SAMPLE = r'''
@prefix ex: <http://ex/> . # a comment with "quotes" and <brackets>
@base <http://base/> .
PREFIX : <http://none/>
ex:a a ex:T ; ex:p "x\"y\n\u00e9"@en , 'single'^^ex:t , """long "quoted"
text""" , 1 , -2.5 , 1e3 , true ; ; .
<rel> ex:q :local , ex:with.dot.  ex:b ex:p [ ex:r "in" ; ex:s ( 1 ex:c ) ] .
_:x ex:p _:y .
ex:esc\,aped ex:p <http://ex/i> .
'''
PREFIXES = "@prefix ex: <http://ex/> .\n@prefix : <http://none/> .\n"
CASES = [
    '<http://a> <http://p> "x" .',
    "BASE <http://b/c/d?q#f>\n<http://a> <#g> <e> , <../h> , </i> , <?j> , <> , <//k/l> , <./../m> .",
    "@base <http://b/> . @base <c/> . <d> <e> <f> . PREFIX x: <g/> x:h x:i x:j .",
    "@base <urn:x:y> . <#a> <#b> <urn:z> .",
    "PREFIX ex: <http://other/>\nex:a ex:b ex:c .",
    "ex:a a ex:b ;\n\n;; ex:c ex:d , ex:e;.",
    "ex:a ex:b ex:c.d.ex:d.\nex:a:b ex:%20 ex:0 . :a : : .",
    r"ex:a\.b ex:c\,d ex:e\~\-\#f . ex:a\. ex:b ex:c .",
    'ex:a ex:b """a "b" ""c""d\\"""e\\\\""" , \'\'\'a\'b\'\'c\n\'\'\' , "" , \'\' , """""" .',
    r'ex:a ex:b "\t\b\n\r\f\"\'\\\u0041\U0001F600é😀" .',
    "ex:a ex:b 1, -1, +1, 1.5, .5, -.5, 1e5, 1.e5, .5E-3, 1.5e+3, true, false .",
    "ex:a ex:b 5.:a ex:b 5.5.:a ex:c true.",
    'ex:a ex:b "x"@en, "x"@de-AT-1996, "5"^^<http://t>, "5"^^ex:t .',
    "[] ex:a [] . [ ex:a [ ex:b ex:c ; ex:d [] ] , ex:e ] . [ ex:a 1 ] ex:b 2 .",
    "ex:a ex:b () , ( 1 ) , ( ex:c ( ) ( 'x' [ ex:d () ] ) ) . ( 1 2 ) ex:a ( 3 ) .",
    "_:a ex:b _:b1 . _:b1 ex:b [ ex:c _:a ] , _:c.d . _:0 ex:a _:b2, [] .",
    '#comment . \nex:a#comment\nex:b # <x> "\nex:c#\n.#',
    "ex:a<http://p>ex:b,<http://c>;a<http://t>.",
    "\tex:a\r\n\tex:b\r\n\t'''x\r\ny'''\r\n.\r\n",
    "é:a é:bü é:日本 .",
]


def triples(text: str, faults: Faults | None = None, head: str = "", base: str = "") -> list[Triple]:
    return list(read_turtle(text, "f", faults or Faults("fail"), 1, Context.from_head(head, base)))


def read(text: str, faults: Faults | None = None) -> list[tuple[str, str, str, bool]]:
    return [found[:4] for found in triples(text, faults)]


def test_statements() -> None:
    """All that the files of NIF use is read, with the lines of the statements."""
    found = triples(SAMPLE)
    said = [f.object for f in found if f.subject == "http://ex/a"]
    assert said == ["http://ex/T", 'x"y\né', "single", 'long "quoted"\ntext', "1", "-2.5", "1e3", "true"]
    assert [f.language for f in found if f.subject == "http://ex/a"] == ["", "en", "", "", "", "", "", ""]
    assert found[0].predicate == RDF + "type"
    assert {f.line for f in found if f.subject == "http://ex/a"} == {4}
    assert ("http://base/rel", "http://ex/q", "http://ex/with.dot", False) in [f[:4] for f in found]
    assert ("http://ex/esc,aped", "http://ex/p", "http://ex/i", False) in [f[:4] for f in found]


def canonical(quads: Any) -> set[str]:
    """Statements with blank nodes named by what is said of them; literals without datatypes."""
    rdf = pytest.importorskip("pyoxigraph")
    made = rdf.Dataset(quads)
    made.canonicalize(rdf.CanonicalizationAlgorithm.UNSTABLE)
    return {str(quad) for quad in made}


def ours(text: str) -> set[str]:
    rdf = pytest.importorskip("pyoxigraph")
    blanks: dict[str, Any] = {}

    def term(name: str) -> Any:
        return blanks.setdefault(name, rdf.BlankNode()) if name.startswith("_:") else rdf.NamedNode(name)

    def thing(found: Any) -> Any:
        return rdf.Literal(found.object, language=found.language or None) if found.literal else term(found.object)

    all_found = triples(text, base="http://doc/")
    return canonical([rdf.Quad(term(f.subject), rdf.NamedNode(f.predicate), thing(f)) for f in all_found])


def theirs(text: str) -> set[str]:
    rdf = pytest.importorskip("pyoxigraph")
    quads = []
    for found in rdf.parse(text.encode(), format=rdf.RdfFormat.TURTLE, base_iri="http://doc/"):
        thing = found.object
        if isinstance(thing, rdf.Literal):
            thing = rdf.Literal(thing.value, language=thing.language)
        quads.append(rdf.Quad(found.subject, found.predicate, thing))
    return canonical(quads)


@pytest.mark.parametrize("text", CASES)
def test_same_as_pyoxigraph(text: str) -> None:
    """Every part of the grammar gives the statements that pyoxigraph finds in the whole text."""
    text = f"@prefix é: <http://é/> . {PREFIXES}{text}"
    assert ours(text) == theirs(text)


IRIS = st.sampled_from(
    ["<http://a/b>", "<c>", "<#d>", "ex:e", "ex:f.g", ":h", "ex:", "ex:i\\,j", ":0", "<http://é/\\u00e9>"]
)
LABELS = st.sampled_from(["_:a", "_:b1", "_:c.d"])
WORDS = st.text(st.sampled_from("ab \"'\\\n\t.;,#<>@é😀[]()"), max_size=8)


def quoted_in(words: str, mark: str) -> str:
    escaped = words.replace("\\", "\\\\").replace(mark[0], "\\" + mark[0])
    return mark + (escaped if len(mark) == 3 else escaped.replace("\n", "\\n")) + mark


LITERALS = st.builds(
    lambda words, mark, more: quoted_in(words, mark) + more,
    WORDS,
    st.sampled_from(['"', "'", '"""', "'''"]),
    st.sampled_from(["", "@en", "@de-AT", "^^ex:t", "^^<http://t>"]),
)
NUMBERS = st.sampled_from(["1", "-2", "+3.5", ".5", "1e3", "true", "false"])
GAPS = st.sampled_from([" ", "\n", "\t", ' # a "remark" .\n', "\r\n", "  "])


@st.composite
def properties(draw: st.DrawFn, depth: int) -> str:
    predicates = st.one_of(IRIS, st.just("a"))
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        values = f"{draw(GAPS)},{draw(GAPS)}".join(draw(st.lists(objects(depth), min_size=1, max_size=3)))
        parts.append(f"{draw(predicates)}{draw(GAPS)}{values}")
    return f"{draw(GAPS)};{draw(GAPS)}".join(parts) + draw(st.sampled_from(["", " ;", " ; ;"]))


@st.composite
def objects(draw: st.DrawFn, depth: int) -> str:
    if depth and draw(st.booleans()):
        if draw(st.booleans()):
            return f"[{draw(GAPS)}{draw(st.one_of(st.just(''), properties(depth - 1)))}{draw(GAPS)}]"
        return f"({draw(GAPS)}{draw(GAPS).join(draw(st.lists(objects(depth - 1), max_size=3)))}{draw(GAPS)})"
    return draw(st.one_of(IRIS, LABELS, LITERALS, NUMBERS))


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_drawn_texts_are_read_as_pyoxigraph_does(data: st.DataObject) -> None:
    """Any mixture of nodes, literals, brackets, gaps and remarks."""
    text = PREFIXES
    for _ in range(data.draw(st.integers(1, 4))):
        subject = data.draw(st.one_of(IRIS, LABELS, st.just("[]"), st.just("( 1 ex:a )")))
        text += f"{subject}{data.draw(GAPS)}{data.draw(properties(2))}{data.draw(GAPS)}.{data.draw(GAPS)}"
    assert ours(text) == theirs(text)


def test_same_as_rdflib() -> None:
    """rdflib finds as many statements, and the same ones among those without blank nodes."""
    rdflib = pytest.importorskip("rdflib")
    text = SAMPLE.replace(", 1e3 ", "")  # which rdflib writes anew, as 1000.0
    theirs = set()
    for s, p, o in (graph := rdflib.Graph().parse(data=text, format="turtle", publicID="http://base/")):
        literal = isinstance(o, rdflib.Literal)
        if not any(isinstance(term, rdflib.BNode) for term in (s, o)):
            theirs.add((str(s), str(p), str(o), literal))
    found = read(text)
    assert len(found) == len(graph)
    assert {f for f in found if not f[0].startswith("_:") and not f[2].startswith("_:")} == theirs


def test_what_dumps_have_and_turtle_forbids() -> None:
    """Bars, braces and quotes in addresses, and characters in two halves, as Java writes them."""
    found = read('<http://a|b> <http://p{c}> <http://d"e> .\n<http://a> <http://p> "\\uD83D\\uDE00" .\n')
    assert found == [("http://a|b", "http://p{c}", 'http://d"e', False), ("http://a", "http://p", "😀", True)]
    assert unescape("\\uD83D\\uDE00 \\uD83D") == "😀 \ufffd"
    assert unescape("\\U00110000 \\u00e9\\q") == "\\U00110000 éq"


def test_goes_on_after_errors() -> None:
    """What is no statement is a fault at its line; the next statements are read."""
    faults = Faults()
    text = '<http://a> <http://p> "1" .\nwhat is this .\n<http://b> <http://p> "2" .\nex:c <http://p> 3 .\n<http://d> <'
    assert [f[0] for f in read(text, faults)] == ["http://a", "http://b"]
    assert [example.split(":")[1] for example in faults.examples[FAULTY]] == ["2", "4", "5"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<http://a> <http://p> 1", "Unexpected end; correct it, or get a whole copy of the file"),
        ("ex:a ex:b ex:c .", "The prefix ex: has not been declared"),
        ("<http://a> <http://p> " + "[ <http://p> " * 5000, "Unexpected end"),
        ("<http://a> <http://p> " + "( " * 5000, "Unexpected end"),
        ("@keywords a .", "keywords"),
        ('<http://a> <http://p> "no end .\n', "Unexpected end of file"),
        ('<http://a> <http://p> """no end .\n', "Unexpected end of file"),
        ("{}", "{ is not a valid subject"),
    ],
)
def test_errors_say_what_is_wrong(text: str, said: str) -> None:
    """An error says what was expected, what is there, and what helps."""
    faults = Faults()
    assert read(text, faults) == []
    assert said in faults.examples[FAULTY][0]


def test_an_open_string_costs_its_statement_alone() -> None:
    """A string without its end is a fault at its line, and what follows is read, long strings with full stops too."""
    faults = Faults()
    text = (
        '<http://a> <http://p> {}no end .\n\n<http://b> <http://p> "x" .\n<http://c> <http://p> """3 .\nx .\n4""" .\n'
    )
    for mark in ('"', "'"):
        assert [f[:3:2] for f in read(text.format(mark), faults)] == [("http://b", "x"), ("http://c", "3 .\nx .\n4")]
    assert [example.split(":")[1] for example in faults.examples[FAULTY]] == ["1", "1"]


def test_facts_about_facts_are_passed_over() -> None:
    """Of RDF-star the statements about a triple are read; the triple itself is not asserted."""
    found = read("<<<http://a> <http://p> 1>> <http://q> 2 .")
    assert [(f[0][:2], f[1]) for f in found] == [("_:", "http://q")]


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyoxigraph an error says which extra to install."""
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(UsageError, match=r"pip install 'fader\[rdf\]'"):
        read("<http://a> <http://p> 1 .")


def test_a_wrong_head_is_no_error() -> None:
    """Prefixes of the head that cannot be read are told of where they stand in the text, once."""
    head = "@prefix ex <http://ex/> .\n@prefix : <http://none/>\n"  # that the second has no full stop does not matter
    faults = Faults()
    found = triples(f"{head}:a :b :c .\n", faults, head=head)
    assert faults.counts == {FAULTY: 1}
    assert [f.subject for f in found] == ["http://none/a"]


def test_a_long_literal_needs_little() -> None:
    """Megabytes of text in one literal are one step of the reader."""
    words = 'a "b" \\n' * 300_000
    (found,) = triples(f'<http://a> <http://p> """{words}""" .')
    assert len(found.object) == len(words) - 300_000


def test_lists_are_chains() -> None:
    """A collection is a chain of first and rest that ends with nil."""
    found = read("<http://a> <http://p> ( 1 2 ) , () .")
    assert sorted(f[1].removeprefix(RDF) for f in found) == ["first", "first", "http://p", "http://p", "rest", "rest"]
    assert [f[1].removeprefix(RDF) for f in found if f[2] == RDF + "nil"] == ["rest", "http://p"]


def test_large_sources_are_cut_between_documents(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A source beyond the size that may be in any order is cut where a document ends, with its prefixes kept."""
    path = tmp_path / "big.ttl"
    head = f"@prefix nif: <{nif.NIF}> .\n@prefix its: <{nif.ITS}> .\n"
    body = "".join(
        f'<http://ex/{i}#char=0,9> nif:isString "Port Vell" .\n<http://ex/{i}#char=0,4> nif:referenceContext '
        f"<http://ex/{i}#char=0,9> ; its:taIdentRef <http://dbpedia.org/resource/P{i}> .\n"
        for i in range(40)
    )
    path.write_text(head + body)
    monkeypatch.setattr(nif, "WHOLE", 500)
    data = path.read_bytes()
    monkeypatch.setattr(nif, "read_chunks", lambda _s: ((data[i : i + 600], i) for i in range(0, len(data), 600)))
    faults = Faults("fail")
    batches = list(nif.Nif().batches([str(path)], faults))
    found = [d for batch in batches for d in nif.Nif().convert(batch, None, faults).documents]
    assert len(batches) > 5
    assert [(d["id"], [m["entity"] for m in d["mentions"]]) for d in found] == [
        (f"http://ex/{i}", [f"P{i}"]) for i in range(40)
    ]
