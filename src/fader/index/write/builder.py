"""Documents to one frozen segment: gather, number the tokens, put documents in the order of their ids.

Tokens stay in memory as raw numbers until the segment is frozen, which is when they are normalised and sorted into a
dictionary. Texts go to disk as they come. Knows nothing of commits.
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
from fader.errors import quote
from fader.index.encoding.strings import Joined
from fader.index.manifest import SegmentEntry
from fader.index.textstore import TextWriter
from fader.index.tokensamples import sample_tokens
from fader.index.write.freeze import Closure, Frozen, MentionColumns, write_segment
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
def _place_terms(raw: I32, begin: I64, order: I64, lengths: I64, term_of: I32, out: I32) -> None:
    """The terms of raw tokens, documents in a given order."""
    t = 0
    for d in order:
        for i in range(begin[d], begin[d] + lengths[d]):
            out[t] = term_of[raw[i]]
            t += 1


class Numbers(dict[str, int]):
    """Numbers of entity ids; -1 for an id that is not in the catalog."""

    def __missing__(self, _key: str) -> int:
        return -1


class ValueCodes(dict[float, int]):
    """Numbers of different values, given at first sight."""

    def __missing__(self, key: float) -> int:
        self[key] = number = len(self)
        return number


class CatalogView:
    """What building needs of a catalog: numbers of ids, and types with their closure."""

    def __init__(self, number: dict[str, int], closure: Closure) -> None:
        self.number, self.closure = number, closure


class SegmentBuilder:
    """Gathers documents and freezes them."""

    def __init__(
        self,
        folder: Path,
        name: str,
        catalog: CatalogView,
        analysis: Analysis,
        faults: Faults,
        pool: ThreadPoolExecutor | None = None,
        keep_text: bool = True,
    ) -> None:
        self._folder, self._name = folder, name
        self._catalog, self._analysis, self._faults = catalog, analysis, faults
        self._vocabulary = RawVocabulary()
        self._text = TextWriter(folder / f"{name}.text", pool, keep_text)
        self._raw: list[I32] = []
        self._lengths: list[I64] = []
        self._mention_parts: list[tuple[I32, ...]] = []
        self._confidences = ValueCodes()
        self.tokens = 0
        self.documents = 0
        self.mentions = 0
        self._mention_bytes = BYTES_PER_MENTION + round(BYTES_PER_TYPE_ROW * catalog.closure.mean)

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
    def quota(self) -> int:
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
        samples = sample_tokens(first, self._vocabulary.last_bytes(raw.size)[0], tokens_end, ends)
        self._text.add(documents, encoded, samples)
        self.tokens += int(raw.size)
        self.documents += len(documents)

    def _keep_mentions(self, documents: list[Document], first: I32, last: I32, tokens_end: I64) -> None:
        doc, start, end, entity, confidence = self._check_mentions(documents)
        token_start, token_end = np.empty_like(start), np.empty_like(start)
        _mention_tokens(first, last, tokens_end, doc, start, end, token_start, token_end)
        keep = token_start < token_end
        for m in np.flatnonzero(~keep):
            d = documents[doc[m]]
            surface = quote(d.text[start[m] : end[m]])
            self._faults.add(
                "mentions that cover no token",
                f"{d.place}: mention {start[m]}-{end[m]} of document {quote(d.id)} covers no token: {surface}",
            )
        part = (doc + self.documents, token_start, token_end - token_start, entity, confidence)
        self._mention_parts.append(tuple(column[keep].astype(np.int32) for column in part))
        self.mentions += int(np.count_nonzero(keep))

    def _check_mentions(self, documents: list[Document]) -> tuple[I32, ...]:
        """Document, start, end, entity and confidence code of the mentions that can be used."""
        flat = [m for d in documents for m in d.mentions]
        doc = np.repeat(np.arange(len(documents)), [len(d.mentions) for d in documents])
        starts, ends, names, given = mention_columns(flat)
        confidence = np.array(given, dtype=np.float64) + 0.0  # -0.0 and 0.0 have one code, so they are one value
        entity = np.array(list(map(self._catalog.number.__getitem__, names)), dtype=np.int64)
        size = np.array([len(d.text) for d in documents], dtype=np.int64)[doc]
        good = (entity >= 0) & (starts >= 0) & (starts < ends) & (ends <= size) & np.isfinite(confidence)
        for m in np.flatnonzero(~good):
            self._refuse(documents[doc[m]], *mention_fields(flat[m])[:3])
        codes = np.array(list(map(self._confidences.__getitem__, confidence[good].tolist())), dtype=np.int32)
        return (*(c[good].astype(np.int32) for c in (doc, starts, ends, entity)), codes)

    def _refuse(self, document: Document, start: int | None, end: int | None, name: str | None) -> None:
        where = f"{document.place}: mention {start}-{end} of document {quote(document.id)}"
        if name is None or start is None or end is None:
            self._faults.add("incomplete mentions", f"{where} needs start, end and entity")
        elif not 0 <= start < end <= len(document.text):
            limit = f"does not lie in the text of {len(document.text):,} characters"
            self._faults.add("mentions outside the text", f"{where} {limit}")
        elif name not in self._catalog.number:
            self._faults.add("mentions of unknown entities", f"{where} names {quote(name)}, not in the catalog")
        else:
            self._faults.add("mentions with a bad confidence", f"{where} needs a finite confidence")

    def freeze(self) -> SegmentEntry:
        """Write the segment's files, documents in the order of their ids."""
        lengths = np.concatenate([np.zeros(0, dtype=np.int64), *self._lengths])
        ids = self._text.ids
        order = np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64)
        terms, term_of = self._dictionary()
        text = self._text.close(order)
        frozen = Frozen(lengths[order], Joined.of(terms), self._tokens(lengths, order, term_of), self._mentions(order))
        return write_segment(self._folder, self._name, frozen, self._catalog.closure, text)

    def abort(self) -> None:
        """Release the files; the caller removes them."""
        self._text.abort()

    def _tokens(self, lengths: I64, order: I64, term_of: I32) -> I32:
        raw = np.concatenate([np.empty(0, dtype=np.int32), *self._raw])
        self._raw = []
        out = np.empty_like(raw)
        _place_terms(raw, np.cumsum(lengths) - lengths, order, lengths, term_of, out)
        return out

    def _mentions(self, order: I64) -> MentionColumns:
        parts = [tuple(np.empty(0, dtype=np.int32) for _ in range(5)), *self._mention_parts]
        document, start, length, entity, code = (np.concatenate(column) for column in zip(*parts, strict=True))
        place = np.empty(order.size, dtype=np.int32)
        place[order] = np.arange(order.size)
        confidences = np.array(list(self._confidences), dtype=np.float64)
        return MentionColumns(place[document], start, length, entity, code, confidences)

    def _dictionary(self) -> tuple[list[bytes], I32]:
        """The sorted terms, and the term of each raw token (-1: a stop word)."""
        runs = self._vocabulary.runs()
        plain = self._analysis.is_plain
        words: list[Any] = [r if plain and r.isascii() else self._term(r) for r in runs]
        terms = sorted({w for w in words if w is not None})  # several runs may have one term
        place = dict(zip(terms, range(len(terms)), strict=True))
        return terms, np.fromiter((-1 if w is None else place[w] for w in words), dtype=np.int32, count=len(words))

    def _term(self, run: bytes) -> bytes | None:
        term = self._analysis.term(run.decode("utf-8"))
        return None if term is None else term.encode("utf-8")
