"""Small real files of every kind that is read, made by the libraries of their formats."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from email.message import EmailMessage
from pathlib import Path

import docx
import pyarrow
import pyarrow.parquet
import zstandard
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

SENTENCE = "Grace Hopper wrote a compiler in Arlington."


def pdf(*pages: str, password: str = "") -> bytes:
    """A PDF whose pages have these texts, a line each; an empty page has none."""
    writer = PdfWriter()
    for text in pages:
        page = writer.add_blank_page(612, 792)
        if not text:
            continue
        font = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Font"),
                NameObject("/Subtype"): NameObject("/Type1"),
                NameObject("/BaseFont"): NameObject("/Helvetica"),
            }
        )
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
        lines = " T* ".join(f"({line}) Tj" for line in text.split("\n"))
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 14 TL 72 720 Td {lines} ET".encode("latin-1"))
        page[NameObject("/Contents")] = writer._add_object(stream)
    writer.add_metadata({"/Title": "A paper"})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    held = io.BytesIO()
    writer.write(held)
    return held.getvalue()


def word(*paragraphs: str, table: tuple[str, ...] = ()) -> bytes:
    """A DOCX with paragraphs and a table of one row."""
    document = docx.Document()
    for text in paragraphs:
        document.add_paragraph(text)
    if table:
        row = document.add_table(rows=1, cols=len(table)).rows[0]
        for cell, text in zip(row.cells, table, strict=True):
            cell.text = text
    document.core_properties.title = "A letter"
    held = io.BytesIO()
    document.save(held)
    return held.getvalue()


def repack(docx_file: bytes, *pairs: bytes) -> bytes:
    """A DOCX with other bytes in its document: each odd one is replaced by the next, once."""
    with zipfile.ZipFile(io.BytesIO(docx_file)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        members["word/document.xml"] = members["word/document.xml"].replace(old, new, 1)
    return zipped(members)


def message(body: str = SENTENCE, subject: str = "News", sender: str = "Ada Lovelace <ada@example.org>") -> bytes:
    """A mail."""
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = sender, "Bob Ross <bob@example.org>, carol@example.org", subject
    made["Date"] = "Mon, 01 Jan 2024 10:00:00 +0000"
    made.set_content(body)
    return bytes(made)


def mailbox(*messages: bytes) -> bytes:
    """An mbox file."""
    return b"".join(b"From ada@example.org Mon Jan  1 10:00:00 2024\n" + each + b"\n" for each in messages)


def parquet(rows: list[dict[str, object]]) -> bytes:
    held = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), held)
    return held.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return held.getvalue()


def every_kind() -> dict[str, bytes]:
    """A file of each kind that says the sentence; names say nothing of the kinds of most."""
    text = SENTENCE.encode()
    page = f"<!doctype html><title>A page</title><p>{SENTENCE}<script>no()</script>".encode()
    linked = SENTENCE.replace("compiler", "[compiler](x.html)")
    lines = json.dumps({"id": "own", "text": SENTENCE})
    return {
        "plain.txt": text,
        "wide.txt": SENTENCE.encode("utf-16"),
        "latin.txt": f"Café. {SENTENCE}".encode("latin-1"),
        "heading.md": f"---\ntitle: Front\n---\n# A *heading*\n\n{linked}\n".encode(),
        "page": page,
        "page.html.gz": gzip.compress(page),
        "paper": pdf(SENTENCE),
        "paper.pdf.zst": zstandard.compress(pdf("", SENTENCE)),
        "letter": word("Dear all,", SENTENCE, table=("one", "two")),
        "mail": message(),
        "box": mailbox(message(), message("Other words.")),
        "maildir/cur/1.a:2,S": message(),
        "maildir/new/2.b": message(),
        "maildir/tmp/3.c": message(),
        "rows.csv": f'id,title,body,year\n7,Seven,"{SENTENCE}",1952\n'.encode(),
        "rows.tsv": f"what\twhere\n{SENTENCE}\there\n".encode(),
        "lines": (lines + "\n").encode(),
        "object.json": json.dumps({"note": {"said": SENTENCE}}).encode(),
        "array.json": json.dumps([{"title": "T", "abstract": SENTENCE}]).encode(),
        "rows.parquet": parquet([{"id": 1, "text": SENTENCE}]),
        "all.zip": zipped({"inner/a.txt": text, "b.pdf": pdf(SENTENCE)}),
    }


def write_all(folder: Path, files: dict[str, bytes]) -> Path:
    """Write files below a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder
