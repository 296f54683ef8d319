"""One immutable segment of an index, opened: postings, mentions, documents, all mapped.

A segment numbers its documents from 0 and lays their tokens on one line of *positions*: document d owns
[base[d], base[d+1] - 1), with one empty position behind it, so that no phrase runs over a document's end and a
position alone says which document it is in. `cell[p >> CELL_BITS]` is the document of a cell's first position.
Knows nothing of other segments, of queries or of scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.corpus.sentences import Sentences
from fader.errors import DamagedError
from fader.index.aside import Aside
from fader.index.catalog import StoredCatalog
from fader.index.encoding.packed import check_ends, get
from fader.index.encoding.shapes import damage_error
from fader.index.files import DeletedFile, DocumentsFile, MentionsFile, TermsFile
from fader.index.format import Container
from fader.index.forms import MentionStarts
from fader.index.manifest import CatalogEntry, SegmentEntry
from fader.index.sentences import read_sentences
from fader.index.sound import check_buried, check_mentions
from fader.index.stems import find_stem, sort_by_stem
from fader.index.textstore import TextStore
from fader.kernel import kernel
from fader.lazy import cached_property
from fader.memory import Cache

I32 = NDArray[np.int32]
U32 = NDArray[np.uint32]
MOST_FOUND = 10_000  # terms whose numbers are kept


@dataclass(frozen=True, slots=True)
class Mentions:
    """Mentions in order of position.

    `place[i]` is a mention's start and end, and its document's [low, high), all positions: what every literal reads
    for every mention, so it lies together. `slot[i]` numbers the entities that occur here: `entities[slot]`.
    """

    row: I32
    document: I32
    place: NDArray[np.int32]
    slot: I32
    entities: I32

    def __len__(self) -> int:
        return int(self.row.size)

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in (self.row, self.document, self.place, self.slot, self.entities))

    def take(self, kept: I32) -> Mentions:
        """Some of the mentions; slots keep their meaning."""
        row, document, slot = np.empty((3, kept.size), dtype=np.int32)
        place = np.empty((kept.size, 4), dtype=np.int32)
        source = self.row, self.document, self.place, self.slot
        for a, b in budget.chunks(kept.size):
            _take(kept[a:b], source, (row[a:b], document[a:b], place[a:b], slot[a:b]))
        return Mentions(row, document, place, slot, self.entities)

    @classmethod
    def none(cls) -> Mentions:
        empty = np.empty(0, dtype=np.int32)
        return cls(empty, empty, np.empty((0, 4), dtype=np.int32), empty, empty)


@dataclass(frozen=True, slots=True)
class DocumentMentions:
    """The mentions of one document: entities by number, tokens [start, end) and confidences."""

    entity: I32
    start: I32
    end: I32
    confidence: NDArray[np.float64]


class Segment:
    """The arrays of a segment and what they mean."""

    def __init__(self, folder: Path, entry: SegmentEntry, catalog: CatalogEntry, cache: Cache) -> None:
        self._cache = cache
        self._found: dict[str, tuple[int, int]] = {}
        self._of_stem: dict[tuple[str, str], list[tuple[int, int]]] = {}
        self._stem_order: dict[str, I32] = {}
        self.name, self.documents, self.tokens = entry.name, entry.documents, entry.tokens
        self._terms = TermsFile(folder, entry)
        self._mentions = MentionsFile(folder, entry, catalog.types)
        self._documents = DocumentsFile(folder, entry)
        self.text = TextStore(folder / f"{self.name}.text", entry.files.text)
        self.terms, self.postings = self._terms.terms, self._terms.postings
        self.start, self.length = self._mentions.start, self._mentions.length
        self.document, self.entity = self._mentions.document, self._mentions.entity
        self.rows_of_type = self._mentions.rows_of_type
        self.base, self.cell = self._documents.base, self._documents.cell
        self.mentions_at = self._documents.mentions_at
        self.distinct, self.square = self._documents.distinct, self._documents.square
        if len(self.text.ids) != self.documents:
            raise damage_error(self.text.container, f"it does not have {self.documents} documents")
        ends = check_ends(self._documents.container, "mentions_at", self.mentions_at, entry.mentions)
        columns = (self.start, self.length, self.document, self.entity, self._mentions.confidence)
        confidences = self._mentions.confidences.size
        check_mentions(self._mentions.container, columns, confidences, self.base, ends, catalog.entities)
        self._deleted = DeletedFile.open(folder, entry)
        self.alive = None if self._deleted is None else self._deleted.mark_alive(self.documents)
        if self._deleted is not None:
            check_buried(self._deleted.container, entry, self._deleted.document, self.base, ends)

    @property
    def deleted(self) -> I32:
        """The documents that are deleted, ascending."""
        return np.empty(0, dtype=np.int32) if self._deleted is None else self._deleted.document

    @property
    def containers(self) -> list[Container]:
        """Every file of the segment."""
        own = [self._terms.container, self._mentions.container, self._documents.container, self.text.container]
        return own if self._deleted is None else [*own, self._deleted.container]

    @cached_property
    def aside(self) -> Aside:
        """The mentions whose ids are not those of entities."""
        return self._mentions.read_aside(self.base)

    @property
    def mention_containers(self) -> list[Container]:
        """The files that depend on the catalog."""
        return [self._mentions.container, self._documents.container]

    @property
    def mentions(self) -> int:
        return self.start.rows

    def confidence(self, rows: I32) -> NDArray[np.float64]:
        """The annotation confidence of mentions."""
        return self._mentions.confidences[self._mentions.confidence.gather(rows)]

    def confidence_codes(self, rows: I32) -> tuple[I32, NDArray[np.float64]]:
        """The confidences of mentions as numbers of values, and the values."""
        return self._mentions.confidence.gather(rows), self._mentions.confidences

    def find_document(self, doc_id: str) -> int:
        """The document with an id that is not deleted, -1 if there is none."""
        found = self.text.find(doc_id)
        return found if found >= 0 and (self.alive is None or self.alive[found]) else -1

    def find_term(self, term: str) -> tuple[int, int]:
        """The number of a term, -1 if the segment has none such, and how many postings it has, deleted ones too."""
        found = self._found.get(term)
        if found is None:
            number = self.terms.find(term)
            found = number, self.postings.head(number)[0] if number >= 0 else 0
            if len(self._found) >= MOST_FOUND:
                self._found.clear()
            self._found[term] = found
        return found

    def terms_of_stem(self, term: str, language: str) -> list[tuple[int, int]]:
        """The numbers of the terms with the stem of a term, and how many postings each has, deleted ones too."""
        key = (term, language)
        found = self._of_stem.get(key)
        if found is None:
            numbers = find_stem(self._stems_in(language), self.terms, term, language)
            found = [(number, self.postings.head(number)[0]) for number in numbers]
            if len(self._of_stem) >= MOST_FOUND:
                self._of_stem.clear()
            self._of_stem[key] = found
        return found

    def _stems_in(self, language: str) -> I32:
        order = self._stem_order.get(language)
        if order is None:
            self._stem_order[language] = order = sort_by_stem(self.terms, language)
        return order

    def merge_terms(self, terms: list[int]) -> I32:
        """The positions of several terms together, ascending; deleted documents may be among them."""
        if len(terms) == 1:
            return self.postings.values(terms[0])
        return np.sort(np.concatenate([self.postings.values(term) for term in terms]), kind="stable")

    def rows_of_entity(self, entity: int) -> I32:
        """The rows of the mentions of an entity, ascending, deleted ones too."""
        at, rows = self._entity_rows
        return rows[at[entity] : at[entity + 1]] if entity + 1 < at.size else rows[:0]

    @cached_property
    def _entity_rows(self) -> tuple[I32, I32]:
        entity = self.entity.all()
        at = np.zeros(int(entity.max(initial=-1)) + 2, dtype=np.int32)
        np.cumsum(np.bincount(entity, minlength=at.size - 1), out=at[1:])
        return at, np.argsort(entity, kind="stable").astype(np.int32)

    def find_mentions(self, documents: I32, entities: I32) -> list[list[tuple[int, int]]]:
        """For each pair of a document and an entity the tokens [start, end) of the entity's mentions."""
        columns = self.mentions_at.arrays, self.start.arrays, self.length.arrays
        at, spans = _find_spans(*self._entity_rows, documents, entities, self.base, *columns)
        places, each = at.tolist(), [(start, end) for start, end in spans.tolist()]
        return [each[a:b] for a, b in pairwise(places)]

    def read_mentions(self, document: int) -> DocumentMentions:
        """All mentions of a document, in order."""
        bounds = self.mentions_at.gather(np.array([document, document + 1], dtype=np.int32)).tolist()
        rows = np.arange(*bounds, dtype=np.int32)
        start = self.start.gather(rows) - self.base[document]
        return DocumentMentions(
            self.entity.gather(rows), start, start + self.length.gather(rows), self.confidence(rows)
        )

    def count_forms(self, starts: I32, length: int) -> tuple[I32, I32]:
        """The entities of the mentions that cover exactly `length` tokens from one of some ascending positions on, and
        how many mentions of each do.
        """
        return self._mention_starts.count_forms(starts, length)

    @cached_property
    def _mention_starts(self) -> MentionStarts:
        return MentionStarts(self.start, self.length, self.entity, int(self.base[-1]))

    def mentions_of_type(self, type_number: int | None) -> Mentions:
        """The mentions of a type's entities, of all entities for None; recently used ones stay decoded."""

        def decode() -> Mentions:
            if type_number is None:
                return self.decode_mentions(np.arange(self.mentions, dtype=np.int32))
            return self.decode_mentions(self.rows_of_type.values(type_number))

        found: Mentions = self._cache.get((self.name, "type", type_number), decode, lambda m: m.nbytes)
        return found

    def rows_of_documents(self, documents: I32, catalog: StoredCatalog, type_number: int | None) -> I32:
        """The rows of the mentions in some documents of entities of a type (None: any)."""
        rows: I32 = budget.gather_chunks(documents.size, lambda a, b: _expand(documents[a:b], *self.mentions_at.arrays))
        if type_number is None:
            return rows
        types = catalog.entity_types_at, catalog.entity_types, catalog.type_mask(type_number)
        kept: I32 = budget.gather_chunks(rows.size, lambda a, b: _rows_of_types(rows[a:b], *types, *self.entity.arrays))
        return kept

    def decode_mentions(self, rows: I32) -> Mentions:
        """Some mentions, decoded."""
        document, place = np.empty(rows.size, dtype=np.int32), np.empty((rows.size, 4), dtype=np.int32)
        columns = self.document.arrays, self.start.arrays, self.length.arrays
        for a, b in budget.chunks(rows.size):
            _decode(rows[a:b], self.base, *columns, document[a:b], place[a:b])
        entities, slot = number_entities(self.entity.gather(rows))
        return Mentions(rows, document, place, slot, entities)

    def count_documents(self, counted: I32) -> None:
        """Add to each entity's count the documents here that mention it."""
        document, entity = self.document.all(), self.entity.all()
        if self.alive is not None:
            kept = self.alive[document] > 0
            document, entity = document[kept], entity[kept]
        _count_documents(document, entity, counted)

    def positions(self, term: int) -> I32:
        """A term's positions between two sentinels; recently used ones stay decoded."""
        found: I32 = self._cache.get(
            (self.name, "term", term),
            lambda: self.drop_deleted(self.postings.decode_bounded(term)),
            lambda values: values.nbytes,
        )
        return found

    def documents_with(self, term: int) -> int:
        """How many documents have a term (df)."""
        if self.alive is None:
            return self.postings.head(term)[1]

        def count() -> int:
            positions = self.positions(term)[1:-1]
            return int(np.unique(np.searchsorted(self.base, positions, side="right")).size)

        found: int = self._cache.get((self.name, "df", term), count, lambda _df: 100)
        return found

    def drop_deleted(self, positions: I32) -> I32:
        """Those of some ascending positions that lie in documents which are not deleted, or in none."""
        if self.alive is None:
            return positions
        low, high = self.base[self.deleted], self.base[self.deleted + 1]

        def part(a: int, b: int) -> I32:
            first = np.searchsorted(high, positions[a], side="right") if a < b else 0
            return _outside(positions[a:b], low[first:], high[first:])  # type: ignore[no-any-return]

        kept: I32 = budget.gather_chunks(positions.size, part)
        return kept

    def sentences(self, documents: I32) -> Sentences:
        """The sentences of some documents, each one's first left out."""
        found = read_sentences(self.text, documents)
        if found.gap.size and (found.gap.min() < 1 or (found.count >= np.maximum(1, self.lengths(documents))).any()):
            raise DamagedError(f"{self.text.container.path}: sentences do not fit their texts; rebuild the index")
        return found

    def lengths(self, documents: I32) -> I32:
        """Tokens of each document."""
        return self.base[documents + 1] - self.base[documents] - 1


