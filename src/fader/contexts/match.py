"""A query to its contexts: in every segment the matching documents, the mentions in them, their distances.

Segments are matched one by one and laid end to end; counts of the whole collection are gathered first. Knows
nothing of scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.contexts import nearest
from fader.contexts.occurrences import Occurrences
from fader.contexts.plan import PLANS, choose, mentions_in
from fader.contexts.query import Literal, Query
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts, DocumentValues, Positions
from fader.errors import UsageError, quoted
from fader.index.lists import BLOCK
from fader.index.reader import IndexReader
from fader.index.segment import Mentions, Segment
from fader.kernel import kernel

I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """How contexts are taken.

    `overlap=False` ignores occurrences that overlap the mention; `window` keeps only literals within that many
    tokens, and only mentions that still have one; `plan` forces a plan.
    """

    overlap: bool = True
    window: int | None = None
    plan: str | None = None

    def __post_init__(self) -> None:
        if self.plan is not None and self.plan not in PLANS:
            raise UsageError(f'plan must be "type" or "document", not {quoted(self.plan)}')
        if self.window is not None and self.window < 0:
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

    def match(self, reader: IndexReader, answer_type: int | None, options: MatchOptions) -> None:
        """Find the matching documents, the mentions in them, and every literal's distance to these."""
        self.marks = self._matching_documents()
        self.plan = options.plan or choose(self.segment, answer_type, self.matching)
        self._take(mentions_in(self.segment, reader.catalog, answer_type, self.marks, self.plan))
        self._options = options
        for t in range(len(self.literals)):
            self._locate(t)
        if options.window is not None:
            self._apply_window(options.window)

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
            out[t] = np.searchsorted(positions, base[documents + 1]) - np.searchsorted(positions, base[documents])
        return out

    def positions(self, documents: I32, counts: I32) -> list[I32]:
        """The tokens at which each literal begins, counted in their documents, document after document."""
        base, found = self.segment.base, []
        for t, occurrences in enumerate(self.literals):
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
    for part in parts:
        if impossible:
            part.skip()
        else:
            part.match(reader, number, options)
    columns = _Columns(reader, parts)
    slot, entities = columns.slots()
    return Contexts(
        query, statistics,
        slot=slot,
        entities=entities,
        document=columns.documents(),
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
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=axis)

    def slots(self) -> tuple[I32, I32]:
        """The slot of each row's entity, and the entities that the slots stand for, in all parts alike."""
        if len(self._parts) == 1:
            return self._parts[0].mentions.slot, self._parts[0].mentions.entities
        own = [part.mentions.entities for part in self._parts]
        joined = np.concatenate([np.empty(0, dtype=np.int32), *own])
        joined.sort(kind="stable")  # a merge, since each part's entities ascend
        entities = joined[np.flatnonzero(np.diff(joined, prepend=-1))]
        slots = [_places(e, entities)[part.mentions.slot] for e, part in zip(own, self._parts, strict=True)]
        return np.concatenate([np.empty(0, dtype=np.int32), *slots]), entities

    def documents(self) -> I32:
        first = iter(self._reader.first_document)
        documents: I32 = self.joined(lambda p: p.mentions.document + np.int32(next(first)))
        return documents

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
        return self._values([np.unique(part.mentions.document) for part in self._parts])

    def _late_matching(self) -> DocumentValues:
        return self._values([np.flatnonzero(part.marks) for part in self._parts])

    def _values(self, local: list[Any]) -> DocumentValues:
        """Values of some documents of each part, among which are those of all contexts."""
        first = self._reader.first_document
        number = np.concatenate([np.empty(0, dtype=np.int64), *(f + d for f, d in zip(first, local, strict=False))])

        def joined(column: Any, axis: int = 0) -> Any:
            pairs = zip(self._parts, local, strict=True)
            return np.concatenate([column(part, docs) for part, docs in pairs], axis=axis)

        return DocumentValues(
            row=np.searchsorted(number, self.documents()).astype(np.int32),
            number=number.astype(np.int32),
            counts=joined(lambda p, d: p.counts(d), axis=1),
            length=joined(lambda p, d: p.segment.lengths(d)),
            distinct=joined(lambda p, d: p.segment.distinct[d].astype(np.int64)),
            square=joined(lambda p, d: p.segment.square[d].astype(np.int64)),
            prior=joined(lambda p, d: p.segment.text.priors[d]),
        )

    def _late_positions(self) -> Positions:
        local = [np.unique(part.mentions.document) for part in self._parts]
        counts = [part.counts(documents) for part, documents in zip(self._parts, local, strict=True)]
        found = [part.positions(d, c) for part, d, c in zip(self._parts, local, counts, strict=True)]
        literals = len(self._parts[0].literals) if self._parts else 0
        start = [part[t] for t in range(literals) for part in found]
        ends = np.cumsum(np.concatenate(counts, axis=1).reshape(-1), dtype=np.int64)
        at = np.empty((literals, sum(d.size for d in local) + 1), dtype=np.int64)
        at[:, 1:] = ends.reshape(literals, -1)
        at[:, 0] = np.concatenate([[0], at[:-1, -1]])
        length = np.array([o.length for o in self._parts[0].literals], dtype=np.int32)
        return Positions(at, np.concatenate([np.empty(0, dtype=np.int32), *start]), length)
