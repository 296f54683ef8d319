"""A query to its contexts: in every segment the matching documents, the mentions in them, their distances.

Segments are matched one by one and put together in the order of documents; counts of the whole collection are gathered
first. Knows nothing of scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts import nearest
from fader.contexts.occurrences import Occurrences
from fader.contexts.plan import PLANS, choose, mentions_in
from fader.contexts.query import Literal, Query
from fader.contexts.room import Room
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts, DocumentValues, Positions
from fader.errors import UsageError, quoted
from fader.index.lists import BLOCK
from fader.index.reader import IndexReader
from fader.index.segment import Mentions, Segment
from fader.kernel import kernel
from fader.limits import DEFAULTS, Limits

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """How contexts are taken.

    `overlap=False` ignores occurrences that overlap the mention; `window` keeps only literals within that many
    tokens, and only mentions that still have one; `plan` forces a plan; `limits` says how many contexts are too many.
    """

    overlap: bool = True
    window: int | None = None
    plan: str | None = None
    limits: Limits = DEFAULTS

    def __post_init__(self) -> None:
        if self.plan is not None and self.plan not in PLANS:
            raise UsageError(f'plan must be "type" or "document", not {quoted(self.plan)}')
        if self.window is not None and not (isinstance(self.window, int | float | np.integer) and self.window >= 0):
            raise UsageError(f"window must be at least 0 tokens, not {self.window}")


class SegmentMatch:
    """One query in one segment: its literals' occurrences, and its contexts once matched."""

    def __init__(self, segment: Segment, query: Query) -> None:
        self.segment = segment
        self.literals = [Occurrences(segment, literal) for literal in query.literals]
        self._required = [o for o, r in zip(self.literals, query.required, strict=True) if r]
        self._forbidden = [Occurrences(segment, literal) for literal in query.forbidden]
        self.plan = ""
        self.marks = np.zeros(0, dtype=np.uint8)

    @property
    def matching(self) -> int:
        """How many documents match."""
        return int(np.count_nonzero(self.marks))

    def match(self, reader: IndexReader, answer_type: int | None, options: MatchOptions, room: Room) -> None:
        """Find the matching documents, the mentions in them, and every literal's distance to these."""
        self._options = options
        if self._is_hopeless:
            self.skip()
            return
        self.marks = self._matching_documents()
        self.plan = options.plan or choose(self.segment, answer_type, self.matching)
        self._take(mentions_in(self.segment, reader.catalog, answer_type, self.marks, self.plan, room))
        for t in range(len(self.literals)):
            self._locate(t)
        if options.window is not None:
            self._apply_window(options.window)

    @property
    def _is_hopeless(self) -> bool:
        """Whether no document can match: a required literal is in none, or every literal is."""
        if self._required:
            return any(o.most == 0 for o in self._required)
        return all(o.most == 0 for o in self.literals)

    def _matching_documents(self) -> U8:
        """1 for each document with all required literals, no forbidden one, and one literal at least."""
        if self._required:
            rarest, *others = sorted(self._required, key=lambda o: o.most)
            marks = rarest.marks()
            for occurrences in others:
                marks = occurrences.marks_within(marks)
        else:
            marks = np.zeros(self.segment.documents, dtype=np.uint8)
            for occurrences in self.literals:
                occurrences.mark(occurrences.all(), marks)
        for occurrences in self._forbidden:
            marks &= 1 - occurrences.marks_within(marks)
        return marks

    def _take(self, mentions: Mentions) -> None:
        self.mentions = mentions
        self.distances = np.empty((len(self.literals), len(mentions)), dtype=np.int32)

    def _locate(self, t: int) -> None:
        """Find literal t's distances."""
        if self.literals[t].most == 0:
            self.distances[t] = -1
            return
        locate = nearest.distances if self._options.overlap else nearest.distances_beside
        locate(self.mentions.place, *self._positions(t), self.distances[t])

    def sides(self) -> NDArray[np.int8]:
        """The side of the nearest occurrence of each literal."""
        out = np.zeros(self.distances.shape, dtype=np.int8)
        for t in range(len(self.literals)):
            nearest.sides(self.mentions.place, *self._positions(t), self.distances[t], out[t])
        return out

    def _positions(self, t: int) -> tuple[I32, int]:
        """Literal t's occurrences that can matter, and its length."""
        occurrences = self.literals[t]
        # So few contexts are left that most blocks of the literal's postings need no decoding.
        selective = len(self.mentions) * 4 < occurrences.most // BLOCK
        positions = occurrences.near(*self._ranges()) if selective else occurrences.all()
        return positions, occurrences.length

    def _ranges(self) -> tuple[I32, I32]:
        """The contexts' documents as ranges of positions, each once."""
        first = np.flatnonzero(np.diff(self.mentions.document, prepend=-1))
        return self.mentions.place[first, 2], self.mentions.place[first, 3]

    def _apply_window(self, window: int) -> None:
        """Literals farther than the window are absent, and a mention without any is no context."""
        self.distances[self.distances > window] = -1
        near = np.flatnonzero((self.distances >= 0).any(axis=0)).astype(np.int32)
        self.mentions = self.mentions.take(near)
        self.distances = np.ascontiguousarray(self.distances[:, near])

    def offset(self, column: int) -> I32:
        """Start (0) or end (1) of the mentions as token offsets in their documents."""
        place = self.mentions.place
        return place[:, column] - place[:, 2]

    def skip(self) -> None:
        """No context can be here: leave the columns empty."""
        self._take(Mentions.none())

    def counts(self, documents: I32) -> I32:
        """tf of each literal in each of the documents."""
        base = self.segment.base
        out = np.zeros((len(self.literals), documents.size), dtype=np.int32)
        for t, occurrences in enumerate(self.literals):
            positions = occurrences.all()
            for a, b in budget.pieces(documents.size):
                low, high = base[documents[a:b]], base[documents[a:b] + 1]
                out[t, a:b] = np.searchsorted(positions, high) - np.searchsorted(positions, low)
        return out

    def positions(self, documents: I32, counts: I32) -> list[I32]:
        """The tokens at which each literal begins, counted in their documents, document after document."""
        base, found = self.segment.base, []
        for t, occurrences in enumerate(self.literals):
            budget.check()
            positions = occurrences.all()
            first = np.searchsorted(positions, base[documents])
            before = np.cumsum(counts[t]) - counts[t]
            place = np.arange(int(counts[t].sum())) + np.repeat(first - before, counts[t])
            found.append((positions[place] - np.repeat(base[documents], counts[t])).astype(np.int32))
        return found