@kernel
def _outside(positions: I32, low: I32, high: I32) -> I32:
    """The positions in none of the ranges [low, high), all ascending."""
    out = np.empty(positions.size, dtype=np.int32)
    n, r = 0, 0
    for p in positions:
        while r < high.size and high[r] <= p:
            r += 1
        if r == high.size or p < low[r]:
            out[n] = p
            n += 1
    return out[:n].copy()


@kernel
def _count_documents(document: I32, entity: I32, counted: I32) -> None:
    """Mentions are in the order of documents: an entity's last document tells whether this one is counted already."""
    last = np.full(counted.size, -1, dtype=np.int32)
    for i in range(entity.size):
        if last[entity[i]] != document[i]:
            last[entity[i]] = document[i]
            counted[entity[i]] += np.int32(1)


@kernel
def _find_spans(
    entity_at: I32, rows: I32, documents: I32, entities: I32, base: I32, mentions_at: Any, start: Any, lengths: Any
) -> Any:
    """The tokens [start, end) of entities in documents, pair by pair: where each one's begin, and (mentions, 2).

    The rows of an entity e are `rows[entity_at[e]:entity_at[e+1]]`, ascending.
    """
    m_base, m_at, m_words = mentions_at
    s_base, s_at, s_words = start
    l_base, l_at, l_words = lengths
    at, first = np.zeros(documents.size + 1, dtype=np.int64), np.zeros(documents.size, dtype=np.int64)
    for i in range(documents.size):
        e, d = entities[i], documents[i]
        last = 0
        if e + 1 < entity_at.size:
            low, high, end = entity_at[e], entity_at[e + 1], entity_at[e + 1]
            wanted, behind = get(m_base, m_at, m_words, d), get(m_base, m_at, m_words, d + 1)
            while low < high:
                middle = (low + high) >> 1
                if rows[middle] < wanted:
                    low = middle + 1
                else:
                    high = middle
            first[i], last = low, low
            while last < end and rows[last] < behind:
                last += 1
        at[i + 1] = at[i] + last - first[i]
    spans = np.empty((at[documents.size], 2), dtype=np.int32)
    for i in range(documents.size):
        for k in range(at[i + 1] - at[i]):
            row = rows[first[i] + k]
            token = get(s_base, s_at, s_words, row) - base[documents[i]]
            spans[at[i] + k, 0], spans[at[i] + k, 1] = token, token + get(l_base, l_at, l_words, row)
    return at, spans


