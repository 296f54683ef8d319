"""The files of a TREC track, told apart by their content: documents, topics, judgments.

    <DOC> <DOCNO> AP880212-0001 </DOCNO> ... </DOC>              documents; also <DOC id="..."> without DOCNO
    <top> ... </top>, <topic ...>, <query ...>, 101:some words   topics (`topics`)
    301 0 AP880212-0001 1                                        judgments (`judgments`)

Pieces are `(kind, bytes)`. Standard input has documents. Knows nothing of what is in a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fader.corpus.documents import Faults
from fader.corpus.readers import read_chunks
from fader.errors import InputError
from fader.importers.base import Batch, Records
from fader.importers.faults import at
from fader.importers.inputs import marked_batches, whole_files
from fader.importers.judgments import judgment, judgments
from fader.importers.topics import query, topics

DOCUMENTS, TOPICS, JUDGMENTS = "documents", "topics", "judgments"
NAMELESS = "documents without an id"
ENDLESS = "documents without an end"

_SEEN = 1 << 16  # bytes that tell what a source is
_LINES = 5
_HEAD = 1 << 13  # bytes of a document in which its numbers are
_DOC = re.compile(rb"<DOC(?:\s[^>]*)?>", re.IGNORECASE)
_TOPIC = re.compile(rb"<(?:top|topic|topics|query|queries)(?:\s[^>]*)?>", re.IGNORECASE)
_LINE_TOPIC = re.compile(rb"[\w.-]+[:\t]")
_OPEN = re.compile(rb"<(?:DOC|doc|Doc)(\s[^>]*)?>")
_CLOSE = re.compile(rb"</(?:DOC|doc|Doc)>")
_DOCNO = re.compile(rb"<DOCNO>\s*(.*?)\s*(?:</DOCNO>|[\r\n<])", re.IGNORECASE | re.DOTALL)
_DOCID = re.compile(rb"<DOCID>\s*(.*?)\s*</DOCID>", re.IGNORECASE | re.DOTALL)
_ID = re.compile(rb"\b(?:id|docno)\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_DOCHDR = re.compile(rb"<DOCHDR>(.*?)</DOCHDR>", re.IGNORECASE | re.DOTALL)
_NUMBERS = re.compile(rb"<(DOCNO|DOCID|DOCOLDNO|FILEID|DOCHDR)>.*?</\1>", re.IGNORECASE | re.DOTALL)
_URL = re.compile(rb"\s*([a-z]+://\S+)", re.IGNORECASE)
COMPRESSED = b"\x1f\x9d"  # by `compress`, as the TREC disks are


class RawDocument(NamedTuple):
    """A document: its id, its address where its header has one, and what is in it beside these."""

    id: str
    url: str | None
    body: bytes
    web: bool  # it has a header as collections of pages have
    place: str


def kind_of(source: str) -> tuple[str, bytes]:
    """What a source holds, and the tag that ends a document in it."""
    if source == "-":
        return DOCUMENTS, b"</DOC>"
    try:
        head = next((chunk for chunk, _consumed in read_chunks(source)), b"")[:_SEEN]
    except InputError:  # it is damaged from the beginning on, which is told where it is read
        return DOCUMENTS, b"</DOC>"
    if head.startswith(COMPRESSED):
        raise InputError(f"{source}: is compressed by `compress`; unpack it with gzip -d")
    found = _DOC.search(head)
    topic = _TOPIC.search(head)
    if found and not (topic and topic.start() < found.start()):
        return DOCUMENTS, b"</doc>" if found[0].startswith(b"<doc") else b"</DOC>"
    if topic:
        return TOPICS, b""
    lines = [line for line in head.splitlines() if line.strip()][:_LINES]
    judged = sum(judgment(line.decode("utf-8", "replace").split()) is not None for line in lines)
    asked = sum(_LINE_TOPIC.match(line) is not None for line in lines)
    if 2 * max(judged, asked) > len(lines):  # most lines: some may be broken
        return (JUDGMENTS if judged >= asked else TOPICS), b""
    return DOCUMENTS, b"</DOC>"


def batches(sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
    """Pieces of documents, and whole files of topics and judgments."""
    for source in sources:
        kind, mark = kind_of(source)
        found = marked_batches([source], faults, mark) if kind == DOCUMENTS else whole_files([source], faults)
        for batch in found:
            yield batch._replace(payload=(kind, batch.payload))


def judged(batch: Batch, faults: Faults, type: str | None = None) -> Records:
    """The queries or judgments of a file; `type` is what its queries ask for."""
    kind, data = batch.payload
    out = Records()
    if kind == TOPICS:
        out.queries = [query(topic, type) for topic in topics(data, batch.source, faults)]
    elif kind == JUDGMENTS:
        out.qrels = judgments(data, batch.source, faults, out.counts)
    return out


def documents(data: bytes, source: str, first: int, faults: Faults) -> Iterator[RawDocument]:
    """The documents of a piece that begins at byte `first`."""
    reached = 0
    while opened := _OPEN.search(data, reached):
        closed = _CLOSE.search(data, opened.end())
        reached = closed.end() if closed else len(data)
        place = at(source, first + opened.start(), "byte")
        body = data[opened.end() : closed.start() if closed else reached]
        named = _DOCNO.search(body, 0, _HEAD) or _ID.search(opened[1] or b"") or _DOCID.search(body, 0, _HEAD)
        name = named[1].decode("utf-8", "replace") if named else ""
        if not closed:
            faults.add(ENDLESS, f"{place}: document {name} has no </DOC>; the source may be cut short")
        if not name:
            faults.add(NAMELESS, f"{place}: needs a DOCNO")
            continue
        header = _DOCHDR.search(body, 0, _SEEN)
        url = _URL.match(header[1]) if header else None
        shown = url[1].decode("utf-8", "replace") if url else None
        cut = header.end() if header else _HEAD
        yield RawDocument(name, shown, _NUMBERS.sub(b"", body[:cut]) + body[cut:], header is not None, place)