def match(reader: IndexReader, query: Query, options: MatchOptions = MatchOptions()) -> Contexts:  # noqa: B008
    """The contexts of a query."""
    number = None if query.type is None else reader.catalog.resolve_type(query.type)
    parts = [SegmentMatch(segment, query) for segment in reader.segments]
    statistics = _statistics(reader, parts, len(query.literals))
    warnings, impossible = _unknown(query.literals, statistics)
    room = Room(options.limits, len(query.literals))
    for part in parts:
        if impossible:
            part.skip()
        else:
            part.match(reader, number, options, room)
    budget.check()
    columns = _Columns(reader, parts)
    slot, entities = columns.slots()
    budget.check()
    return Contexts(
        query, statistics,
        slot=slot,
        entities=entities,
        document=columns.documents,
        distances=columns.joined(lambda p: p.distances, axis=1),
        plan="+".join(dict.fromkeys(p.plan for p in parts if p.plan)),
        warnings=[*query.notes, *warnings],
        empty_because=impossible,
        matched_documents=sum(part.matching for part in parts),
        late=columns.late,
    )  # fmt: skip


def _statistics(reader: IndexReader, parts: list[SegmentMatch], literals: int) -> Statistics:
    df, cf = np.zeros(literals, dtype=np.int64), np.zeros(literals, dtype=np.int64)
    for part in parts:
        df += [o.documents for o in part.literals]
        cf += [o.count for o in part.literals]
    return Statistics(reader.documents, reader.tokens, df, cf)


