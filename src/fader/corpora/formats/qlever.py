"""QLever's text input, also Broccoli's: a wordsfile of words and entities, and a docsfile of texts.

    Fleming<TAB>0<TAB>17<TAB>1                     word, is it an entity, record, score
    <Alexander_Fleming><TAB>1<TAB>17<TAB>1
    17<TAB>In 1928, Fleming discovered penicillin.  docsfile: record (the last one of the text), text

The source is the wordsfile; the option `docs` names the docsfile, whose lines are the documents. Without it, each
record is one, of its words joined by blanks. A wordsfile has no offsets: words are found in the text one after another,
and an entity belongs to the word before it or behind it, whichever its name has, else the one before it. Words in a row
with the same entity are one mention. Entities that no word stands by are dropped and counted.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from urllib.parse import unquote

import numpy as np

from fader.corpora.frame.base import Batch, EntityRow, Importer, MentionRow, Records, option
from fader.corpora.frame.faults import at, tally
from fader.corpora.frame.inputs import companion_lines, decode_line, decode_lines, line_batches, stem
from fader.corpora.frame.textstore import map_array
from fader.corpora.parsers.text.spans import read_number
from fader.corpora.parsers.text.tokens import TokenText
from fader.corpus.documents import Faults
from fader.corpus.readers import without_mark
from fader.errors import quote
from fader.progress import Progress

FILE, RECORDS, OFFSETS = "docs.bin", "docs.records.npy", "docs.offsets.npy"
LOST = "entities without a word in the text"
UNREADABLE = "lines that cannot be read"
NEAR = 400  # characters of text in which the next word is looked for


class _Posting(NamedTuple):
    word: str
    entity: bool
    record: int
    line: int


class _Docs:
    """The docsfile, mapped."""

    def __init__(self, folder: Path) -> None:
        self.records = map_array(folder / RECORDS)
        self._offsets = map_array(folder / OFFSETS)
        self._data = map_array(folder / FILE)

    def document(self, record: int) -> int:
        """The number of the line that a record is in."""
        return int(np.searchsorted(self.records, record))

    def text(self, document: int) -> str | None:
        """The text of a line; None if it could not be read."""
        start, end = self._offsets[document].tolist()
        return self._data[start:end].tobytes().decode("utf-8") if start >= 0 else None


@dataclass(frozen=True)
class QLever(Importer):
    """Words and entities of text records."""

    name: ClassVar[str] = "qlever"
    title: ClassVar[str] = "QLever's wordsfile and docsfile"
    example: ClassVar[str] = "fader import qlever wiki.wordsfile.tsv --docs wiki.docsfile.tsv -o corpus/"
    citation: ClassVar[str] = "Bast, Buchhold 2017, QLever, doi:10.1145/3132847.3132921; its docs/sparql_plus_text.md"
    passes: ClassVar[int] = 2

    docs: str = option("", "The docsfile, with the texts of the records.", path=True)

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        """Lines, cut where a document ends; the payload has what is left of the batch before."""
        ends: array[int] | None = None
        if self.docs:  # lines that cannot be read are reported when it is copied
            ends = array("q", sorted(record for record, _words, _number in _read_docs(self.docs, Faults())))
        held, last = list[bytes](), None
        for batch in line_batches(sources, faults):
            if last is not None and batch.source != last.source:
                yield last._replace(payload=held)
                held, last = [], None
            place = last.place if last is not None else batch.place
            lines = [*held, *batch.payload]
            end = _find_boundary(lines, len(held), ends)
            if end:
                yield Batch(batch.source, place, lines[:end], batch.consumed)
            held, last = lines[end:], batch._replace(place=place + end)
        if last is not None:
            yield last._replace(payload=held)

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> Any:
        if self.docs:
            _copy(self.docs, folder, faults)

    def open_state(self, state: Any, folder: Path) -> Any:
        return _Docs(folder) if self.docs else None

    def convert(self, batch: Batch, state: _Docs | None, faults: Faults) -> Records:
        out = Records()
        postings: list[_Posting] = []
        document, current = 0, 0
        for number, line in decode_lines(enumerate(batch.payload, batch.place), batch.source, faults):
            if not line.strip():
                continue
            posting = _read_posting(line, number)
            if posting is None:
                what = f"needs word, 0 or 1, record and score, not {quote(line, 40)}"
                faults.add(UNREADABLE, f"{at(batch.source, number)}: {what}")
                continue
            if not postings or posting.record != postings[-1].record:
                document = state.document(posting.record) if state else posting.record
            if document != current and postings:
                _add_document(current, postings, state, batch, out, faults)
                postings = []
            current = document
            postings.append(posting)
        if postings:
            _add_document(current, postings, state, batch, out, faults)
        return out


def _read_posting(line: str, number: int) -> _Posting | None:
    cells = line.split("\t")
    record = read_number(cells[2]) if len(cells) > 2 else None
    if record is None or cells[1].strip() not in ("0", "1"):
        return None
    try:
        float(cells[3] if len(cells) > 3 and cells[3].strip() else 1)
    except ValueError:
        return None
    return _Posting(cells[0].strip(), cells[1].strip() == "1", record, number)


def _find_boundary(lines: list[bytes], held: int, ends: array[int] | None) -> int:
    """The last place where a line belongs to another document than the one before it."""

    def document(line: bytes) -> int | None:
        cells = line.split(b"\t")
        record = read_number(cells[2].decode("utf-8", "replace")) if len(cells) > 2 else None
        return record if record is None or ends is None else bisect_left(ends, record)

    behind: int | None = None
    for i in range(len(lines) - 1, max(held - 1, 0) - 1, -1):
        here = document(lines[i])
        if here is not None and behind is not None and here != behind:
            return i + 1
        behind = behind if here is None else here
    return 0


def _read_docs(path: str, faults: Faults) -> Iterator[tuple[int, bytes, int]]:
    """The lines of a docsfile: record, text, number of the line."""
    for number, line, _consumed in companion_lines(path, faults):
        cell, tab, words = without_mark(line, number).partition(b"\t")
        record = read_number(cell.decode("utf-8", "replace"))
        if tab and record is not None:
            yield record, words, number
        elif line.strip():
            what = f"needs the number of a record, a tab and a text, not {quote(line[:40].decode('utf-8', 'replace'))}"
            faults.add(UNREADABLE, f"{at(path, number)}: {what}")


def _copy(path: str, folder: Path, faults: Faults) -> None:
    """Put the texts of a docsfile where they can be mapped."""
    rows, size = array("q"), 0
    with open(folder / FILE, "wb") as file:
        for record, raw, number in _read_docs(path, faults):
            words = decode_line(raw, number, path, faults)
            if words is None:
                rows.extend((record, -1, -1))  # its words must not be looked for in the next text
            else:
                start = size
                size += file.write(words.encode())
                rows.extend((record, start, size))
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    table = table[np.argsort(table[:, 0], kind="stable")]
    np.save(folder / RECORDS, np.ascontiguousarray(table[:, 0]))
    np.save(folder / OFFSETS, np.ascontiguousarray(table[:, 1:]))


def _add_document(
    document: int, postings: list[_Posting], docs: _Docs | None, batch: Batch, out: Records, faults: Faults
) -> None:
    if docs is not None and document >= docs.records.size:
        record = postings[0].record
        what = f"record {record} is behind the last of the docsfile; give the docsfile of this wordsfile"
        faults.add("records without a text", f"{at(batch.source, postings[0].line)}: {what}")
        return
    words = [posting for posting in postings if not posting.entity]
    if docs is None:
        made = TokenText()
        for posting in words:
            made.add(posting.word)
        text, spans = made.text, list[tuple[int, int] | None](made.spans)
    else:
        found = docs.text(document)
        if found is None:
            return  # reported when the docsfile was copied
        text, spans = found, _find_words(found, words)
    name = str(docs.records[document]) if docs else f"{stem(batch.source)}:{postings[0].record}"
    mentions = _find_mentions(postings, spans, out)
    out.documents.append({"id": name, "text": text, "mentions": mentions})


def _find_words(text: str, words: list[_Posting]) -> list[tuple[int, int] | None]:
    """Where the words are in the text, each behind the one before it; a new record may begin anywhere."""
    lower = text.lower()
    if len(lower) != len(text):  # offsets would not hold
        lower = text
    spans: list[tuple[int, int] | None] = []
    at_, record = 0, -1
    for posting in words:
        word = posting.word.lower() if lower is not text else posting.word
        found = lower.find(word, at_, at_ + NEAR + len(word))
        if found < 0 and posting.record != record:
            found = lower.find(word)
        record = posting.record
        spans.append((found, found + len(word)) if found >= 0 and word else None)
        at_ = found + len(word) if found >= 0 else at_
    return spans


def _find_mentions(postings: list[_Posting], spans: list[tuple[int, int] | None], out: Records) -> list[MentionRow]:
    """A mention for each entity and each run of words that it stands by."""
    numbers = list(accumulate((not posting.entity for posting in postings), initial=0))  # of words before a posting
    stands: dict[tuple[str, int], None] = {}
    for i, posting in enumerate(postings):
        if posting.entity:
            word = _find_word(i, postings, numbers)
            if word is None or spans[word] is None:
                tally(out.counts, LOST)
            else:
                stands[posting.word, word] = None
    mentions: list[MentionRow] = []
    for name, word in stands:
        if (name, word - 1) in stands:
            continue
        last = word
        while (name, last + 1) in stands:
            last += 1
        first, end = spans[word], spans[last]
        entity = make_local_name(name)
        out.entities.append(EntityRow(entity, "" if re.fullmatch(r"Q\d+", entity) else entity.replace("_", " ")))
        if first is not None and end is not None and first[0] < end[1]:
            mentions.append({"start": first[0], "end": end[1], "entity": entity})
    return mentions


def _find_word(i: int, postings: list[_Posting], numbers: list[int]) -> int | None:
    """The word that an entity stands by, within its record: the neighbour that its name has, else the one before."""
    near: list[int] = []
    for step in (-1, 1):
        j = i + step
        while 0 <= j < len(postings) and postings[j].entity:
            j += step
        if 0 <= j < len(postings) and postings[j].record == postings[i].record:
            near.append(j)
    parts = set(re.findall(r"\w+", make_local_name(postings[i].word).replace("_", " ").lower()))
    near.sort(key=lambda j: postings[j].word.lower() not in parts)  # stable: the one before is the first
    return numbers[near[0]] if near else None


def make_local_name(name: str) -> str:
    """The id of an entity: without angle brackets, and of an address the last part."""
    inner = name[1:-1] if name.startswith("<") and name.endswith(">") else name
    return unquote(inner.rstrip("/").rpartition("/")[2]) if "://" in inner else inner
