"""What a file is, by its first bytes; its name decides only between kinds of plain text.

Knows nothing of how a kind is read.
"""

from __future__ import annotations

import csv
import os
import re
import zipfile
from collections.abc import Iterable

from fader.corpora.files.piece import DAMAGED, EMPTY, ENCRYPTED, OTHER, UnreadableError
from fader.corpora.frame.archives import archive_kind
from fader.corpora.parsers.web import charset, html

TEXT, MARKDOWN, HTML, PDF, DOCX, MAIL, MBOX = "text", "Markdown", "HTML", "PDF", "DOCX", "mail", "mbox"
TABLE, JSON, PARQUET, ARCHIVE = "table", "JSON", "Parquet", "archive"
HEAD = 1 << 16
_MAGIC = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"II*\0": "a TIFF image",
    b"MM\0*": "a TIFF image",
    b"RIFF": "sound, video or an image",
    b"OggS": "sound or video",
    b"ID3": "sound",
    b"\x7fELF": "a program",
    b"MZ": "a program",
    b"SQLite format 3": "an SQLite database",
    b"7z\xbc\xaf": "a 7z archive, which is not unpacked",
    b"Rar!": "a RAR archive, which is not unpacked",
    b"\xfd7zXZ": "xz-compressed, which is not undone",
    b"{\\rtf": "RTF; save it as DOCX",
}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADER = re.compile(rb"[!-9;-~]+:[ \t]|[ \t]")
_MAIL = re.compile(
    rb"^(?:from|to|subject|date|message-id|received|return-path|delivered-to|mime-version|reply-to|cc):", re.I | re.M
)
_MAILBOX = re.compile(rb"From \S+.*\d{4}\r?\n")
_HEADING = re.compile(rb"\A(?:---\r?\n|#{1,3} \S)|^#{1,6} \S.*\n\s*\n", re.M)
_MARKDOWN, _PAGES, _TABLES = (
    (".md", ".markdown", ".mdown", ".mkd"),
    (".html", ".htm", ".xhtml"),
    (".csv", ".tsv", ".tab"),
)
_CONTROL = bytes(c for c in range(32) if c not in b"\t\n\v\f\r\x1b\b")
_FEW = 0.01  # of control characters that a text may have
_ROWS = 20  # lines that must have one number of cells


def find_kind(path: str, name: str, head: bytes) -> str:
    """The kind of a file that begins with these bytes, uncompressed; raises where it is none that is read."""
    if not head.strip(b"\0 \t\r\n\v\f\xef\xbb\xbf"):
        raise UnreadableError(EMPTY, "is empty")
    name = _bare(name)
    if b"%PDF-" in head[:1024]:
        return PDF
    if head.startswith(b"PK\x03\x04"):
        return _zip_kind(path)
    if head.startswith(b"PAR1"):
        return PARQUET
    if archive_kind(path) == "tar":
        return ARCHIVE
    if head.startswith(_OLE):
        if "EncryptedPackage".encode("utf-16-le") in head:
            raise UnreadableError(ENCRYPTED, "is an encrypted Office file; save it without a password")
        raise UnreadableError(OTHER, "is an old Office file; save it as DOCX or PDF")
    for magic, what in _MAGIC.items():
        if head.startswith(magic):
            raise UnreadableError(OTHER, f"is {what}")
    if not charset.find_wide(head) and _is_binary(head):
        raise UnreadableError(OTHER, "is not text, nor of a kind that is read")
    return _text_kind(name, head.removeprefix(b"\xef\xbb\xbf"))


def _zip_kind(path: str) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise UnreadableError(DAMAGED, f"is a damaged zip file ({error})") from None
    if "word/document.xml" in names:
        return DOCX
    if "[Content_Types].xml" in names or "META-INF/manifest.xml" in names:
        raise UnreadableError(OTHER, "is an Office file of another kind; save it as DOCX, PDF or CSV")
    return ARCHIVE


def _text_kind(name: str, head: bytes) -> str:
    start = head.lstrip()
    if _MAILBOX.match(head) and _is_mail(head[head.find(b"\n") + 1 :]):
        return MBOX
    if _is_mail(head):
        return MAIL
    if start[:1] in (b"{", b"[") and (
        name.endswith((".json", ".jsonl", ".ndjson")) or re.match(rb'[{\[]\s*["{]', start)
    ):
        return JSON
    if name.endswith(_PAGES) or (start.startswith(b"<") and (html.looks_like_html(head) or start.startswith(b"<?xml"))):
        return HTML
    if name.endswith(_TABLES) or _is_table(head):
        return TABLE
    if name.endswith(_MARKDOWN) or ("." not in name and _HEADING.search(head)):
        return MARKDOWN
    return TEXT


def _is_binary(head: bytes) -> bool:
    return b"\0" in head or len(head) - len(head.translate(None, _CONTROL)) > _FEW * len(head)


def _is_mail(head: bytes) -> bool:
    """Whether it begins with headers of which two are those of mail."""
    headers = re.split(rb"\r?\n\r?\n", head, maxsplit=1)[0]
    lines = headers.splitlines()
    return bool(lines) and all(map(_HEADER.match, lines)) and len(set(map(bytes.lower, _MAIL.findall(headers)))) >= 2


def _is_table(head: bytes) -> bool:
    """Whether the first lines have one number of tabs, more than none; commas decide nothing, texts have them."""
    lines = [line for line in head.splitlines()[:_ROWS] if line]
    tabs = {line.count(b"\t") for line in lines}
    return len(lines) > 2 and len(tabs) == 1 and tabs.pop() > 0


def guess_delimiter(lines: Iterable[str]) -> str:
    """What separates the cells of a table: what its first line has most of."""
    first = next(iter(lines), "")
    try:
        return csv.Sniffer().sniff(first, ",;\t|").delimiter if first else ","
    except csv.Error:
        return max(",;\t|", key=first.count)


def _bare(name: str) -> str:
    name = os.path.basename(name).lower()
    for packed in (".gz", ".bz2", ".zst"):
        name = name.removesuffix(packed)
    return name
