"""Every kind of file gives its text, decided by content; what gives none is counted and named."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path
from typing import Any

import pytest

from fader.corpora.files.read import ReadReport, read_files
from fader.corpora.files.walk import find_files
from fader.errors import FaderError
from fader.limits import Limits
from files.making import SENTENCE, every_kind, mailbox, message, parquet, pdf, word, write_all, zipped


def read(source: Path, **limits: int) -> tuple[dict[str, dict[str, Any]], ReadReport]:
    """The documents of a file or folder by id, and the report."""
    report = ReadReport()
    found = read_files(find_files([str(source)]).files, report, Limits(**limits))
    documents = [document for each in found for document in each.documents]
    return {document["id"]: document for document in documents}, report


def test_every_kind_gives_its_text(tmp_path: Path) -> None:
    """Whatever it is called, compressed or not, in folders and archives."""
    documents, report = read(write_all(tmp_path / "in", every_kind()))
    assert report.faults.counts == {}
    saying = {name for name, document in documents.items() if SENTENCE in document["text"]}
    assert documents.keys() - saying == {"in/box#2"}
    assert {
        f"in/{name}" for name in ("maildir/cur/1.a", "all.zip/inner/a.txt", "all.zip/b.pdf", "rows.csv#7")
    } <= saying
    assert "own" in saying  # the id of a document that has one
    assert not any("tmp" in name for name in documents)
    titles = {name: documents[f"in/{name}"]["title"] for name in ("heading.md", "page", "paper", "letter", "mail")}
    assert list(titles.values()) == ["Front", "A page", "A paper", "A letter", "News"]
    assert documents["in/letter"]["text"].endswith("one | two")
    assert documents["in/heading.md"]["text"].startswith("A heading\n\n")
    assert "year: 1952" in documents["in/rows.csv#7"]["text"]
    assert "Café" in documents["in/latin.txt"]["text"]
    assert report.kinds["mail"] == 3
    assert report.documents == len(documents)


def test_mail_marks_persons_quotations_and_signatures(tmp_path: Path) -> None:
    """Spans of the text say what they mark."""
    body = "New words.\n\nOn Monday Bob wrote:\n> Old words.\n> More.\n\nNew again.\n-- \nAda\nLondon\n"
    (tmp_path / "m").write_bytes(message(body))
    document = read(tmp_path / "m")[0]["m"]
    text, found = document["text"], document["spans"]
    assert text.startswith("From: Ada Lovelace <ada@example.org>\nTo: Bob Ross <bob@example.org>, carol@example.org\n")
    said = [(span["kind"], text[span["start"] : span["end"]]) for span in found]
    assert said == [
        ("person", "Ada Lovelace"),
        ("person", "Bob Ross"),
        ("person", "carol@example.org"),
        ("quote", "On Monday Bob wrote:\n> Old words.\n> More."),
        ("signature", "-- \nAda\nLondon"),
    ]
    assert found[0]["address"] == "ada@example.org"
    assert document["from"] == "Ada Lovelace <ada@example.org>"


def test_a_long_pdf_is_cut_at_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are called by their first page; hyphens at line ends are joined."""
    from fader.corpora.files.pdf import read_pdf

    monkeypatch.setattr("fader.corpora.files.pdf.PART", 30)
    (tmp_path / "p").write_bytes(pdf("a com-\npiler wrote it", "second page of text", "third"))
    pieces = list(read_pdf(str(tmp_path / "p"), Limits()))
    assert [(piece.suffix, piece.text) for piece in pieces] == [
        ("", "a compiler wrote it"),
        ("#page=2", "second page of text\n\nthird"),
    ]


UNREAD = {
    "empty": (b"", "empty files", "is empty"),
    "blank": (b" \n\n", "empty files", "is empty"),
    "scan": (pdf("", ""), "files without text, such as scans", "its 2 pages have no text"),
    "locked": (pdf(SENTENCE, password="x"), "encrypted files", "is encrypted"),
    "office": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
        "encrypted files",
        "encrypt",
    ),
    "old.doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "files of other kinds", "save it as DOCX"),
    "cut.pdf": (pdf(SENTENCE)[:200], "damaged files", "is no PDF"),
    "not.pdf": (b"%PDF-1.7 and no more", "damaged files", "is no PDF"),
    "cut.docx": (word(SENTENCE)[:900], "damaged files", "damaged zip"),
    "bad.docx": (zipped({"word/document.xml": b"<x/>"}), "damaged files", "is no DOCX"),
    "blank.docx": (word(), "empty files", "has no text"),
    "image": (b"\x89PNG\r\n\x1a\n" + bytes(50), "files of other kinds", "a PNG image"),
    "noise": (bytes(range(256)) * 4, "files of other kinds", "is not text"),
    "cut.gz": (gzip.compress(SENTENCE.encode() * 50)[:-9], "damaged files", "damaged or cut short"),
    "sheet.xlsx": (zipped({"[Content_Types].xml": b"", "xl/a.xml": b""}), "files of other kinds", "save it as"),
    "cut.parquet": (parquet([{"text": "x"}])[:40], "damaged files", "no Parquet"),
    "tags.html": (b"<html><script>x</script></html>", "empty files", "has no text"),
    "broken.json": (b'{"a": \n', "damaged files", "no JSON"),
    "quiet": (b"From: a@x.org\nTo: b@x.org\n\n", "empty files", "without text"),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_gives_no_document_is_counted_and_named(tmp_path: Path, name: str) -> None:
    """By kind, with the reason; the next file is read all the same."""
    data, kind, reason = UNREAD[name]
    documents, report = read(write_all(tmp_path / "in", {name: data, "zz.txt": SENTENCE.encode()}))
    assert list(documents) == ["in/zz.txt"]
    assert report.faults.counts == {kind: 1}
    (example,) = report.faults.examples[kind]
    assert example.startswith(f"in/{name}: ")
    assert reason in example


def test_one_bad_line_or_message_costs_no_other(tmp_path: Path) -> None:
    """Faults inside a file name the line or message."""
    lines = b'{"id": "a", "text": "A."}\nnonsense\n{"id": "b", "text": "B."}\n'
    box = mailbox(message("One."), b"From: a@x.org\nTo: b@x.org\n\n", message("Three."))
    documents, report = read(write_all(tmp_path / "in", {"l.jsonl": lines, "box": box}))
    assert list(documents) == ["in/box#1", "in/box#3", "a", "b"]
    assert report.faults.examples["damaged files"][0].startswith("in/l.jsonl: line 2 is no JSON object")
    assert report.faults.examples["empty files"] == ["in/box: message 2 is a mail without text"]


def bomb(size: int) -> bytes:
    return zipped({"word/document.xml": b"<" + bytes(size), "a.txt": bytes(size)})


OVER = {
    "long.html": (b"<p>" + b"word " * 500, {"file_bytes": 1000}, "file_bytes"),
    "bomb.html.gz": (gzip.compress(b"<p>" + b" " * 3_000_000), {"file_bytes": 1_000_000}, "file_bytes"),
    "bomb.docx": (bomb(3_000_000), {"file_bytes": 1_000_000}, "file_bytes"),
    "many.pdf": (pdf(*(["x"] * 12)), {"file_pages": 10}, "file_pages"),
    "text.pdf": (pdf(*(["word " * 20] * 12)), {"document_characters": 500}, "document_characters"),
    "long.txt": (b"word " * 500, {"document_characters": 500}, "document_characters"),
    "deep.zip": (zipped({"a.zip": zipped({"b.zip": zipped({"c.txt": b"x"})})}), {}, "archives deep"),
    "bomb.zip": (zipped({"a.txt": b"a " * 1_000_000}), {"file_bytes": 1_000_000}, "file_bytes"),
}


@pytest.mark.parametrize("name", OVER)
def test_what_is_too_large_is_a_fault(tmp_path: Path, name: str) -> None:
    """Bombs included: no more is unpacked than the limit, which the message names."""
    data, limits, reason = OVER[name]
    documents, report = read(write_all(tmp_path / "in", {name: data, "zz.txt": b"Short."}), **limits)
    assert list(documents) == ["in/zz.txt"]
    assert report.faults.counts == {"files over a limit": 1}
    assert reason.lower() in report.faults.examples["files over a limit"][0].lower()


def test_deep_html_and_markdown_end(tmp_path: Path) -> None:
    """Hostile nesting costs no recursion."""
    files = {"a.html": b"<div>" * 200_000 + b"words", "b.md": b">" * 50_000 + b" words", "c.md": b"[" * 50_000}
    documents, _report = read(write_all(tmp_path / "in", files))
    assert documents["in/a.html"]["text"] == "words"


def test_a_pdf_that_takes_too_long_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process is ended, and another reads the next file."""
    from fader.corpora.files import apart

    (tmp_path / "p").write_bytes(pdf(SENTENCE))
    reader = apart.Apart(Limits())
    try:
        assert SENTENCE in reader.read("PDF", str(tmp_path / "p"))[0].text
        assert reader._process is not None
        reader._process.kill()
        reader._process.wait()
        assert SENTENCE in reader.read("PDF", str(tmp_path / "p"))[0].text
        monkeypatch.setattr(apart, "Request", lambda *given: {"kind": "PDF", "path": "/dev/stdin", "limits": {}})
        object.__setattr__(reader, "_limits", Limits(file_seconds=1))
        with pytest.raises(FaderError, match="FADER_LIMIT_FILE_SECONDS"):
            reader.read("PDF", "whatever")
    finally:
        reader.close()


def test_names_of_documents(tmp_path: Path) -> None:
    """By the folder's own name; hidden files are counted; two folders of one name are told apart; what is left out."""
    write_all(tmp_path / "a" / "notes", {"x.txt": b"x", ".git/y": b"y", ".z": b"z"})
    write_all(tmp_path / "b" / "notes", {"x.txt": b"x"})
    one = find_files([str(tmp_path / "a" / "notes")])
    assert ([each.name for each in one.files], one.hidden) == (["notes/x.txt"], 2)
    two = find_files([str(tmp_path / "a" / "notes"), str(tmp_path / "b" / "notes"), str(tmp_path / "b")])
    assert [each.name for each in two.files] == [str(tmp_path / d / "notes" / "x.txt") for d in "ab"]
    with pytest.raises(FaderError, match="has no files"):
        find_files([str(tmp_path / "a")], leave_out=[tmp_path / "a" / "notes"])
    with pytest.raises(FaderError, match="no such file"):
        find_files([str(tmp_path / "none")])


def test_a_zip_member_that_is_encrypted_is_named(tmp_path: Path) -> None:
    """The others are read."""
    data = bytearray(zipped({"a.txt": SENTENCE.encode(), "b.txt": SENTENCE.encode()}))
    at = data.find(b"PK\x01\x02")
    data[at + 8] |= 1  # the flag of encryption in the directory
    data[6] |= 1
    (tmp_path / "z.zip").write_bytes(data)
    assert zipfile.is_zipfile(tmp_path / "z.zip")
    documents, report = read(tmp_path / "z.zip")
    assert list(documents) == ["z.zip/b.txt"]
    assert report.faults.total == 1
