"""Documents to one frozen segment: number the tokens, sort them by term, pack, write.

Tokens stay in memory as raw numbers until the segment is frozen, which is when they are normalised, sorted into
a dictionary and inverted by a counting sort. Texts go to disk as they come. Knows nothing of commits.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.corpus.analysis import Analysis
from fader.corpus.documents import Document, Faults, mention_columns, mention_fields
from fader.corpus.tokenise import RawVocabulary, batch_bytes
from fader.errors import quoted
from fader.index.format import writing
from fader.index.lists import encode, write_lists
from fader.index.packed import write_packed
from fader.index.segment import CELL_BITS
from fader.index.strings import write_sorted
from fader.index.textstore import TextWriter
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
MAX_POSITIONS = (1 << 30) - 1
# Bytes a token costs at the peak, when the segment is frozen: its raw number, its place in the sorted
# postings, its share of the packed output, of the vocabulary and of its document's mentions.
BYTES_PER_TOKEN = 16
# A distinct run as a Python string with its term; a document's id, title and places; a mention's columns while they
# are sorted, and one row in the list of each of its types.
BYTES_PER_RUN, BYTES_PER_DOCUMENT, BYTES_PER_MENTION, BYTES_PER_TYPE_ROW = 300, 300, 60, 10


@kernel
def _mention_tokens(
    first: I32, last: I32, tokens_end: I64, doc: I32, start: I32, end: I32, out_start: I32, out_end: I32
) -> None:
    """The tokens [out_start, out_end), within their document, that overlap characters [start, end)."""
    for m in range(doc.size):
        begin = tokens_end[doc[m] - 1] if doc[m] > 0 else 0
        stop = tokens_end[doc[m]]
        low, high = begin, stop
        while low < high:  # the first token that ends behind the span's start
            middle = (low + high) >> 1
            if last[middle] > start[m]:
                high = middle
            else:
                low = middle + 1
        out_start[m] = low - begin
        while low < stop and first[low] < end[m]:
            low += 1
        out_end[m] = low - begin


@kernel
def _count(
    raw: I32, base: I32, term_of: I32, counts: I64, df: I32, distinct: I32, square: I64, seen: I32, run: I32
) -> None:
    """Per term its occurrences and documents; per document its distinct terms and the sum of squared counts."""
    t = 0
    for d in range(base.size - 1):
        for _i in range(base[d + 1] - base[d] - 1):
            term = term_of[raw[t]]
            raw[t] = term
            t += 1
            if term < 0:
                continue
            counts[term + 1] += 1
            if seen[term] != d:
                seen[term] = d
                run[term] = 0
                df[term] += 1
                distinct[d] += 1
            run[term] += 1
            square[d] += 2 * run[term] - 1  # k^2 - (k-1)^2


@kernel
def _invert(terms: I32, base: I32, put: I64, positions: I32) -> None:
    """Counting sort of the positions by term."""
    t = 0
    for d in range(base.size - 1):
        for i in range(base[d + 1] - base[d] - 1):
            term = terms[t]
            t += 1
            if term >= 0:
                positions[put[term]] = base[d] + i
                put[term] += 1


@kernel
def _rows_by_type(entity: I32, types_at: I32, types: I32, above_at: I32, above: I32, n_types: int) -> tuple[I64, I32]:
    """For each type the mention rows of its entities, closure included, ascending: offsets and rows."""
    seen = np.full(n_types, -1, dtype=np.int32)
    at = np.zeros(n_types + 1, dtype=np.int64)
    rows = np.empty(0, dtype=np.int32)
    for fill in range(2):
        if fill:
            for t in range(n_types):
                at[t + 1] += at[t]
            rows = np.empty(at[n_types], dtype=np.int32)
            seen[:] = -1
            put = at[:-1].copy()
        for row in range(entity.size):
            e = entity[row]
            for i in range(types_at[e], types_at[e + 1]):
                for j in range(above_at[types[i]], above_at[types[i] + 1]):
                    t = above[j]
                    if seen[t] != row:
                        seen[t] = row
                        if fill:
                            rows[put[t]] = row
                            put[t] += 1
                        else:
                            at[t + 1] += 1
    return at, rows


class Numbers(dict[str, int]):
    """Numbers of entity ids; -1 for an id that is not in the catalog."""

    def __missing__(self, _key: str) -> int:
        return -1


class Codes(dict[float, int]):
    """Numbers of different values, given at first sight."""

    def __missing__(self, key: float) -> int:
        self[key] = number = len(self)
        return number


class CatalogView:
    """What building needs of a catalog: numbers of ids, and types with their closure."""

    def __init__(self, number: Numbers, types: tuple[I32, I32], ancestors: tuple[I32, I32]) -> None:
        self.number = number
        self.types_at, self.types = types
        self.above_at, self.above = ancestors

    @property
    def closure(self) -> float:
        """How many types an entity has on the average, supertypes included (some counted twice)."""
        return float(np.diff(self.above_at)[self.types].sum()) / max(1, self.types_at.size - 1)


class SegmentBuilder:
    """Gathers documents and freezes them."""

    def __init__(
        self, folder: Path, name: str, catalog: CatalogView, analysis: Analysis, faults: Faults,
        pool: ThreadPoolExecutor | None = None, keep_text: bool = True,
    ) -> None:  # fmt: skip
        self._folder, self._name = folder, name
        self._catalog, self._analysis, self._faults = catalog, analysis, faults
        self._vocabulary = RawVocabulary()
        self._text = TextWriter(folder / f"{name}.text", pool, keep_text)
        self._raw: list[I32] = []
        self._lengths: list[I64] = []
        self._mention_parts: list[tuple[I32, ...]] = []
        self._confidences = Codes()
        self.tokens = 0
        self.documents = 0
        self.mentions = 0
        self._mention_bytes = BYTES_PER_MENTION + round(BYTES_PER_TYPE_ROW * catalog.closure)

    @property
    def memory(self) -> int:
        """Bytes that freezing now would need."""
        return (
            BYTES_PER_TOKEN * self.tokens
            + self._vocabulary.nbytes
            + BYTES_PER_RUN * self._vocabulary.size
            + self._mention_bytes * self.mentions
            + BYTES_PER_DOCUMENT * self.documents
        )

    @property
    def room(self) -> int:
        """Positions left before they would not fit their integers."""
        return MAX_POSITIONS - self.tokens - self.documents

    def add(self, documents: list[Document]) -> None:
        """Tokenise and keep a batch."""
        encoded = [d.text.encode("utf-8") for d in documents]
        buf, ends = batch_bytes(encoded)
        raw, first, last, tokens_end = self._vocabulary.tokenise(buf, ends)
        self._keep_mentions(documents, first, last, tokens_end)
        self._raw.append(raw.copy())
        self._lengths.append(np.diff(tokens_end, prepend=0))
        self._text.add(documents, encoded)
        self.tokens += int(raw.size)
        self.documents += len(documents)

    def _keep_mentions(self, documents: list[Document], first: I32, last: I32, tokens_end: I64) -> None:
        doc, start, end, entity, confidence = self._checked_mentions(documents)
        token_start, token_end = np.empty_like(start), np.empty_like(start)
        _mention_tokens(first, last, tokens_end, doc, start, end, token_start, token_end)
        keep = token_start < token_end
        for m in np.flatnonzero(~keep):
            d = documents[doc[m]]
            surface = quoted(d.text[start[m] : end[m]])
            self._faults.add(
                "mentions that cover no token",
                f"{d.place}: mention {start[m]}-{end[m]} of document {quoted(d.id)} covers no token: {surface}",
            )
        part = (doc + self.documents, token_start, token_end - token_start, entity, confidence)
        self._mention_parts.append(tuple(column[keep].astype(np.int32) for column in part))
        self.mentions += int(np.count_nonzero(keep))

    def _checked_mentions(self, documents: list[Document]) -> tuple[I32, ...]:
        """Document, start, end, entity and confidence code of the mentions that can be used."""
        flat = [m for d in documents for m in d.mentions]
        doc = np.repeat(np.arange(len(documents)), [len(d.mentions) for d in documents])
        starts, ends, names, confidences = mention_columns(flat)
        entity = np.array(list(map(self._catalog.number.__getitem__, names)), dtype=np.int64)
        size = np.array([len(d.text) for d in documents], dtype=np.int64)[doc]
        good = (entity >= 0) & (starts >= 0) & (starts < ends) & (ends <= size) & np.isfinite(confidences)
        for m in np.flatnonzero(~good):
            self._refuse(documents[doc[m]], *mention_fields(flat[m])[:3])
        codes = np.array(list(map(self._confidences.__getitem__, confidences)), dtype=np.int64)
        columns = (doc, starts, ends, entity, codes)
        return tuple(c[good].astype(np.int32) for c in columns)

    def _refuse(self, document: Document, start: int | None, end: int | None, name: str | None) -> None:
        where = f"{document.place}: mention {start}-{end} of document {quoted(document.id)}"
        if name is None or start is None or end is None:
            self._faults.add("incomplete mentions", f"{where} needs start, end and entity")
        elif not 0 <= start < end <= len(document.text):
            limit = f"does not lie in the text of {len(document.text):,} characters"
            self._faults.add("mentions outside the text", f"{where} {limit}")
        elif name not in self._catalog.number:
            self._faults.add("mentions of unknown entities", f"{where} names {quoted(name)}, not in the catalog")
        else:
            self._faults.add("mentions with a bad confidence", f"{where} needs a finite confidence")

    def freeze(self) -> dict[str, Any]:
        """Write the segment's files; returns its description for the manifest."""
        base = self._base()
        terms, term_of = self._dictionary()
        files = {"text": self._text.close()}
        files["mentions"], mentions_at, mentions = self._write_mentions(base)
        files["terms"], distinct, square = self._write_terms(base, terms, term_of)
        with writing(self._folder / f"{self._name}.documents", "documents") as w:
            w.array("base", base)
            w.array("cell", _cells(base))
            write_packed(w, "mentions_at", mentions_at)
            w.array("distinct", _narrow(distinct))
            w.array("square", _narrow(square))
            files["documents"] = w.close()
        counts = {"documents": self.documents, "tokens": self.tokens, "mentions": mentions}
        return {"name": self._name, **counts, "terms": len(terms), "files": files}

    def abort(self) -> None:
        """Release the files; the caller removes them."""
        self._text.abort()

    def _base(self) -> I32:
        lengths = np.concatenate([np.zeros(1, dtype=np.int64), *self._lengths])
        lengths[1:] += 1
        return np.cumsum(lengths).astype(np.int32)

    def _dictionary(self) -> tuple[list[bytes], I32]:
        """The sorted terms, and the term of each raw token (-1: a stop word)."""
        runs = self._vocabulary.runs()
        plain = self._analysis.is_plain
        words: list[Any] = [r if plain and r.isascii() else self._term(r) for r in runs]
        order = sorted((i for i, w in enumerate(words) if w is not None), key=words.__getitem__)
        terms: list[bytes] = []
        term_of = np.full(len(words), -1, dtype=np.int32)
        for i in order:  # several runs may have one term
            if not terms or words[i] != terms[-1]:
                terms.append(words[i])
            term_of[i] = len(terms) - 1
        return terms, term_of

    def _term(self, run: bytes) -> bytes | None:
        term = self._analysis.term(run.decode("utf-8"))
        return None if term is None else term.encode("utf-8")

    def _write_terms(self, base: I32, terms: list[bytes], term_of: I32) -> tuple[dict[str, Any], I32, I64]:
        raw = np.concatenate([np.empty(0, dtype=np.int32), *self._raw])
        self._raw = []
        n = len(terms)
        at, df = np.zeros(n + 1, dtype=np.int64), np.zeros(n, dtype=np.int32)
        distinct, square = np.zeros(base.size - 1, dtype=np.int32), np.zeros(base.size - 1, dtype=np.int64)
        seen, run = np.full(n, -1, dtype=np.int32), np.zeros(n, dtype=np.int32)
        _count(raw, base, term_of, at, df, distinct, square, seen, run)
        np.cumsum(at, out=at)
        positions = np.empty(at[-1], dtype=np.int32)
        _invert(raw, base, at[:-1].copy(), positions)
        with writing(self._folder / f"{self._name}.terms", "terms") as w:
            write_sorted(w, "term", terms)
            write_lists(w, "postings", encode(positions, at, df))
            return w.close(), distinct, square

    def _write_mentions(self, base: I32) -> tuple[dict[str, Any], I32, int]:
        empty = tuple(np.empty(0, dtype=np.int32) for _ in range(5))
        parts = [empty, *self._mention_parts]
        doc, start, length, entity, confidence = (np.concatenate(column) for column in zip(*parts, strict=True))
        start = base[doc] + start
        order = np.lexsort((entity, length, start))
        doc, start, length, entity, confidence = (c[order] for c in (doc, start, length, entity, confidence))
        c = self._catalog
        at, rows = _rows_by_type(entity, c.types_at, c.types, c.above_at, c.above, c.above_at.size - 1)
        with writing(self._folder / f"{self._name}.mentions", "mentions") as w:
            names = ("start", "length", "document", "entity", "confidence")
            for name, column in zip(names, (start, length, doc, entity, confidence), strict=True):
                write_packed(w, name, column)
            w.array("confidences", np.array(list(self._confidences), dtype=np.float64))
            write_lists(w, "type", encode(rows, at, np.zeros(at.size - 1, dtype=np.int32)))
            described = w.close()
        mentions_at = np.searchsorted(doc, np.arange(base.size)).astype(np.int32)
        return described, mentions_at, int(doc.size)


def _cells(base: I32) -> I32:
    """The document of the first position of each cell, and one cell more than there are positions."""
    first = np.arange((int(base[-1]) >> CELL_BITS) + 2, dtype=np.int64) << CELL_BITS
    return np.clip(np.searchsorted(base, first, side="right") - 1, 0, max(0, base.size - 2)).astype(np.int32)


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    """The same values in the smallest unsigned integers that hold them."""
    largest = int(values.max(initial=0))
    for dtype in (np.uint8, np.uint16, np.uint32):
        if largest <= np.iinfo(dtype).max:
            return values.astype(dtype)
    return values.astype(np.uint64)
