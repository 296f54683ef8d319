"""Documents to one frozen segment: gather, number the tokens, put documents in the order of their ids.

Tokens stay in memory as raw numbers until the segment is frozen, which is when they are normalised and sorted into a
dictionary. Texts go to disk as they come. Knows nothing of commits.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fader.corpus.analysis import Analysis
from fader.corpus.columns import Columns
from fader.corpus.documents import Faults, mention_fields
from fader.corpus.sentences import find_sentences
from fader.corpus.strings import find_foreign, join_strings, sort_distinct
from fader.corpus.tokenise import NameNumbers, RawVocabulary, Tokens
from fader.errors import quote
from fader.index.encoding.strings import Joined
from fader.index.manifest import SegmentEntry
from fader.index.textstore import TextWriter
from fader.index.tokensamples import sample_tokens
from fader.index.write.freeze import Closure, Frozen, MentionColumns, TokenColumns, write_segment
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
U8 = NDArray[np.uint8]
MAX_POSITIONS = (1 << 30) - 1
# Bytes a token costs at the peak, when the segment is frozen: its raw number, its place in the sorted
# postings, its share of the packed output, of the vocabulary and of its document's mentions.
BYTES_PER_TOKEN = 16
# A distinct run as a Python string with its term; a document's id, title and places; a mention's columns while they
# are sorted, and one row in the list of each of its types.
BYTES_PER_RUN, BYTES_PER_DOCUMENT, BYTES_PER_MENTION, BYTES_PER_TYPE_ROW = 300, 300, 60, 10


@kernel
def find_mention_tokens(
    text: U8, ends: I64, characters: I64, tokens: Any, doc: I32, start: I32, end: I32, out_start: I32, out_end: I32
) -> None:
    """The tokens [out_start, out_end), within their document, that overlap characters [start, end)."""
    byte_at = np.empty(0, dtype=np.int32)  # the bytes of the characters of a document that is not all ASCII
    last = -1
    for m in range(doc.size):
        d = doc[m]
        first = ends[d - 1] if d > 0 else 0
        a, b = first + start[m], first + end[m]
        if characters[d] < ends[d] - first:
            if d != last:
                last = d
                if byte_at.size <= characters[d]:
                    byte_at = np.empty(2 * characters[d] + 1, dtype=np.int32)
                n = 0
                for i in range(first, ends[d]):
                    if text[i] & 0xC0 != 0x80:
                        byte_at[n] = i
                        n += 1
                byte_at[n] = ends[d]
            a, b = np.int64(byte_at[start[m]]), np.int64(byte_at[end[m]])
        begin = tokens.ends[d - 1] if d > 0 else 0
        stop = tokens.ends[d]
        low, high = begin, stop
        while low < high:  # the first token that ends behind the span's start
            middle = (low + high) >> 1
            if tokens.end[middle] > a:
                high = middle
            else:
                low = middle + 1
        out_start[m] = low - begin
        while low < stop and tokens.begin[low] < b:
            low += 1
        out_end[m] = low - begin


class Finder(Protocol):
    """Finds entities by their ids; `others` has ids, of those asked for, that stand for entities with other ids."""

    @property
    def others(self) -> AbstractSet[str]: ...

    def find_all(self, names: list[str]) -> Sequence[int] | I32:
        """The number of each id; -1 for one that is not in the catalog."""


class Numbers:
    """Numbers of entity ids that are in memory."""

    others: AbstractSet[str] = frozenset()

    def __init__(self, ids: U8, at: I64) -> None:
        self._numbers = NameNumbers(ids, at)

    def find_all(self, names: list[str]) -> I32:
        """The number of each id; -1 for one that is not in the catalog."""
        return self._numbers.find(*join_strings(name.encode("utf-8", "surrogatepass") for name in names))


@kernel
def _code_values(values: F64, table: I32, known: F64, n: int, out: I32) -> int:
    """The number of each value, given at first sight; `table` has numbers + 1 in the slots of values, 0 is free."""
    mask = np.uint64(table.size - 1)
    bits = values.view(np.uint64)
    for i in range(values.size):
        h = bits[i] * np.uint64(0x9E3779B97F4A7C15)
        slot = (h ^ (h >> np.uint64(32))) & mask
        while table[slot] and known[table[slot] - 1] != values[i]:
            slot = (slot + np.uint64(1)) & mask
        if table[slot] == 0:
            known[n] = values[i]
            n += 1
            table[slot] = n
        out[i] = table[slot] - 1
    return n


class ValueCodes:
    """Numbers of different values, none of them -0.0 or nan, given at first sight."""

    def __init__(self) -> None:
        self._table, self._known, self._n = np.zeros(1 << 8, dtype=np.int32), np.empty(1 << 7), 0

    @property
    def values(self) -> F64:
        """The different values, by number."""
        return self._known[: self._n]

    def code(self, values: F64) -> I32:
        """The numbers of values."""
        most = self._n + values.size
        out = np.empty(values.size, dtype=np.int32)
        if most > self._known.size:
            known, self._known = self.values, np.empty(1 << int(most - 1).bit_length())
            self._table, self._n = np.zeros(2 * self._known.size, dtype=np.int32), 0
            self.code(known.copy())
        self._n = _code_values(values, self._table, self._known, self._n, out)
        return out


class EntityNumbers:
    """The entities that names mean, found once for each name; -1 for a name that is not in the catalog."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self.names: list[str] = []
        self._found = np.empty(1 << 10, dtype=np.int32)
        self._is_other = np.zeros(1 << 10, dtype=bool)

    def learn(self, names: list[str], first: int) -> None:
        """Take in names that are numbered from `first` on; from 0 on they are numbered anew."""
        if first == 0:
            self.names = []
        self.names += names
        size = len(self.names)
        if size >= self._found.size:
            self._found = np.resize(self._found, 2 * size)
            self._is_other = np.resize(self._is_other, 2 * size)
        self._found[first:size] = self._finder.find_all(names)
        self._is_other[first:size] = [name in self._finder.others for name in names] if self._finder.others else False
        self._found[-1], self._is_other[-1] = -1, False  # for no name

    def of(self, numbers: I32) -> I32:
        """The entities of names, by their numbers; -1 where that is -1."""
        return self._found[numbers]

    def are_others(self, numbers: I32) -> NDArray[np.bool_]:
        """Which of the names stand for entities with other ids."""
        return self._is_other[numbers]


