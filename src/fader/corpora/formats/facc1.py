"""FACC1: pages of ClueWeb09 or ClueWeb12 with Google's Freebase annotations.

    fader import facc1 ClueWeb09_English_1/en0000 FACC1/ClueWeb09_English_1/en0000 -o corpus/

Sources are WARC files and annotation files, distinguished by their content, in either layout:

    docid TAB encoding TAB mention TAB start TAB end TAB P(entity | mention, context) TAB P(entity | context) TAB mid
    docid.html, then lines  mention TAB start TAB end TAB P TAB P TAB mid, then an empty line

Start and end count bytes of the record's body, its HTTP headers included, after it was decoded with the encoding and
encoded as UTF-8. Some are wrong: encodings are not the pages' own, and some offsets are off by 32,768. So the body is
read in several ways (`readings`), and the first in which most mentions of the page match counts. A mention that does
not match there, white space, case, tags and entities aside, is dropped and counted; so is one in markup.

The first probability is the confidence of a mention, the second its `context_confidence`. The first pass makes an index
from document id to annotations (`annotation_index`) in the work folder, as large as the annotations uncompressed, so
the order of files does not matter and memory stays bounded. Entities are named by their most frequent surface: FACC1
has neither names nor types. Every annotation that is read becomes a mention or is counted with the reason why not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from fader.corpora.frame.annotation_index import Annotations, Writer
from fader.corpora.frame.base import Batch, Importer, Records, option
from fader.corpora.frame.faults import at, tally
from fader.corpora.frame.inputs import group_batches, head
from fader.corpora.frame.store import Store
from fader.corpora.parsers.web import html, readings, warc
from fader.corpora.parsers.web.httpresponse import blank_chunks, find_page_begin
from fader.corpus.documents import Faults
from fader.corpus.readers import file_size, without_mark
from fader.errors import InputError, UsageError, quote
from fader.progress import Progress

MALFORMED = "annotations that cannot be read"
MISMATCH = "mentions whose text is not at their offsets"
MARKUP = "mentions in markup"
NAMELESS = "records without a document id"
EMPTY = "records without a body"
STRAY = "stretches of bytes in no record"
READ, ABSENT = "annotations", "annotations of pages that are not there"
ALONE = "sources without annotations"
FOREIGN = "annotations of none of the pages"
UNSURE, REPEATED = "annotations under the least confidence", "annotations repeated"
LEFT_OUT = "annotations of pages left out"  # all of them are under the least confidence

_BLOCK = re.compile(rb"([^\t\r\n]+)\.html|(clueweb[^\t\r\n]+)")
_SIX = re.compile(rb"[^\t]*\t\d{1,12}\t\d{1,12}(?:\t\d*\.?\d+(?:[eE][+-]?\d{1,3})?){2}\t[^\t]*\S[^\t]*")
_EIGHT = re.compile(rb"([^\t]+)\t[^\t]*\t" + _SIX.pattern)
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

    def __post_init__(self) -> None:
        if not 0 <= self.min_confidence <= 1:
            raise UsageError(f"facc1: min_confidence must be from 0 to 1, not {self.min_confidence}")

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        archives = [source for source in sources if warc.is_warc(source)]
        if not archives:
            raise InputError(f"{sources[0]}: no WARC file, nor is another source; give those of ClueWeb, too")
        return warc.cut_warc(archives, faults)

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> Any:
        """Index the annotations by document."""
        given = [source for source in sources if not warc.is_warc(source)]
        if not given:
            what = f"{sources[0]}: a WARC file, as all sources are; give the files of FACC1, too"
            if not self.unannotated:
                raise InputError(what)
            faults.add(ALONE, f"{what}, or find mentions with fader annotate")
        for source in given:
            if head(source, 512)[257:262] == b"ustar":
                raise InputError(f"{source}: is an archive; unpack it with tar and give the folder")
        total, before, last = sum(map(file_size, given)), 0, ""
        with Writer(folder) as writer:
            # A piece may begin with any line of eight columns, but in a block only with its first.
            for batch in group_batches(given, faults, lambda s: s.count(b"\t") == 7 or _BLOCK.fullmatch(s.rstrip())):
                before += file_size(last) if last and batch.source != last else 0
                last = batch.source
                writer.add(_group_lines(batch, faults))
                progress.update(before + batch.consumed, total, READ)
            writer.finish()

    def open_state(self, state: Any, folder: Path) -> Annotations:
        return Annotations(folder)

    def convert(self, batch: Batch, state: Annotations, faults: Faults) -> Records:
        out = Records()
        data: bytes = batch.payload
        reached = 0
        for record in warc.read_records(data):
            _tell_stray(data, reached, record.start, batch, faults)
            reached = record.end
            place = at(batch.source, batch.place + record.start, "byte")
            fields = warc.read_fields(data, record)
            name = fields.get("warc-trec-id", "")
            if record.wrong:
                faults.add(warc.WRONG, f"{place}: record {quote(name)} is not as long as its header says")
            if not name:
                if fields.get("warc-type", "response") == "response":
                    faults.add(NAMELESS, f"{place}: needs a WARC-TREC-ID")
            elif record.body == record.end:
                faults.add(EMPTY, f"{place}: record {quote(name)} needs a page")
            else:
                given = self._select_annotations(state.of(name), out.counts)
                if given or self.unannotated:
                    body = blank_chunks(data[record.body : record.end])
                    out.documents.append(
                        _make_document(name, fields.get("warc-target-uri"), body, given, place, faults)
                    )
        _tell_stray(data, reached, len(data), batch, faults)
        return out

    def _select_annotations(self, lines: bytes, counts: dict[str, int]) -> list[Annotation]:
        """The annotations of a page that may become mentions; others are counted."""
        found = []
        for line in lines.decode("utf-8", "replace").split("\n")[:-1]:  # which the first pass has checked
            _name, encoding, surface, start, end, sure, context, entity = line.split("\t")
            place = int(start), int(end)
            found.append(Annotation(encoding, surface, *place, float(sure), float(context), entity.strip()))
        distinct = list({(a.start, a.end, a.entity): a for a in reversed(found)}.values())[::-1]
        chosen = [a for a in distinct if a.confidence >= self.min_confidence]
        if found and not chosen and not self.unannotated:
            tally(counts, LEFT_OUT, len(found))
        else:
            tally(counts, REPEATED, len(found) - len(distinct))
            tally(counts, UNSURE, len(distinct) - len(chosen))
        return chosen

    def finish(self, state: Annotations, store: Store) -> None:
        """Count annotations, and those of pages that no source has."""
        absent = state.absent(store.runs("ids.npy")) - store.counts.get(LEFT_OUT, 0)
        store.count({READ: state.size, ABSENT: max(absent, 0)})
        if absent == state.size > 0:
            remedy = "give WARC and FACC1 files of the same part of ClueWeb"
            store.faults.add(FOREIGN, f"all {absent:,} are of pages that no source has; {remedy}")


def _tell_stray(data: bytes, start: int, end: int, batch: Batch, faults: Faults) -> None:
    """Bytes between records are line ends; others are lost."""
    if data[start:end].strip():
        where = at(batch.source, batch.place + start, "byte")
        faults.add(STRAY, f"{where}: {end - start:,} bytes; a record begins with WARC/0.18 or WARC/1.0")


def _group_lines(batch: Batch, faults: Faults) -> Iterator[tuple[str, list[bytes]]]:
    """Documents with their lines, in the form of eight columns."""
    name, group, written = "", list[bytes](), b""  # `written` is the name as the last line has it
    for number, raw in enumerate(batch.payload, batch.place):
        line = without_mark(raw, number).rstrip(b"\r")
        opened = name
        if eight := _EIGHT.fullmatch(line):
            if eight[1] != written:
                written = eight[1]
                opened = written.decode("utf-8", "replace").strip().removesuffix(".html")
            line = line if written == opened.encode() else opened.encode() + line[len(written) :]
        elif not line.strip():
            continue
        elif block := _BLOCK.fullmatch(line.strip()):
            opened, line, written = (block[1] or block[2]).decode("utf-8", "replace"), b"", b""
        elif name and _SIX.fullmatch(line):
            line = name.encode() + b"\t\t" + line
        else:
            _tell_malformed(line, at(batch.source, number), name, faults)
            opened, line, written = name if b"\t" in line else "", b"", b""  # below no name are lines of no document
        if opened != name:
            if group:
                yield name, group
            name, group = opened, []
        if line:
            group.append(line)
    if group:
        yield name, group


def _tell_malformed(line: bytes, place: str, name: str, faults: Faults) -> None:
    columns = line.count(b"\t") + 1
    what = "offsets must be whole numbers, probabilities numbers, the id not empty"
    if columns not in (6, 8) or (columns == 6 and not name):
        what = f"needs 8 columns, or 6 below a document's name, not {columns}"
    shown = quote(line.decode("utf-8", "replace").replace("\t", " "))
    faults.add(MALFORMED, f"{place}: {what}: {shown}")


def _make_document(
    name: str, url: str | None, body: bytes, given: list[Annotation], place: str, faults: Faults
) -> dict[str, Any]:
    looked_for = [(annotation.surface, annotation.start, annotation.end) for annotation in given]
    reading, found = readings.choose_reading(body, looked_for, given[0].encoding if given else "")
    begin = find_page_begin(reading.data)
    is_plain = _PLAIN.search(reading.data, 0, begin) and not html.looks_like_html(reading.data, begin)
    page = (html.read_plain if is_plain else html.read)(reading.data, begin)
    mentions = []
    for annotation, matches in zip(given, found, strict=True):
        span = page.span(reading.place(annotation.start), reading.place(annotation.end)) if matches else None
        said = f"{place}: {name}: {quote(annotation.surface)} at {annotation.start}-{annotation.end}"
        if not matches:
            faults.add(MISMATCH, f"{said}: the page has {quote(reading.text(annotation.start, annotation.end))} there")
        elif span is None or not readings.is_same(page.text[slice(*span)], annotation.surface):
            faults.add(MARKUP, f"{said}: is not in the text of the page")
        else:
            mention = {"start": span[0], "end": span[1], "entity": annotation.entity}
            sure = {"confidence": annotation.confidence, "context_confidence": annotation.context}
            mentions.append({**mention, **sure})
    return {"id": name, "text": page.text, "mentions": mentions, "title": page.title or None, "url": url}
