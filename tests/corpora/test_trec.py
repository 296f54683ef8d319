"""TREC files: which is which, topics of all styles, judgments of all columns, documents with and without known tags."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.cases import documents
from fader.contexts.query import parse_query
from fader.corpora.frame.run import import_corpus
from fader.corpora.parsers.trec.files import DOCUMENTS, ENDLESS, JUDGMENTS, OUTSIDE, RUN, RUNS, TOPICS, find_kind
from fader.corpora.parsers.trec.judgments import read_judgment
from fader.corpora.parsers.trec.topics import Topic, make_query, read_topics, simplify_query
from fader.corpora.parsers.web.charset import decode
from fader.corpus.analysis import Analysis
from fader.corpus.documents import Faults
from fader.errors import FaderError


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
        (b"301 Q0 FT911-1 1 17.25 bm25\n301 Q0 FT911-2 2 -3e-2 bm25\n", RUN),
        (b"301 0 FT911-1 1 17.25 bm25\n", RUN),
        (b"nothing known", DOCUMENTS),
        (b"", DOCUMENTS),
    ],
)
def test_kinds(data: bytes, kind: str, tmp_path: Path) -> None:
    """A source is what its beginning looks like, whatever its name."""
    (tmp_path / "x").write_bytes(data)
    assert find_kind(str(tmp_path / "x"))[0] == kind


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
        ("301 Q0 FT911-1 1 17.25 bm25", None),
        ("301 0 d good", None),
        ("a b c", None),
    ],
)
def test_judgments(cells: str, found: tuple[str, str, int] | None) -> None:
    """Query, id and grade are found in all orders of columns that tracks have."""
    assert read_judgment(cells.split()) == found


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
        (
            "<TOPIC>\n<ID>1</ID>\n<TITLE>t</TITLE>\n<NEED>n</NEED>\n<CONTEXT>c</CONTEXT>\n</TOPIC>",
            Topic("1", "t", "n", "c"),
        ),
        ('<topic number="31"><disease>fever</disease><gene>Q1</gene></topic>', Topic("31", "fever Q1")),
        ("<top><num>Number 7 <desc> Description:\nd</top>", Topic("7", "", "d")),
        ("101:ritz carlton", Topic("101", "ritz carlton")),
        ("20001:1:obama family tree\n20002:4:x\n", Topic("20001", "obama family tree")),
        ("1:2:1 odds\n2:odds", Topic("1", "2:1 odds")),
        ("101\tritz carlton\r\n", Topic("101", "ritz carlton")),
    ],
)
def test_topics(written: str, found: Topic) -> None:
    """All styles of topics are read, labels and tags removed."""
    assert next(read_topics(written.encode(), "x", Faults())) == found


def test_queries_can_be_asked() -> None:
    """A query made of a topic means its words alone, whatever signs they have."""
    text = 'C++ -fever +"port vell" type:city -- “quoted" ' + "word" * 600 + " w" * 100
    made = make_query(Topic("1", text, "d"), "person")
    parsed = parse_query(made["query"], Analysis())
    assert not parsed.forbidden
    assert not any(parsed.required)
    assert made["type"] == "person"
    assert simplify_query("type: blue") == "type blue"


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
    ("body", "text"),
    [
        ("<TITLE>Head</TITLE><AUTHOR>Oak</AUTHOR><ABSTRACT>one</ABSTRACT>", "Head\nOak one"),
        ("<HL>Head</HL><TEXT>cut sh", "Head cut sh"),
        ("<HEADLINE>Head</HEADLINE><TEXT></TEXT>", "Head"),
        ("<TEXT>a <DOC> b <DOCNO> c</TEXT>", "a b c"),
    ],
)
def test_documents_in_which_only_titles_are_known(body: str, text: str, tmp_path: Path) -> None:
    """They are taken whole, so that no text is lost; unless titles are what is asked for."""
    (tmp_path / "d").write_text(f"<DOC>\n<DOCNO>a</DOCNO>\n{body}\n</DOC>")
    import_corpus("trec", tmp_path / "d", tmp_path / "out")
    assert [document["text"] for document in documents(tmp_path / "out")] == [text]
    import_corpus("trec", tmp_path / "d", tmp_path / "titles", tags="headline,title,hl")
    assert [document["text"] for document in documents(tmp_path / "titles")] == ["Head" if "Head" in body else text]


def test_nothing_is_lost_between_documents(tmp_path: Path) -> None:
    """A document without an end ends where the next begins; words in none, and a source without any, are told."""
    (tmp_path / "d").write_text(
        "<?xml version='1.0'?>\n<all>\n<DOC>\n<DOCNO>a</DOCNO>\nno end\n<DOC>\n<DOCNO>b</DOCNO>\nwhole\n</DOC>\n"
        "stray words\n<DOC>\n<DOCNO>c</DOCNO>last</DOC>\n</all>\n"
    )
    (tmp_path / "text").write_text("no document at all")
    report = import_corpus("trec", [tmp_path / "d", tmp_path / "text"], tmp_path / "out")
    assert [(d["id"], d["text"]) for d in documents(tmp_path / "out")] == [
        ("a", "no end"),
        ("b", "whole"),
        ("c", "last"),
    ]
    assert report.faults.counts == {ENDLESS: 1, OUTSIDE: 2}
    assert "stray words" in report.faults.examples[OUTSIDE][0]
    assert "text: byte 0:" in report.faults.examples[OUTSIDE][1]


def test_an_unknown_encoding_is_refused(tmp_path: Path) -> None:
    """Not taken for windows-1252."""
    (tmp_path / "d").write_text("<DOC><DOCNO>a</DOCNO>x</DOC>")
    with pytest.raises(FaderError, match="nonsense"):
        import_corpus("trec", tmp_path / "d", tmp_path / "out", encoding="nonsense")


@pytest.mark.parametrize(
    ("source", "text", "encoding"),
    [
        ("café".encode(), "café", "utf-8"),
        ("café".encode("latin-1"), "café", "windows-1252"),
        (("é" * 9).encode() + b"\xff", "é" * 9 + "\ufffd", "utf-8"),
        (b"<meta charset=koi8-r>" + "мир".encode("koi8-r"), "<meta charset=koi8-r>мир", "koi8-r"),
        ("\ufeffwide é".encode("utf-16-le"), "\ufeffwide é", "utf-16-le"),
        ("<p>wide and unmarked é".encode("utf-16-be"), "<p>wide and unmarked é", "utf-16-be"),
        (b"<meta charset=utf-16>\xe9!", "<meta charset=utf-16>é!", "windows-1252"),
        (b"charset=gb2312 " + "镕基".encode("gbk"), "charset=gb2312 镕基", "gb18030"),
        (b"charset=shift_jis " + "日本語の文".encode("cp932") + b"\x81", "charset=shift_jis 日本語の文\ufffd", "cp932"),
        (b"charset=utf-7 +\xe9-", "charset=utf-7 +é-", "windows-1252"),
        (b"charset=nonsense \xe9", "charset=nonsense é", "windows-1252"),
        (b"charset=base64 \xe9", "charset=base64 é", "windows-1252"),
        (b"charset=iso-2022-jp " + "日".encode("iso-2022-jp"), "charset=iso-2022-jp 日", "iso2022_jp"),
    ],
)
def test_encodings(source: bytes, text: str, encoding: str) -> None:
    """UTF-16 that shows itself, UTF-8 with few faults, else what is declared and true, else windows-1252."""
    assert decode(source) == (text, encoding)


def test_a_run_is_refused_and_repeated_judgments_count_once(tmp_path: Path) -> None:
    """A run has the columns of judgments, and ranks where they have grades."""
    (tmp_path / "run").write_text("301 Q0 d1 1 9.5 bm25\n301 Q0 d2 2 9.1 bm25\n")
    (tmp_path / "qrels").write_text("301 0 d1 1\n301 0 d1 1\n301 0 d2 0\n301 0 d2 2\n")
    report = import_corpus("trec", [tmp_path / "run", tmp_path / "qrels"], tmp_path / "out")
    assert report.faults.counts == {RUNS: 1}
    assert report.counts["judgments repeated"] == 2
    assert (tmp_path / "out" / "qrels.txt").read_text() == "301 0 d1 1\n301 0 d2 2\n"


def test_documents_without_the_tags_are_counted(tmp_path: Path) -> None:
    """A name of a tag that is misspelt shows by the number of documents that are taken whole."""
    (tmp_path / "x").write_text("<DOC><DOCNO>1</DOCNO><TEXT>words</TEXT></DOC>\n<DOC><DOCNO>2</DOCNO><A>more</A></DOC>")
    for tags, whole in (("text", 1), ("txt", 2)):
        report = import_corpus("trec", tmp_path / "x", tmp_path / tags, tags=tags)
        assert report.counts["documents taken whole, for they have none of the tags"] == whole