class CatalogView:
    """What building needs of a catalog: numbers of ids, and types with their closure."""

    def __init__(self, number: Finder, closure: Closure) -> None:
        self.number, self.closure = number, closure


CONFIDENT = "mentions with a confidence outside 0 to 1, which counts as it stands"


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
        self._pool = pool
        self._text = TextWriter(folder / f"{name}.text", pool, keep_text)
        self._raw: list[I32] = []
        self._lengths: list[I64] = []
        self._mention_parts: list[tuple[I32, ...]] = []
        self._confidences = ValueCodes()
        self._given: dict[str, int] = {}  # ids that stand for entities with other ids
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

    def add(self, columns: Columns, entities: EntityNumbers) -> None:
        """Tokenise and keep a batch."""
        tokens = self._vocabulary.tokenise(columns.text, columns.ends)
        self._keep_mentions(columns, entities, tokens)
        self._raw.append(tokens.raw.copy())
        self._lengths.append(np.diff(tokens.ends, prepend=0))
        samples = sample_tokens(columns.text, columns.ends, tokens.begin, tokens.ends)
        sentences = find_sentences(columns.text, tokens.begin, tokens.end, tokens.ends)
        self._text.add(columns.heads, columns.texts(), samples, sentences)
        self.tokens += int(tokens.raw.size)
        self.documents += len(columns)

    def _keep_mentions(self, columns: Columns, entities: EntityNumbers, tokens: Tokens) -> None:
        """Keep document, first token, tokens, entity and confidence code of the mentions that can be used."""
        c = columns
        doc = np.repeat(np.arange(len(c), dtype=np.int32), np.diff(c.at))
        confidence = c.confidence + 0.0  # -0.0 and 0.0 have one code, so they are one value
        entity, given = entities.of(c.name), self._number_given(c.name, entities)
        good = (entity >= 0) & (c.start >= 0) & (c.start < c.end) & (c.end <= c.characters[doc])
        good &= np.isfinite(confidence)
        if not good.all():
            for m in np.flatnonzero(~good).tolist():
                self._refuse(columns, int(doc[m]), m, entities)
            doc, entity, confidence, given = doc[good], entity[good], confidence[good], given[good]
        outside = (confidence < 0) | (confidence > 1)
        for m in np.flatnonzero(outside).tolist():
            d, (first, last) = int(doc[m]), (int(column[good][m]) for column in (c.start, c.end))
            where = f"{c.place(d)}: mention {first}-{last} of document {quote(c.heads[d].id)}"
            self._faults.note(CONFIDENT, f"{where} has {confidence[m]}; divide percentages by 100")
        start, end = (column[good].astype(np.int32) for column in (c.start, c.end))
        token_start, token_end = np.empty_like(start), np.empty_like(start)
        find_mention_tokens(c.text, c.ends, c.characters, tokens, doc, start, end, token_start, token_end)
        keep = token_start < token_end
        part: tuple[I32, ...] = (
            doc + np.int32(self.documents),
            token_start,
            token_end - token_start,
            entity,
            self._confidences.code(confidence),
            given,
        )
        if not keep.all():
            for m in np.flatnonzero(~keep).tolist():
                d = int(doc[m])
                where = f"{c.place(d)}: mention {start[m]}-{end[m]} of document {quote(c.heads[d].id)}"
                surface = quote(c.text_of(d)[start[m] : end[m]])
                self._faults.add("mentions that cover no token", f"{where} covers no token: {surface}")
            part = tuple(column[keep] for column in part)
        self._mention_parts.append(part)
        self.mentions += int(part[0].size)

    def _number_given(self, names: I32, entities: EntityNumbers) -> I32:
        """The number, among those of the segment, of each id that stands for an entity with another; -1 for others."""
        given = np.full(names.size, -1, dtype=np.int32)
        for m in np.flatnonzero(entities.are_others(names)).tolist():
            given[m] = self._given.setdefault(entities.names[names[m]], len(self._given))
        return given

    def _refuse(self, columns: Columns, d: int, m: int, entities: EntityNumbers) -> None:
        head, size = columns.heads[d], int(columns.characters[d])
        start: int | None = int(columns.start[m])
        end: int | None = int(columns.end[m])
        name: str | None
        if head.mentions:
            start, end, name, _confidence = mention_fields(head.mentions[m - int(columns.at[d])])
        else:
            name = entities.names[columns.name[m]]
        where = f"{columns.place(d)}: mention {start}-{end} of document {quote(head.id)}"
        if name is None or start is None or end is None:
            self._faults.add("incomplete mentions", f"{where} needs start, end and entity")
        elif not 0 <= start < end <= size:
            self._faults.add("mentions outside the text", f"{where} does not lie in the text of {size:,} characters")
        elif entities.of(columns.name[m : m + 1])[0] < 0:
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
        raw = np.concatenate([np.empty(0, dtype=np.int32), *self._raw])
        self._raw = []
        tokens = TokenColumns(raw, (np.cumsum(lengths) - lengths)[order], term_of)
        frozen = Frozen(lengths[order], terms, tokens, self._mentions(order))
        return write_segment(self._folder, self._name, frozen, self._catalog.closure, text, self._pool)

    def abort(self) -> None:
        """Release the files; the caller removes them."""
        self._text.abort()

    def _mentions(self, order: I64) -> MentionColumns:
        parts = [tuple(np.empty(0, dtype=np.int32) for _ in range(6)), *self._mention_parts]
        document, start, length, entity, code, given = (np.concatenate(column) for column in zip(*parts, strict=True))
        place = np.empty(order.size, dtype=np.int32)
        place[order] = np.arange(order.size)
        columns = MentionColumns(place[document], start, length, entity, code, self._confidences.values)
        if not self._given:
            return columns
        data, at, name = sort_distinct(*join_strings(n.encode("utf-8", "surrogatepass") for n in self._given))
        return replace(columns, given=np.append(name, np.int32(-1)).astype(np.int32)[given], names=Joined(data, at))

    def _dictionary(self) -> tuple[Joined, I32]:
        """The sorted terms, and the term of each raw token (-1: a stop word)."""
        data, at = self._vocabulary.joined()
        stopped = np.zeros(at.size - 1, dtype=bool)
        plain = self._analysis.is_plain
        odd = find_foreign(data, at) if plain else np.arange(at.size - 1)
        if odd.size:
            runs = self._vocabulary.runs()
            for i in odd.tolist():
                term = self._analysis.term(runs[i].decode("utf-8"))
                stopped[i] = term is None
                runs[i] = b"" if term is None else term.encode("utf-8")
            data, at = join_strings(runs)
        terms, terms_at, term_of = sort_distinct(data, at, ~stopped)  # several runs may have one term
        return Joined(terms, terms_at), term_of
