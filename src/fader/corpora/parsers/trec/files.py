"""The files of a TREC track, distinguished by their content: documents, topics, judgments.

    <DOC> <DOCNO> AP880212-0001 </DOCNO> ... </DOC>              documents; also <DOC id="..."> without DOCNO. One
                                                                 that has no end ends where the next has its DOCNO
    <top> ... </top>, <topic ...>, <query ...>, 101:some words   topics (`read_topics`)
    301 0 AP880212-0001 1                                        judgments (`read_judgments`)
    301 Q0 AP880212-0001 1 17.2 bm25                             a run: what a system has found, a fault

Pieces are `(kind, bytes)`. Standard input has documents. Knows nothing of what is in a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fader.corpora.frame.base import Batch, Records
from fader.corpora.frame.faults import at
from fader.corpora.frame.inputs import head, mark_batches, whole_files
from fader.corpora.parsers.trec.judgments import is_run, keep_highest, read_judgment, read_judgments
from fader.corpora.parsers.trec.topics import make_query, read_topics
from fader.corpus.documents import Faults
from fader.errors import InputError, quote

DOCUMENTS, TOPICS, JUDGMENTS, RUN = "documents", "topics", "judgments", "a run"
RUNS = "runs, which are no judgments"
NAMELESS = "documents without an id"
ENDLESS = "documents without an end"
OUTSIDE = "stretches of text in no document"

_SEEN = 1 << 16  # bytes that tell what a source is
_LINES = 5
_HEAD = 1 << 13  # bytes of a document in which its numbers are
_DOC = re.compile(rb"<DOC(?:\s[^>]*)?>", re.IGNORECASE)
_TOPIC = re.compile(rb"<(?:top|topic|topics|query|queries)(?:\s[^>]*)?>", re.IGNORECASE)
_LINE_TOPIC = re.compile(rb"[\w.-]+[:\t]")
_OPEN = re.compile(rb"<(?:DOC|doc|Doc)(\s[^>]*)?>")
_CLOSE = re.compile(rb"</(?:DOC|doc|Doc)>")
_ANOTHER = re.compile(rb"\n[ \t]*<[Dd][Oo][Cc]>\s*<[Dd][Oo][Cc][Nn][Oo]>")  # begins before this one ends
_WORD = re.compile(rb"[^\s\x00-\x1f\x7f]")
_MARKUP = re.compile(rb"<[^>]*>|\xef\xbb\xbf")
_DOCNO = re.compile(rb"<DOCNO>\s*(.*?)\s*(?:</DOCNO>|[\r\n<])", re.IGNORECASE | re.DOTALL)
_DOCID = re.compile(rb"<DOCID>\s*(.*?)\s*</DOCID>", re.IGNORECASE | re.DOTALL)
_ID = re.compile(rb"\b(?:id|docno)\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_DOCHDR = re.compile(rb"<DOCHDR>(.*?)</DOCHDR>", re.IGNORECASE | re.DOTALL)
_NUMBERS = re.compile(rb"<(DOCNO|DOCID|DOCOLDNO|FILEID|DOCHDR)>.*?</\1>", re.IGNORECASE | re.DOTALL)
_URL = re.compile(rb"\s*([a-z]+://\S+)", re.IGNORECASE)
COMPRESSED = b"\x1f\x9d"  # by `compress`, as the TREC disks are


class TrecDocument(NamedTuple):
    """A document: its id, its address where its header has one, and what is in it beside these."""

    id: str
    url: str | None
    body: bytes
    web: bool  # it has a header as collections of pages have
    place: str


def find_kind(source: str) -> tuple[str, bytes]:
    """What a source holds, and the tag that ends a document in it."""
    if source == "-":
        return DOCUMENTS, b"</DOC>"
    begins = head(source, _SEEN)
    if begins.startswith(COMPRESSED):
        raise InputError(f"{source}: is compressed by `compress`; unpack it with gzip -d")
    found = _DOC.search(begins)
    topic = _TOPIC.search(begins)
    if found and not (topic and topic.start() < found.start()):
        return DOCUMENTS, b"</doc>" if found[0].startswith(b"<doc") else b"</DOC>"
    if topic:
        return TOPICS, b""
    lines = [line for line in begins.splitlines() if line.strip()][:_LINES]
    cells = [line.decode("utf-8", "replace").split() for line in lines]
    if 2 * sum(map(is_run, cells)) > len(lines):
        return RUN, b""
    judged = sum(read_judgment(each) is not None for each in cells)
    asked = sum(_LINE_TOPIC.match(line) is not None for line in lines)
    if 2 * max(judged, asked) > len(lines):  # most lines: some may be broken
        return (JUDGMENTS if judged >= asked else TOPICS), b""
    return DOCUMENTS, b"</DOC>"


def cut_files(sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
    """Pieces of documents, and whole files of topics and judgments."""
    for source in sources:
        kind, mark = find_kind(source)
        if kind == RUN:
            what = "the lines have query, Q0, id, rank, score and tag, as a run has; give a qrels file"
            faults.add(RUNS, f"{at(source, 1)}: {what}")
            continue
        found = mark_batches([source], faults, mark) if kind == DOCUMENTS else whole_files([source], faults)
        for batch in found:
            yield batch._replace(payload=(kind, batch.payload))


def read_judged(batch: Batch, faults: Faults, type: str | None = None) -> Records:
    """The queries or judgments of a file; `type` is what its queries ask for."""
    kind, data = batch.payload
    out = Records()
    if kind == TOPICS:
        out.queries = [make_query(topic, type) for topic in read_topics(data, batch.source, faults)]
    elif kind == JUDGMENTS:
        out.qrels = keep_highest(read_judgments(data, batch.source, faults), out.counts)
    return out


def read_documents(data: bytes, source: str, first: int, faults: Faults) -> Iterator[TrecDocument]:
    """The documents of a piece that begins at byte `first`."""
    reached = 0
    while opened := _OPEN.search(data, reached):
        _tell_outside(data, reached, opened.start(), source, first, faults)
        closed = _CLOSE.search(data, opened.end())
        inside = data[opened.end() : closed.start() if closed else len(data)]
        another = _ANOTHER.search(inside)
        reached = closed.end() if closed else len(data)
        if another:
            closed, inside = None, inside[: another.start()]
            reached = opened.end() + another.start()
        found = _read_one(opened, inside, at(source, first + opened.start(), "byte"), closed is not None, faults)
        if found:
            yield found
    _tell_outside(data, reached, len(data), source, first, faults)


def _read_one(opened: re.Match[bytes], body: bytes, place: str, ended: bool, faults: Faults) -> TrecDocument | None:
    """A document from what is between its tags; None, and a fault, if it has no id."""
    named = _DOCNO.search(body, 0, _HEAD) or _ID.search(opened[1] or b"") or _DOCID.search(body, 0, _HEAD)
    name = named[1].decode("utf-8", "replace") if named else ""
    if not ended:
        faults.add(ENDLESS, f"{place}: document {quote(name)} has no </DOC>; the source may be cut short")
    if not name:
        faults.add(NAMELESS, f"{place}: needs a DOCNO")
        return None
    header = _DOCHDR.search(body, 0, _SEEN)
    url = _URL.match(header[1]) if header else None
    shown = url[1].decode("utf-8", "replace") if url else None
    cut = header.end() if header else _HEAD
    return TrecDocument(name, shown, _NUMBERS.sub(b"", body[:cut]) + body[cut:], header is not None, place)


def _tell_outside(data: bytes, start: int, end: int, source: str, first: int, faults: Faults) -> None:
    """What is between documents is white space, and tags around them; other text is lost."""
    if data[start:end].strip() and _WORD.search(_MARKUP.sub(b"", data[start:end])):
        where = at(source, first + start, "byte")
        shown = quote(data[start:end].strip()[:60].decode("utf-8", "replace"))
        what = "bytes are in no document, which stands between DOC tags"
        faults.add(OUTSIDE, f"{where}: {end - start:,} {what}: {shown}")