def _unknown(literals: tuple[Literal, ...], statistics: Statistics) -> tuple[list[str], str]:
    """Warnings for literals that occur nowhere, and why the answer is empty where one of them is required."""
    missing = [lit for lit, df in zip(literals, statistics.df, strict=True) if df == 0]
    required = [lit for lit in missing if lit.mode == "required"]
    left_out = [lit for lit in missing if lit.mode != "required"]
    warnings = [f"{quoted(lit.text)} occurs nowhere in the collection; it is left out" for lit in left_out]
    if required:
        return (
            warnings,
            f"no answer: the required {quoted(required[0].text)} occurs nowhere in the collection",
        )
    if len(missing) == len(literals):
        return warnings, "no answer: none of the words occurs in the collection"
    return warnings, ""


@kernel
def _places(some: I32, all_: I32) -> I32:
    """The place of each of some ascending numbers among all of them, which ascend too."""
    out = np.empty(some.size, dtype=np.int32)
    j = 0
    for i in range(some.size):
        while all_[j] < some[i]:
            j += 1
        out[i] = j
    return out


class _Columns:
    """Columns of the whole table from those of its parts."""

    def __init__(self, reader: IndexReader, parts: list[SegmentMatch]) -> None:
        self._reader, self._parts = reader, parts

    def joined(self, column: Any, axis: int = 0) -> Any:
        arrays = [column(part) for part in self._parts]
        joined = arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=axis)
        return joined if self._order is None else _taken(joined, self._order, axis)

    @cached_property
    def _order(self) -> I64 | None:
        """The rows of the parts, laid end to end, in the order of their documents; None where they are in it."""
        return None if self._reader.numbered_as_stored else _ascending(*self._as_laid)

    @cached_property
    def _as_laid(self) -> tuple[I32, I64]:
        """The numbers of the rows' documents, part after part, and where each part begins."""
        return self._numbers([part.mentions.document for part in self._parts])

    def _numbers(self, local: list[I32]) -> tuple[I32, I64]:
        """The numbers of some documents of each part, laid end to end, and where each part begins."""
        if self._reader.numbered_as_stored:
            return local[0], np.array([0, local[0].size])
        found = [number[d] for number, d in zip(self._reader.numbers, local, strict=True)]
        return np.concatenate(found), np.cumsum([0, *(f.size for f in found)])

    def slots(self) -> tuple[I32, I32]:
        """The slot of each row's entity, and the entities that the slots stand for, in all parts alike."""
        if len(self._parts) == 1:
            return self._parts[0].mentions.slot, self._parts[0].mentions.entities
        own = [part.mentions.entities for part in self._parts]
        joined = np.concatenate([np.empty(0, dtype=np.int32), *own])
        joined.sort(kind="stable")  # a merge, since each part's entities ascend
        entities = joined[np.flatnonzero(np.diff(joined, prepend=-1))]
        places = iter([_places(e, entities) for e in own])
        return self.joined(lambda p: next(places)[p.mentions.slot]), entities

    @cached_property
    def documents(self) -> I32:
        """The number of each row's document."""
        return self._as_laid[0] if self._order is None else _taken(self._as_laid[0], self._order)

    def late(self, name: str) -> Any:
        """A column that is found only when it is asked for."""
        return getattr(self, f"_late_{name}")()

    def _late_confidence(self) -> Any:
        return self.joined(lambda p: p.segment.confidence(p.mentions.row))

    def _late_sides(self) -> Any:
        return self.joined(lambda p: p.sides(), axis=1)

    def _late_start(self) -> Any:
        return self.joined(lambda p: p.offset(0))

    def _late_end(self) -> Any:
        return self.joined(lambda p: p.offset(1))

    def _late_entity_name_of(self) -> Any:
        return self._reader.catalog.entity_ids.__getitem__

    def _late_document_name_of(self) -> Any:
        return self._reader.document_id

    def _late_entity_documents(self) -> Any:
        return self._reader.entity_documents[self.slots()[1]]

    def _late_documents(self) -> DocumentValues:
        return self._values(self._mentioning())

    def _mentioning(self) -> list[I32]:
        """The documents of each part that have a context; those of its mentions ascend."""
        found = [part.mentions.document for part in self._parts]
        return [documents[np.flatnonzero(np.diff(documents, prepend=-1))] for documents in found]

    def _late_matching(self) -> DocumentValues:
        return self._values([np.flatnonzero(part.marks) for part in self._parts])

    def _values(self, local: list[Any]) -> DocumentValues:
        """Values of some documents of each part, among which are those of all contexts."""
        number, ends = self._numbers([documents.astype(np.int32) for documents in local])
        order = _ascending(number, ends)

        def joined(column: Any, axis: int = 0) -> Any:
            pairs = zip(self._parts, local, strict=True)
            values = np.concatenate([column(part, docs) for part, docs in pairs], axis=axis)
            return values if order is None else _taken(values, order, axis)

        number = number if order is None else number[order]
        documents = self.documents
        row = budget.gathered(len(documents), lambda a, b: np.searchsorted(number, documents[a:b]).astype(np.int32))
        return DocumentValues(
            row=row,
            number=number,
            counts=joined(lambda p, d: p.counts(d), axis=1),
            length=joined(lambda p, d: p.segment.lengths(d)),
            distinct=joined(lambda p, d: p.segment.distinct[d].astype(np.int64)),
            square=joined(lambda p, d: p.segment.square[d].astype(np.int64)),
            prior=joined(lambda p, d: p.segment.text.priors[d]),
        )

    def _late_positions(self) -> Positions:
        local = self._mentioning()
        counts = [part.counts(documents) for part, documents in zip(self._parts, local, strict=True)]
        found = [part.positions(d, c) for part, d, c in zip(self._parts, local, counts, strict=True)]
        literals = len(self._parts[0].literals) if self._parts else 0
        start = np.concatenate([np.empty(0, dtype=np.int32), *(part[t] for t in range(literals) for part in found)])
        size, order = np.concatenate(counts, axis=1), _ascending(*self._numbers(local))
        if order is not None:
            start, size = _lists_in_order(start, size, order)
        at = np.zeros((literals, size.shape[1] + 1), dtype=np.int64)
        at[:, 1:] = np.cumsum(size.reshape(-1), dtype=np.int64).reshape(literals, -1)
        at[:, 0] = np.concatenate([[0], at[:-1, -1]])
        length = np.array([o.length for o in self._parts[0].literals], dtype=np.int32)
        return Positions(at, start, length)


