"""TREC files: which is which, topics of all styles, judgments of all columns, documents with and without known tags."""

from __future__ import annotations

from pathlib import Path

import pytest

from fader.contexts.query import parse_query
from fader.corpus.analysis import Analysis
from fader.corpus.documents import Faults
from fader.errors import FaderError
from fader.importers.charset import decoded
from fader.importers.judgments import judgment
from fader.importers.run import import_corpus
from fader.importers.topics import Topic, plain_query, query, topics
from fader.importers.trecfiles import DOCUMENTS, JUDGMENTS, TOPICS, kind_of
from importers.cases import documents


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"<DOC>\n<DOCNO>a</DOCNO><top>x</DOC>", DOCUMENTS),
        (b"<doc>\n<docno>a</docno></doc>", DOCUMENTS),
        (b"\n<top>\n<num> Number: 1 <DOC>", TOPICS),
        (b"<?xml version='1.0'?>\n<topics task='x'><topic number='1'>", TOPICS),
        (b"101:ritz carlton\n102:fickle creek farm\n", TOPICS),
        (b"101\tritz carlton\n102\tfickle creek\n", TOPICS),
        (b"301 0 FT911-1 1\n301 0 FT911-2 0\n", JUDGMENTS),
        (b"301\t0\tFT911-1\t1\r\nbroken\r\n301\t0\tFT911-2\t0\r\n", JUDGMENTS),
        (b"20001 clueweb09-en0001-02-21241 1 0 1.0\n", JUDGMENTS),
        (b"nothing known", DOCUMENTS),
        (b"", DOCUMENTS),
    ],
)
def test_kinds(data: bytes, kind: str, tmp_path: Path) -> None:
    """A source is what its beginning looks like, whatever its name."""
    (tmp_path / "x").write_bytes(data)
    assert kind_of(str(tmp_path / "x"))[0] == kind


def test_packed_by_compress_is_refused(tmp_path: Path) -> None:
    """The TREC disks are packed by `compress`: the message says how to unpack."""
    (tmp_path / "ft.z").write_bytes(b"\x1f\x9d\x90abc")
    with pytest.raises(FaderError, match="gzip -d"):
        import_corpus("trec", tmp_path / "ft.z", tmp_path / "out")


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ("301 0 FT911-1 1", ("301", "FT911-1", 1)),
        ("301 Q0 FT911-1 -2", ("301", "FT911-1", -2)),
        ("1 2 clueweb09-x 3 extra columns", ("1", "clueweb09-x", 3)),
        ("EX51 0 candidate-0010 lists-015-8537 2", ("EX51", "candidate-0010", 2)),
        ("20001 clueweb09-x 1 0 1.0", ("20001", "clueweb09-x", 1)),
        ("301 FT911-1 1", ("301", "FT911-1", 1)),
        ("q 0 d 1.0", ("q", "d", 1)),
        ("301 0 12345 1", ("301", "12345", 1)),
        ("301 0", None),
        ("301 0 d good", None),
        ("a b c", None),
    ],
)
def test_judgments(cells: str, found: tuple[str, str, int] | None) -> None:
    """Query, id and grade are found in all orders of columns that tracks have."""
    assert judgment(cells.split()) == found


@pytest.mark.parametrize(
    ("written", "found"),
    [
        (
            "<top>\n<head> Tipster Topic Description\n<num> Number:  051\n<dom> Domain:  Economics\n"
            "<title> Topic:  Airbus Subsidies\n\n<desc> Description:\n\nDocument mentions\nAirbus.\n\n"
            "<smry> Summary: x\n<narr> Narrative: A <b>relevant</b> one &amp; more.\n<con> Concept(s):\n1. x\n</top>",
            Topic("051", "Airbus Subsidies", "Document mentions Airbus.", "A relevant one & more."),
        ),
        (
            "<top>\n<num> Number: MB001 </num>\n<title> BBC staff cuts </title>\n</top>",
            Topic("MB001", "BBC staff cuts"),
        ),
        ("<TOP><NUM>CE-001</NUM><QUERY>water</QUERY><NARR>n</NARR></TOP>", Topic("CE-001", "water", "", "n")),
        (
            '<topic number="6" type="ambiguous"><query>kcs</query><description>d <i>e</i></description>'
            '<subtopic number="1" type="nav">s</subtopic></topic>',
            Topic("6", "kcs", "d e"),
        ),
        ("<topic>\n<number>9</number><title>t</title><narrative>n</narrative></topic>", Topic("9", "t", "", "n")),
        (
            "<query>\n<num>1</num>\n<entity_name>B</entity_name>\n<entity_URL>c</entity_URL>\n"
            "<target_entity>organization</target_entity>\n<narrative>Carriers of B.</narrative>\n</query>",
            Topic("1", "", "", "Carriers of B.", "organization"),
        ),
        ("<top><num>Number: 1<title>unclosed\n<top><num>Number: 2", Topic("1", "unclosed")),
        ("101:ritz carlton", Topic("101", "ritz carlton")),
        ("101\tritz carlton\r\n", Topic("101", "ritz carlton")),
    ],
)
def test_topics(written: str, found: Topic) -> None:
    """All styles of topics are read, labels and tags removed."""
    assert next(topics(written.encode(), "x", Faults())) == found


def test_queries_can_be_asked() -> None:
    """A query made of a topic means its words alone, whatever signs they have."""
    text = 'C++ -fever +"port vell" type:city -- “quoted" ' + "word" * 600 + " w" * 100
    made = query(Topic("1", text, "d"), "person")
    parsed = parse_query(made["query"], Analysis())
    assert not parsed.forbidden
    assert not any(parsed.required)
    assert made["type"] == "person"
    assert plain_query("type: blue") == "type blue"


def test_documents_by_their_tags(tmp_path: Path) -> None:
    """Known elements in their order; with other tags, only those."""
    (tmp_path / "d").write_text(
        "<DOC><DOCNO>a</DOCNO><HL>Head</HL><DD>date</DD><TEXT>one</TEXT><LP>lead</LP></DOC>\n"
        "<DOC><DOCNO>b</DOCNO>no known <P>element</DOC>"
    )
    for tags, expected in [(None, ["Head\none\nlead", "no known\nelement"]), ("dd", ["date", "no known\nelement"])]:
        out = tmp_path / f"out{tags}"
        import_corpus("trec", tmp_path / "d", out, **({"tags": tags} if tags else {}))
        assert [document["text"] for document in documents(out)] == expected


@pytest.mark.parametrize(
    ("source", "text", "encoding"),
    [
        ("café".encode(), "café", "utf-8"),
        ("café".encode("latin-1"), "café", "windows-1252"),
        (("é" * 9).encode() + b"\xff", "é" * 9 + "\ufffd", "utf-8"),
        (b"<meta charset=koi8-r>" + "мир".encode("koi8-r"), "<meta charset=koi8-r>мир", "koi8-r"),
        (b"charset=nonsense \xe9", "charset=nonsense é", "windows-1252"),
        (b"charset=base64 \xe9", "charset=base64 é", "windows-1252"),
        (b"charset=iso-2022-jp " + "日".encode("iso-2022-jp"), "charset=iso-2022-jp 日", "iso2022_jp"),
    ],
)
def test_encodings(source: bytes, text: str, encoding: str) -> None:
    """UTF-8 with few faults, else what is declared and true, else windows-1252."""
    assert decoded(source) == (text, encoding)