@kernel
def _expand(documents: I32, base: I32, at: U32, words: U32) -> I32:
    """The mention rows of some documents; the packed column says where each document's begin."""
    total = 0
    for d in documents:
        total += get(base, at, words, d + 1) - get(base, at, words, d)
    rows = np.empty(total, dtype=np.int32)
    n = 0
    for d in documents:
        for row in range(get(base, at, words, d), get(base, at, words, d + 1)):
            rows[n] = row
            n += 1
    return rows


@kernel
def _rows_of_types(
    rows: I32, types_at: I32, types: I32, mask: NDArray[np.uint8], base: I32, at: U32, words: U32
) -> I32:
    out = np.empty(rows.size, dtype=np.int32)
    n = 0
    for row in rows:
        e = np.uintp(get(base, at, words, row))
        for j in range(types_at[e], types_at[e + np.uintp(1)]):
            if mask[np.uintp(types[np.uintp(j)])]:
                out[n] = row
                n += 1
                break
    return out[:n]


@kernel
def _decode(rows: I32, base: I32, documents: Any, starts: Any, lengths: Any, document: I32, place: I32) -> None:
    """Documents, starts and lengths are packed columns: their bases, places and words."""
    U = np.uintp
    d_base, d_at, d_words = documents
    s_base, s_at, s_words = starts
    l_base, l_at, l_words = lengths
    for k in range(rows.size):
        i = U(k)
        row = rows[i]
        d = get(d_base, d_at, d_words, row)
        start = get(s_base, s_at, s_words, row)
        document[i] = d
        place[i, U(0)] = start
        place[i, U(1)] = start + get(l_base, l_at, l_words, row)
        place[i, U(2)] = base[U(d)]
        place[i, U(3)] = base[U(d) + U(1)] - np.int32(1)


