"""A query to its contexts: in every segment the matching documents, the mentions in them, their distances.

Segments are matched one by one and put together in the order of documents; counts of the whole collection are gathered
first. Knows nothing of scores.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.allowance import claim, claimed
from fader.contexts import nearest
from fader.contexts.columns import Positions, Rows, SentenceStarts, Titles
from fader.contexts.join import JoinedColumns, bounds_of, distinct, lay_sentences
from fader.contexts.occurrences import Occurrences
from fader.contexts.plan import PLANS, choose_plan, find_mentions
from fader.contexts.query import REQUIRED, Literal, Query
from fader.contexts.quota import ContextQuota
from fader.contexts.sought import SoughtLiterals, seek
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.errors import UsageError, quote
from fader.index.encoding.lists import BLOCK
from fader.index.reader import IndexReader
from fader.index.segment import Mentions, Segment
from fader.lazy import cached_property
from fader.limits import DEFAULTS, Limits

I8 = NDArray[np.int8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
_NOTHING = np.empty(0, dtype=np.int32)
U8 = NDArray[np.uint8]
MARKS_BYTES = 4  # of a document, while marks of several literals are joined


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """How contexts are taken.

    `overlap=False` ignores occurrences that overlap the mention; `window` keeps only literals within that many
    tokens, and only mentions that still have one; `plan` forces a plan; `limits` says how many contexts are too many.
    With `stem` a word also occurs where a word of the same stem does, with `entities` a literal that names an entity
    also where that entity is mentioned, and with `relax` a required literal excludes nothing.
    """

    overlap: bool = True
    window: int | None = None
    plan: str | None = None
    limits: Limits = DEFAULTS
    stem: bool = False
    entities: bool = False
    relax: bool = False

    def __post_init__(self) -> None:
        if self.plan is not None and self.plan not in PLANS:
            raise UsageError(f'plan must be "type" or "document", not {quote(self.plan)}')
        if self.window is not None and not (isinstance(self.window, int | float | np.integer) and self.window >= 0):
            raise UsageError(f"window must be at least 0 tokens, not {self.window}")


class SegmentMatch:
    """One query in one segment: its literals' occurrences, and its contexts once matched."""

    def __init__(self, segment: Segment, sought: SoughtLiterals, number: I32 | None = None) -> None:
        self.segment = segment
        self._number = number  # of each document here, in the whole collection; None where that is its place here
        self.literals = [Occurrences(segment, literal) for literal in sought.positive]
        self._terms = [literal.terms for literal in sought.positive]
        self._required = [o for o, r in zip(self.literals, sought.required, strict=True) if r]
        self._forbidden = [Occurrences(segment, literal) for literal in sought.forbidden]
        self.plan = ""
        self.marks = np.zeros(0, dtype=np.uint8)

    @property
    def matching(self) -> int:
        """How many documents match."""
        return int(np.count_nonzero(self.marks))

    def match(self, reader: IndexReader, answer_type: int | None, options: MatchOptions, quota: ContextQuota) -> None:
        """Find the matching documents, the mentions in them, and every literal's distance to these."""
        self._options, self._reader = options, reader
        if self._is_hopeless:
            self.skip()
            return
        claim(MARKS_BYTES * self.segment.documents)
        self.marks = self._matching_documents()
        self.plan = options.plan or choose_plan(self.segment, answer_type, self.matching)
        self._take(find_mentions(self.segment, reader.catalog, answer_type, self.marks, self.plan, quota))
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

    def read_sides(self) -> I8:
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

    def skip(self) -> None:
        """No context can be here: leave the columns empty."""
        self._take(Mentions.none())

    def numbers(self, documents: I32) -> I32:
        """The numbers of some documents in the whole collection."""
        return documents if self._number is None else self._number[documents]

    @property
    def slot(self) -> I32:
        return self.mentions.slot

    @property
    def entities(self) -> I32:
        return self.mentions.entities

    @cached_property
    def document(self) -> I32:
        """The number of each context's document."""
        return self.numbers(self.mentions.document)

    @property
    def columns(self) -> SegmentMatch:
        """A segment finds its further columns itself."""
        return self

    def take(self, rows: Rows) -> SegmentRows:
        return SegmentRows(self, rows)

    def read_start(self) -> I32:
        return self.mentions.place[:, 0] - self.mentions.place[:, 2]

    def read_end(self) -> I32:
        return self.mentions.place[:, 1] - self.mentions.place[:, 2]

    def read_confidence(self) -> F64:
        return self.segment.confidence(self.mentions.row)

    def read_documents(self) -> SegmentValues:
        return SegmentValues(self, self._mentioning())

    def read_matching(self) -> SegmentValues:
        return SegmentValues(self, np.flatnonzero(self.marks).astype(np.int32))

    def _mentioning(self) -> I32:
        """The documents that have a context; those of the mentions ascend."""
        return distinct(self.mentions.document)

    def counts(self, documents: I32) -> I32:
        """tf of each literal in each of the documents."""
        base = self.segment.base
        out = np.zeros((len(self.literals), documents.size), dtype=np.int32)
        for t, occurrences in enumerate(self.literals if documents.size else ()):
            positions = occurrences.all()
            for a, b in budget.chunks(documents.size):
                low, high = base[documents[a:b]], base[documents[a:b] + 1]
                out[t, a:b] = np.searchsorted(positions, high) - np.searchsorted(positions, low)
        return out

    def read_positions(self) -> Positions:
        base, documents = self.segment.base, self._mentioning()
        claim(24 * len(self.literals) * documents.size)
        counts, found = self.counts(documents), [_NOTHING]
        claim(8 * int(counts.sum()))
        for t, occurrences in enumerate(self.literals if documents.size else ()):
            budget.check()
            positions = occurrences.all()
            first = np.searchsorted(positions, base[documents])
            before = np.cumsum(counts[t]) - counts[t]
            with claimed(32 * int(counts[t].sum())):
                place = np.arange(int(counts[t].sum())) + np.repeat(first - before, counts[t])
                found.append((positions[place] - np.repeat(base[documents], counts[t])).astype(np.int32))
        length = np.array([occurrences.length for occurrences in self.literals], dtype=np.int32)
        return Positions(bounds_of(counts), np.concatenate(found), length)

    def read_sentences(self) -> SentenceStarts:
        found = self.segment.sentences(self._mentioning())
        return SentenceStarts(*lay_sentences(found.count, found.gap))

    def read_titles(self) -> Titles:
        documents = np.flatnonzero(self.marks).astype(np.int32)
        if not documents.size:
            return Titles(_NOTHING, _NOTHING, _NOTHING, np.zeros((len(self.literals), 0), dtype=np.uint8))
        place = self._reader.segments.index(self.segment)
        matched = self._reader.title_terms[place].match(documents, self._terms)
        return Titles(self._reader.subjects[place][documents], *matched)


