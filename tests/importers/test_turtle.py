"""Turtle, against what is known and against rdflib where it is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fader.corpus.documents import Faults
from fader.importers import nif
from fader.importers.turtle import FAULTY, TYPE, statements

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


def read(text: str, faults: Faults | None = None) -> list[tuple[str, str, str, bool]]:
    return [found[:4] for found in statements(text, "f", faults or Faults("fail"))]


def test_statements() -> None:
    """All that the files of NIF use is read, with the lines of the statements."""
    found = list(statements(SAMPLE, "f", Faults("fail")))
    said = [f.object for f in found if f.subject == "http://ex/a"]
    assert said == ["http://ex/T", 'x"y\né', "single", 'long "quoted"\ntext', "1", "-2.5", "1e3", "true"]
    assert found[0].predicate == TYPE
    assert {f.line for f in found if f.subject == "http://ex/a"} == {5}
    assert ("http://base/rel", "http://ex/q", "http://ex/with.dot", False) in [f[:4] for f in found]
    assert ("http://ex/esc,aped", "http://ex/p", "http://ex/i", False) in [f[:4] for f in found]


def test_same_as_rdflib() -> None:
    """rdflib finds as many statements, and the same ones among those without blank nodes."""
    rdflib = pytest.importorskip("rdflib")
    text = SAMPLE.replace("( 1 ex:c )", "ex:c").replace(", 1e3 ", "")  # which rdflib writes anew, as 1000.0
    theirs = set()
    for s, p, o in rdflib.Graph().parse(data=text, format="turtle", publicID="http://base/"):
        literal = isinstance(o, rdflib.Literal)
        if not any(isinstance(term, rdflib.BNode) for term in (s, o)):
            theirs.add((str(s), str(p), str(o), literal))
    mine = {f for f in read(text) if not f[0].startswith("_:") and not f[2].startswith("_:")}
    assert mine == theirs


def test_goes_on_after_errors() -> None:
    """What is no statement is a fault at its line; the next statements are read."""
    faults = Faults()
    text = '<http://a> <http://p> "1" .\nwhat is this .\n<http://b> <http://p> "2" .\nex:c <http://p> 3 .\n<http://d> <'
    assert [f[0] for f in read(text, faults)] == ["http://a", "http://b"]
    assert [example.split(":")[1] for example in faults.examples[FAULTY]] == ["2", "4", "5"]


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
