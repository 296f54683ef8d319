"""Batches of documents as columns: texts laid end to end, mentions as arrays, names of entities numbered.

Lines of a file go straight to columns (`json_lines.py`); what that leaves, and dictionaries, come as documents and are
laid out here. Knows nothing of tokens, nor of which entities exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.corpus.documents import (
    OBJECTS,
    Document,
    DocumentBatch,
    DocumentReader,
    Faults,
    mention_columns,
    read_sources,
)
from fader.corpus.json_lines import CHARACTERS, ID_AT, LINE, NAME_AT, TITLE_AT, URL_AT, Lines, parse_lines
from fader.corpus.readers import LineBlock, check_length, display_name, read_blocks
from fader.corpus.tokenise import RawVocabulary, batch_bytes, pad
from fader.limits import Limits

U8 = NDArray[np.uint8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
MOST_NAMES = 1 << 23  # distinct names that are kept


@dataclass(slots=True)
class Columns:
    """Documents: text d is `text[ends[d-1]:ends[d]]`, its mentions are the rows [at[d], at[d+1]) of the other columns.

    A head is a document of which text and mentions may be left out; `lines` are the places of those without one, in
    `source`. `name` is the number of a mention's entity among the names read so far, -1 for none.
    """

    heads: list[Document]
    source: str
    lines: I64
    text: U8
    ends: I64
    characters: I64
    at: I64
    start: I64
    end: I64
    name: I32
    confidence: F64

    def __len__(self) -> int:
        return len(self.heads)

    def place(self, d: int) -> str:
        """Where a document stands, in words."""
        return self.heads[d].place or f"{self.source}:{self.lines[d]}"

    def text_of(self, d: int) -> str:
        return self.text[self.ends[d - 1] if d else 0 : self.ends[d]].tobytes().decode("utf-8")

    def texts(self) -> list[bytes]:
        """The texts as UTF-8."""
        data = self.text.tobytes()
        return [data[a:b] for a, b in pairwise((0, *self.ends.tolist()))]

    def cut(self, a: int, b: int) -> Columns:
        """The documents [a, b)."""
        first, low, high = int(self.ends[a - 1]) if a else 0, int(self.at[a]), int(self.at[b])
        return Columns(
            self.heads[a:b],
            self.source,
            self.lines[a:b],
            self.text[first : self.ends[b - 1] if b > a else first],
            self.ends[a:b] - first,
            self.characters[a:b],
            self.at[a : b + 1] - low,
            self.start[low:high],
            self.end[low:high],
            self.name[low:high],
            self.confidence[low:high],
        )


def join_columns(parts: Sequence[Columns]) -> Columns:
    """The documents of several parts of one source, one after another."""
    if len(parts) == 1:
        return parts[0]
    texts = np.cumsum([0, *(p.text.size for p in parts)])
    rows = np.cumsum([0, *(p.start.size for p in parts)])
    return Columns(
        [head for p in parts for head in p.heads],
        parts[0].source,
        np.concatenate([p.lines for p in parts]),
        np.concatenate([p.text for p in parts]),
        np.concatenate([p.ends + t for p, t in zip(parts, texts.tolist(), strict=False)]),
        np.concatenate([p.characters for p in parts]),
        np.concatenate([np.zeros(1, np.int64), *(p.at[1:] + r for p, r in zip(parts, rows.tolist(), strict=False))]),
        np.concatenate([p.start for p in parts]),
        np.concatenate([p.end for p in parts]),
        np.concatenate([p.name for p in parts]),
        np.concatenate([p.confidence for p in parts]),
    )


@dataclass(slots=True)
class ColumnBatch:
    """Documents read together, and how far in the input they reach.

    `names` are the entities' names that are new in it, numbered from `first_name` on; at 0 numbering begins anew.
    """

    columns: Columns
    names: list[str]
    first_name: int
    source: str
    consumed: int


class ColumnReader:
    """Lays out documents, numbering the names of entities at first sight."""

    def __init__(self, faults: Faults, limits: Limits) -> None:
        self._limits, self._documents = limits, DocumentReader(faults, limits)
        self._names = RawVocabulary()
        self._known = 0

    def file(self, path: str | Path) -> Iterator[ColumnBatch]:
        """The documents of a file."""
        name = display_name(path)
        for block in read_blocks(path, self._limits):
            yield self._batch(self._block(name, block), name, block.consumed)

    def dictionaries(self, rows: list[Mapping[str, Any]], first: int) -> ColumnBatch:
        """The documents of some dictionaries, numbered from `first` on."""
        return self.documents(self._documents.dictionaries(rows, first))

    def documents(self, batch: DocumentBatch) -> ColumnBatch:
        """Documents that are read already."""
        return self._batch(self._lay_out(batch.documents, batch.source), batch.source, batch.consumed)

    def _batch(self, columns: Columns, source: str, consumed: int) -> ColumnBatch:
        first, self._known = self._known, self._names.size
        new = [run.decode("utf-8", "surrogatepass") for run in self._names.runs(first)]
        if self._known > MOST_NAMES:
            self._names, self._known = RawVocabulary(), 0
        return ColumnBatch(columns, new, first, source, consumed)

    def _block(self, name: str, block: LineBlock) -> Columns:
        """The documents of a block of lines, odd ones read by the other reader and put in their places."""
        words = pad(np.frombuffer(block.data, dtype=np.uint8))
        lines = parse_lines(block.data, words, self._limits, OBJECTS * self._limits.document_mentions)
        columns = self._columns(name, block, words, lines)
        limit = self._limits.line_bytes
        odd = [(block.first + line, check_length(block.data[a:b], limit)) for line, a, b in lines.odd.tolist()]
        if block.long is not None:
            odd = [(block.first, block.long), *odd]
        parts, before = [], 0
        for a, group in groupby(odd, lambda each: int(np.searchsorted(columns.lines, each[0]))):
            found = self._documents.lines((f"{name}:{number}", number, line) for number, line in group)
            parts += [columns.cut(before, a), self._lay_out(found, name)]
            before = a
        return join_columns([*parts, columns.cut(before, len(columns))]) if parts else columns

    def _columns(self, name: str, block: LineBlock, words: NDArray[np.uint64], lines: Lines) -> Columns:
        head, mention, data = lines.head, lines.mention, block.data
        spans = head.tolist()
        ids = [data[row[ID_AT] : row[ID_AT + 1]].decode("utf-8") for row in spans]
        if head[:, TITLE_AT : URL_AT + 2].any():
            titles = [data[row[TITLE_AT] : row[TITLE_AT + 1]].decode("utf-8") for row in spans]
            urls = [data[row[URL_AT] : row[URL_AT + 1]].decode("utf-8") for row in spans]
        else:
            titles = urls = [""] * len(ids)
        rows = zip(ids, titles, urls, lines.prior.tolist(), strict=True)
        heads = [Document(id_, "", [], title, url, prior) for id_, title, url, prior in rows]
        edges = np.ascontiguousarray(mention[:, NAME_AT : NAME_AT + 2]).reshape(-1)
        return Columns(
            heads,
            name,
            head[:, LINE].astype(np.int64) + block.first,
            lines.text,
            lines.ends,
            head[:, CHARACTERS].astype(np.int64),
            lines.mentions_at,
            mention[:, 0].astype(np.int64),
            mention[:, 1].astype(np.int64),
            self._names.number(words, edges),
            lines.confidence,
        )

    def _lay_out(self, documents: list[Document], source: str) -> Columns:
        """Documents as columns; they keep their own places."""
        encoded = [d.text.encode("utf-8") for d in documents]
        flat = [m for d in documents for m in d.mentions]
        start, end, names, confidence = mention_columns(flat)
        at = np.zeros(len(documents) + 1, dtype=np.int64)
        np.cumsum([len(d.mentions) for d in documents], out=at[1:])
        return Columns(
            documents,
            source,
            np.zeros(len(documents), dtype=np.int64),
            np.frombuffer(b"".join(encoded), dtype=np.uint8),
            np.cumsum([len(e) for e in encoded], dtype=np.int64),
            np.array([len(d.text) for d in documents], dtype=np.int64),
            at,
            start,
            end,
            self._number(names),
            np.array(confidence, dtype=np.float64),
        )

    def _number(self, names: list[str]) -> I32:
        """The numbers of names; -1 for an empty one."""
        encoded = [name.encode("utf-8", "surrogatepass") for name in names]
        at = np.cumsum([0, *map(len, encoded)]).astype(np.int32)
        named = np.flatnonzero(np.diff(at))
        numbers = np.full(len(names), -1, dtype=np.int32)
        edges = np.column_stack((at[:-1], at[1:]))[named].reshape(-1)
        numbers[named] = self._names.number(pad(batch_bytes(encoded)[0]), edges)
        return numbers


def read_columns(
    sources: Iterable[str | Path] | Iterable[Mapping[str, Any]], faults: Faults, limits: Limits | None = None
) -> Iterator[ColumnBatch]:
    """What `read_corpus` reads, as columns."""
    return read_sources(sources, ColumnReader(faults, limits or Limits.from_environment()))