class SegmentRows:
    """What is shown of some contexts of a segment, ascending."""

    def __init__(self, part: SegmentMatch, rows: Rows) -> None:
        self._part, self._rows = part, rows
        self._place = part.mentions.place[rows]

    def read_sides(self) -> I8:
        distances = np.ascontiguousarray(self._part.distances[:, self._rows])
        out = np.zeros(distances.shape, dtype=np.int8)
        first = np.flatnonzero(np.diff(self._place[:, 2], prepend=-1))  # each document once
        low, high = self._place[first, 2], self._place[first, 3]
        for t, occurrences in enumerate(self._part.literals):
            nearest.sides(self._place, occurrences.near(low, high), occurrences.length, distances[t], out[t])
        return out

    def read_start(self) -> I32:
        return self._place[:, 0] - self._place[:, 2]

    def read_end(self) -> I32:
        return self._place[:, 1] - self._place[:, 2]

    def read_confidence(self) -> F64:
        return self._part.segment.confidence(self._part.mentions.row[self._rows])


class SegmentValues:
    """Values of some documents of a segment, each column found when it is read.

    With many segments one column of all of them, then the next, is quicker than all columns of each in turn.
    """

    def __init__(self, part: SegmentMatch, documents: I32) -> None:
        self._part, self._segment, self._documents = part, part.segment, documents
        self.number = part.numbers(documents)

    @property
    def counts(self) -> I32:
        return self._part.counts(self._documents)

    @property
    def length(self) -> I32:
        return self._segment.lengths(self._documents)

    @property
    def distinct(self) -> I64:
        return self._segment.distinct[self._documents].astype(np.int64)

    @property
    def square(self) -> I64:
        return self._segment.square[self._documents].astype(np.int64)

    @property
    def prior(self) -> F64:
        return self._segment.text.priors[self._documents]


