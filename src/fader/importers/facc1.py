"""FACC1: pages of ClueWeb09 or ClueWeb12 with Google's Freebase annotations.

    fader import facc1 ClueWeb09_English_1/en0000 FACC1/ClueWeb09_English_1/en0000 -o corpus/

Sources are WARC files and annotation files, told apart by their content, in either layout:

    docid TAB encoding TAB mention TAB start TAB end TAB P(entity | mention, context) TAB P(entity | context) TAB mid
    docid.html, then lines  mention TAB start TAB end TAB P TAB P TAB mid, then an empty line

Start and end count bytes of the record's body, its HTTP headers included, after it was decoded with the encoding and
encoded as UTF-8. Some are wrong: encodings are not the pages' own, and some offsets are off by 32,768. So the body is
read with the encoding given, then as UTF-8, ISO-8859-1, windows-1252 and what the page declares, and at last with
offsets into the bytes as they are; the first reading in which most mentions of the page match, and least is broken,
counts. A mention that does not match there, white space and case aside, is dropped and counted; so is one in markup.

The first probability is the confidence of a mention, the second its `context_confidence`. The first pass makes an index
from document id to annotations (`annotationindex`) in the work folder, as large as the annotations are uncompressed, so
the order of files does not matter and memory stays bounded. Entities are named by their most frequent surface: FACC1
has neither names nor types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fader.corpus.documents import Faults
from fader.corpus.readers import file_size, read_chunks
from fader.errors import InputError, quoted
from fader.importers import charset, html, warc
from fader.importers.annotationindex import Annotations, Writer
from fader.importers.base import Batch, Importer, Records, option
from fader.importers.faults import at
from fader.importers.inputs import decoded, grouped_batches
from fader.progress import Progress

MALFORMED = "annotations that cannot be read"
MISMATCH = "mentions whose text is not at their offsets"
MARKUP = "mentions in markup"
NAMELESS = "records without a document id"

_BLOCK = re.compile(rb"[^\t\r\n]+\.html[ \t]*\r?")
_HEADERS_END = re.compile(rb"\r?\n\r?\n")
_TAGS = re.compile(r"<[^>]*>")
_SURROGATE = re.compile("[\udc80-\udcff]")
_BROKEN = "\ufffd".encode()
_PLAIN = re.compile(rb"content-type:[ \t]*text/plain", re.IGNORECASE)


class Annotation(NamedTuple):
    """A mention as FACC1 has it."""

    encoding: str
    surface: str
    start: int
    end: int
    confidence: float
    context: float
    entity: str


class Reading(NamedTuple):
    """A body in UTF-8; where offsets count bytes as they were, `offsets` has their places in it."""

    data: bytes
    offsets: Any = None

    def place(self, offset: int) -> int:
        """The byte of the data that an offset means."""
        if self.offsets is None:
            return offset
        return int(self.offsets[min(max(offset, 0), len(self.offsets) - 1)])


@dataclass(frozen=True)
class Facc1(Importer):
    """ClueWeb pages with Freebase annotations."""

    name: ClassVar[str] = "facc1"
    title: ClassVar[str] = "ClueWeb09 or ClueWeb12 (WARC) with the Freebase annotations FACC1"
    example: ClassVar[str] = "fader import facc1 ClueWeb12_00/0000tw FACC1/ClueWeb12_00/0000tw -o corpus/"
    citation: ClassVar[str] = (
        "E. Gabrilovich, M. Ringgaard and A. Subramanya. FACC1: Freebase annotation of ClueWeb corpora, version 1. "
        "2013. http://lemurproject.org/clueweb12/FACC1/"
    )
    passes: ClassVar[int] = 2

    min_confidence: float = option(0.0, "Mentions with a smaller first probability are left out.")
    unannotated: bool = option(True, "Pages without annotations are documents too.")

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        archives = [source for source in sources if _is_warc(source)]
        if not archives:
            raise InputError(f"{sources[0]}: no WARC file, nor is another source; give those of ClueWeb, too")
        return warc.warc_batches(archives, faults)

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> Any:
        """Index the annotations by document."""
        given = [source for source in sources if not _is_warc(source)]
        total, before, last = sum(map(file_size, given)), 0, ""
        with Writer(folder) as writer:
            for batch in grouped_batches(given, faults, _opens):
                before += file_size(last) if last and batch.source != last else 0
                last = batch.source
                writer.add(_groups(batch, faults))
                progress.update(before + batch.consumed, total, "annotations")
            writer.finish()

    def opened(self, state: Any, folder: Path) -> Annotations:
        return Annotations(folder)

    def convert(self, batch: Batch, state: Annotations, faults: Faults) -> Records:
        out = Records()
        data: bytes = batch.payload
        for record in warc.records(data):
            place = at(batch.source, batch.place + record.start, "byte")
            fields = warc.fields(data, record)
            name = fields.get("warc-trec-id", "")
            if record.wrong:
                faults.add(warc.WRONG, f"{place}: record {quoted(name)} is not as long as its header says")
            if not name and fields.get("warc-type", "response") == "response":
                faults.add(NAMELESS, f"{place}: needs a WARC-TREC-ID")
            if not name or record.body == record.end:
                continue
            found = _annotations(state.of(name), place, faults)
            given = [a for a in found if a.confidence >= self.min_confidence]
            for what, count in (
                ("annotations", len(found)),
                ("annotations under the least confidence", len(found) - len(given)),
            ):
                out.counts[what] = out.counts.get(what, 0) + count
            if given or self.unannotated:
                body = data[record.body : record.end]
                out.documents.append(_document(name, fields.get("warc-target-uri"), body, given, place, faults))
        return out


def _is_warc(source: str) -> bool:
    """Whether a source holds WARC records; an archive of annotation files is refused."""
    try:
        head = next((chunk for chunk, _consumed in read_chunks(source)), b"")[:512]
    except InputError:  # it is damaged from the beginning on, which is told where it is read
        return ".warc" in source
    if head[257:262] == b"ustar":
        raise InputError(f"{source}: is an archive; unpack it with tar and give the folder")
    return head.lstrip().startswith(b"WARC/")


def _opens(line: bytes) -> bool:
    """Whether a piece may begin with a line: any of eight columns, but in a block only its first."""
    return line.count(b"\t") == 7 or _BLOCK.fullmatch(line) is not None


def _groups(batch: Batch, faults: Faults) -> Iterator[tuple[str, list[bytes]]]:
    """Documents with their lines, in the form of eight columns."""
    name, group = "", list[bytes]()
    for number, raw in enumerate(batch.payload, batch.place):
        if not raw.strip():
            continue
        line = raw.rstrip(b"\r")
        columns = line.count(b"\t") + 1
        if columns == 1 and _BLOCK.fullmatch(line):
            opened, line = line.strip()[:-5].decode("utf-8", "replace"), b""
        elif columns == 8:
            head, _tab, rest = line.partition(b"\t")
            opened = head.decode("utf-8", "replace").removesuffix(".html").strip()
            line = opened.encode() + b"\t" + rest
        elif columns == 6 and name:
            opened, line = name, name.encode() + b"\t\t" + line
        else:
            decoded(raw, number, batch.source, faults)
            faults.add(
                MALFORMED, f"{at(batch.source, number)}: {columns} columns; needs 8, or 6 below a document's name"
            )
            continue
        if opened != name:
            if group:
                yield name, group
            name, group = opened, []
        if line:
            group.append(line)
    if group:
        yield name, group


def _annotations(lines: bytes, place: str, faults: Faults) -> list[Annotation]:
    """The annotations of a document."""
    found = []
    for line in lines.decode("utf-8", "replace").split("\n"):
        if not line:
            continue
        try:
            _name, encoding, surface, start, end, confidence, context, entity = line.split("\t")
            found.append(
                Annotation(encoding, surface, int(start), int(end), float(confidence), float(context), entity.strip())
            )
        except ValueError as error:
            faults.add(MALFORMED, f"{place}: annotation {quoted(line)}: {error}")
    return found


def _document(
    name: str, url: str | None, body: bytes, given: list[Annotation], place: str, faults: Faults
) -> dict[str, Any]:
    data, found = _best(body, given)
    headers = _HEADERS_END.search(data.data) if data.data.startswith(b"HTTP/") else None
    begin = headers.end() if headers else 0
    simple = headers and _PLAIN.search(data.data, 0, begin) and not html.looks_like_html(data.data, begin)
    page = html.plain(data.data, begin) if simple else html.read(data.data, begin)
    mentions = []
    for annotation, matches in zip(given, found, strict=True):
        said = f"{place}: {name}: {quoted(annotation.surface)} at {annotation.start}-{annotation.end}"
        span = page.span(data.place(annotation.start), data.place(annotation.end)) if matches else None
        if not matches:
            faults.add(MISMATCH, f"{said}: the page has {quoted(_slice(data, annotation))} there")
        elif span is None or not _same(page.text[slice(*span)], annotation.surface):
            faults.add(MARKUP, f"{said}: is not in the text of the page")
        else:
            mentions.append({
                "start": span[0], "end": span[1], "entity": annotation.entity, "confidence": annotation.confidence,
                "context_confidence": annotation.context,
            })  # fmt: skip
    return {"id": name, "text": page.text, "mentions": mentions, "title": page.title or None, "url": url}


def _best(body: bytes, given: list[Annotation]) -> tuple[Reading, list[bool]]:
    """The reading of a body in which most annotations match, and which do; of equal ones, the least broken."""
    best: tuple[Reading, list[bool]] | None = None
    most = (-1, 0)
    for reading in _readings(body, given[0].encoding if given else ""):
        found = [_matches(reading, annotation) for annotation in given]
        worth = sum(found), -reading.data.count(_BROKEN)
        if best is None or worth > most:
            best, most = (reading, found), worth
        if most == (len(given), 0):
            break
    assert best is not None
    return best


def _readings(body: bytes, encoding: str) -> Iterator[Reading]:
    """The body in UTF-8, in all the ways that offsets may have been counted."""
    if body.isascii() and b"\x1b" not in body:
        yield Reading(body)
        return
    guessed = charset.decoded(body)[1]
    names = (charset.known(encoding), guessed, "utf-8", "iso8859-1", "cp1252", charset.declared(body))
    for name in dict.fromkeys(filter(None, names)):
        yield Reading(body.decode(name, "replace").encode("utf-8", "replace"))
    if guessed == "utf-8" or charset.one_byte(guessed):
        yield _as_they_are(body, guessed)


def _as_they_are(body: bytes, encoding: str) -> Reading:
    """A reading whose offsets count the bytes of the body, undecoded."""
    utf8 = encoding == "utf-8"
    text = body.decode(encoding, "surrogateescape" if utf8 else "replace")
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = 1 + (codes > 0x7F) + (codes > 0x7FF) + (codes > 0xFFFF)  # an escaped byte becomes U+FFFD: 3 bytes
    before = np.where((codes >= 0xDC80) & (codes <= 0xDCFF), 1, sizes) if utf8 else np.ones_like(sizes)
    ends = np.cumsum(sizes)
    offsets = np.append(np.repeat(ends - sizes, before), ends[-1:])
    return Reading(_SURROGATE.sub("\ufffd", text).encode(), offsets)


def _slice(data: Reading, annotation: Annotation) -> str:
    start, end = data.place(annotation.start), data.place(annotation.end)
    return data.data[max(start, 0) : max(end, 0)].decode("utf-8", "replace")


def _matches(data: Reading, annotation: Annotation) -> bool:
    """Whether the mention's text is where the annotation says, white space, case, tags and entities aside."""
    return _same(_slice(data, annotation), annotation.surface)


def _same(found: str, surface: str) -> bool:
    return found == surface or _loose(found) == _loose(surface)


def _loose(text: str) -> str:
    return " ".join(_TAGS.sub("", html.unescaped(text)).casefold().split())