def _taken(values: Any, order: I64, axis: int = 0) -> Any:
    """Values, or columns of an array of literals (axis 1), in another order."""
    if axis == 0:
        return budget.gathered(order.size, lambda a, b: values[order[a:b]])
    out = np.empty((values.shape[0], order.size), dtype=values.dtype)
    for t in range(values.shape[0]):
        for a, b in budget.pieces(order.size):
            out[t, a:b] = values[t][order[a:b]]
    return out


def _ascending(numbers: I32, ends: I64) -> I64 | None:
    """What puts numbers in order, equal ones as they stand; None where they are in order.

    Parts are in order as a rule, and few: merging them, small ones first, is quicker than sorting.
    """
    rises = numbers[1:] >= numbers[:-1]
    if rises.all():
        return None
    parts = [np.arange(a, b) for a, b in pairwise(ends.tolist()) if b > a]
    if not all(rises[part[0] : part[-1]].all() for part in parts):
        return np.argsort(numbers, kind="stable")
    while len(parts) > 1:
        budget.check()
        parts.sort(key=len, reverse=True)
        parts.append(_merged(numbers, parts.pop(), parts.pop()))
    return parts[0]


@kernel
def _merged(numbers: I32, a: I64, b: I64) -> I64:
    """Two lists of rows, each in the order of its numbers, as one. No number is in both."""
    U = np.uintp
    out = np.empty(a.size + b.size, dtype=np.int64)
    i, j = 0, 0
    for k in range(out.size):
        if j == b.size or (i < a.size and numbers[U(a[U(i)])] < numbers[U(b[U(j)])]):
            out[U(k)] = a[U(i)]
            i += 1
        else:
            out[U(k)] = b[U(j)]
            j += 1
    return out


def _lists_in_order(values: I32, size: I32, order: I64) -> tuple[I32, I32]:
    """Lists laid end to end, `size[t, j]` long, with the columns j in another order."""
    begin = np.cumsum(size.reshape(-1), dtype=np.int64).reshape(size.shape) - size
    size, begin = size[:, order], begin[:, order]
    flat = size.reshape(-1)
    shift = begin.reshape(-1) - (np.cumsum(flat, dtype=np.int64) - flat)
    return values[np.arange(values.size) + np.repeat(shift, flat)], size