def match(reader: IndexReader, query: Query, options: MatchOptions = MatchOptions()) -> Contexts:
    """The contexts of a query."""
    parts = make_parts(reader, query, options)
    statistics = Statistics(reader.documents, reader.tokens, *count_literals(parts, query))
    warnings, impossible = warn_of_unknown(query.literals, statistics, options)
    match_parts(reader, query, parts, options, skip=bool(impossible))
    joined = join_parts(reader, query, parts)
    slot, entities = joined.slots
    budget.check()
    return Contexts(
        query,
        statistics,
        slot=slot,
        entities=entities,
        document=joined.document,
        distances=joined.distances,
        plan=name_plans(p.plan for p in parts),
        warnings=[*query.notes, *warnings],
        empty_because=impossible,
        matched_documents=sum(part.matching for part in parts),
        columns=joined,
    )


def seek_literals(reader: IndexReader, query: Query, options: MatchOptions) -> SoughtLiterals:
    """The literals of a query as they are looked for."""
    required = tuple(is_required and not options.relax for is_required in query.required)
    how = options.stem, options.entities
    return SoughtLiterals(seek(reader, query.literals, *how), required, seek(reader, query.forbidden, *how))


def make_parts(reader: IndexReader, query: Query, options: MatchOptions) -> list[SegmentMatch]:
    """The query in each segment, not matched yet."""
    as_stored, sought = reader.numbered_as_stored, seek_literals(reader, query, options)
    return [SegmentMatch(s, sought, None if as_stored else reader.numbers[i]) for i, s in enumerate(reader.segments)]


def count_literals(parts: Iterable[SegmentMatch], query: Query) -> tuple[I64, I64]:
    """df and cf of each literal, summed over parts."""
    df, cf = np.zeros((2, len(query.literals)), dtype=np.int64)
    for part in parts:
        df += [o.documents for o in part.literals]
        cf += [o.count for o in part.literals]
    return df, cf


def match_parts(
    reader: IndexReader, query: Query, parts: list[SegmentMatch], options: MatchOptions, skip: bool = False
) -> int:
    """Find the contexts of every part, or leave all empty; how many mentions were taken for that."""
    number = None if query.type is None else reader.catalog.resolve_type(query.type)
    quota = ContextQuota(options.limits, len(query.literals))
    for part in parts:
        if skip:
            part.skip()
        else:
            part.match(reader, number, options, quota)
    budget.check()
    return quota.contexts


def join_parts(reader: IndexReader, query: Query, parts: list[SegmentMatch]) -> JoinedColumns:
    """The parts put together."""
    return JoinedColumns(parts, reader, query, reader.numbered_as_stored)


def name_plans(plans: Iterable[str]) -> str:
    """All plans that were chosen, each once."""
    return "+".join(dict.fromkeys(plan for plan in plans if plan))


def warn_of_unknown(
    literals: tuple[Literal, ...], statistics: Statistics, options: MatchOptions
) -> tuple[list[str], str]:
    """Warnings for literals that occur nowhere or are relaxed, and why the answer is empty where one is missing."""
    missing = [lit for lit, df in zip(literals, statistics.df, strict=True) if df == 0]
    demanded = [lit for lit in literals if lit.mode == REQUIRED]
    required = [lit for lit in missing if lit.mode == REQUIRED and not options.relax]
    left_out = [lit for lit in missing if lit not in required]
    warnings = [f"{quote(lit.text)} occurs nowhere in the collection; it is left out" for lit in left_out]
    if demanded and options.relax:
        names = ", ".join(quote("+" + lit.text) for lit in demanded)
        warnings.append(f"this model prefers documents with {names}, and excludes none for lacking it")
    if required:
        return (
            warnings,
            f"no answer: the required {quote(required[0].text)} occurs nowhere in the collection",
        )
    if len(missing) == len(literals):
        return warnings, "no answer: none of the words occurs in the collection"
    return warnings, ""