def number_entities(entity: I32) -> tuple[I32, I32]:
    """The different entities, ascending, and the place of each one among them: a sort by counting."""
    place = np.zeros(int(entity.max()) + 1 if entity.size else 0, dtype=np.int32)
    for a, b in budget.chunks(entity.size):
        _see(entity[a:b], place)
    entities, slot = np.empty(_count_off(place), dtype=np.int32), np.empty(entity.size, dtype=np.int32)
    for a, b in budget.chunks(entity.size):
        _number(entity[a:b], place, slot[a:b], entities)
    return entities, slot


@kernel
def _see(entity: I32, place: I32) -> None:
    for k in range(entity.size):
        place[np.uintp(entity[np.uintp(k)])] = 1


@kernel
def _count_off(place: I32) -> Any:
    """The place of each one that is there among those that are; returns how many are."""
    n = np.int32(0)
    for e in range(place.size):
        n += place[e]
        place[e] = n - place[e]
    return n


@kernel
def _number(entity: I32, place: I32, slot: I32, entities: I32) -> None:
    U = np.uintp
    for k in range(entity.size):
        s = place[U(entity[U(k)])]
        slot[U(k)] = s
        entities[U(s)] = entity[U(k)]


@kernel
def _take(kept: I32, source: Any, out: Any) -> None:
    """Source and out are the rows, documents, places and slots of mentions."""
    U = np.uintp
    row, document, place, slot = source
    out_row, out_document, out_place, out_slot = out
    for k in range(kept.size):
        i, j = U(k), U(kept[U(k)])
        out_row[i] = row[j]
        out_document[i] = document[j]
        out_slot[i] = slot[j]
        out_place[i, U(0)] = place[j, U(0)]
        out_place[i, U(1)] = place[j, U(1)]
        out_place[i, U(2)] = place[j, U(2)]
        out_place[i, U(3)] = place[j, U(3)]
