"""One query by the fused path: lists found, program written, windows ranked, the rows to show located.

A ranker belongs to a reader and is safe to share among threads: lists are shared, scratch is per thread. Every bound
that the kernels rely on is checked here; a query beyond one of them is ranked through the table, which gives the same
answer. Knows nothing of particular systems or features.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.aggregate.base import Aggregator
from fader.contexts.around import Companions, take_lists
from fader.contexts.columns import (
    DocumentValues,
    EntityDetails,
    GivenColumns,
    MentionColumns,
    Positions,
    Rows,
    SentenceStarts,
    TakenRows,
    Titles,
)
from fader.contexts.match import MatchOptions, seek_literals, warn_of_unknown
from fader.contexts.plan import count_listed
from fader.contexts.policy import Evidence
from fader.contexts.query import Query
from fader.contexts.quota import ContextQuota
from fader.contexts.sought import SoughtLiterals
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.errors import LimitError
from fader.features.fused import EntityColumn
from fader.features.noprox import bm25_scores
from fader.fused import kernels
from fader.fused.arena import Arena, FullError, LiteralList, TypeList
from fader.fused.focus import FocusedColumns, hold_documents
from fader.fused.kernels import Documents, Lists, Pairs, Program, Scratch
from fader.fused.lists import find_literal, find_type
from fader.fused.program import write_program
from fader.index.reader import IndexReader
from fader.rank.ranking import ShownContexts, choose_contexts, order_entities
from fader.rank.rerank import Reranking, choose_candidates, join_values, keep_best
from fader.rank.system import FusedMaker, FusedScoring, Ranking, System

F64 = NDArray[np.float64]
I8 = NDArray[np.int8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
ARENA = 1 << 26  # integers: 256 MB, of which only what is used takes memory
MOST_LITERALS = 64
ROWS = 8192  # mentions of a window, or as many as 64 documents may have
MOST_CODES = 1 << 24  # codes of a window
ROWS_PER_CALL = 1 << 17  # mentions between two checks of the clock: a few milliseconds
KEPT_COLUMNS = 64
EAGER = 1 << 14  # mentions of a type that are decoded for its first query
SHARED = 3  # of so many parts of the arena one is for codes that queries share
COMMON_MENTIONS = 1 << 14  # of a type from which on codes of common literals are shared
ALL = np.array([-1], dtype=np.int32)
NO_INTEGERS = np.empty(0, dtype=np.int32)
NO_PAIRS = Pairs(NO_INTEGERS, np.empty(0), NO_INTEGERS)


@dataclass(frozen=True, slots=True)
class _Matched:
    """A query with its lists; `type` is the number of the answer type."""

    query: Query
    statistics: Statistics
    type: int | None
    mentions: TypeList
    lists: Lists

    @property
    def entities(self) -> I32:
        at = self.mentions.entity
        return self.lists.integers[at : at + self.mentions.slots]


class _Room(threading.local):
    """Scratch and pairs of one thread, grown when a query needs more."""

    scratch: Scratch | None = None
    pairs: Pairs = NO_PAIRS


@final
class FusedRanker:
    """Ranks queries of one reader. `integers` is how much room decoded lists have; with 0 it ranks nothing.

    A type of more than `eager` mentions is decoded when it is asked for again: for one query the table is quicker.
    """

    def __init__(self, reader: IndexReader, integers: int = ARENA, eager: int = EAGER) -> None:
        self._reader, self._integers, self._eager = reader, integers, eager
        self._asked: set[int | None] = set()
        self._arena, self._lock = Arena(integers), threading.Lock()
        self._room = _Room()
        self._columns: dict[Hashable, F64] = {}
        self._types: dict[str, int] = {}
        self._counts = reader.documents, reader.tokens

    def rank(
        self, query: Query, options: MatchOptions, system: System, k: int, best: int
    ) -> tuple[Contexts, Ranking, int, ShownContexts | None] | None:
        """The k best entities, a table of the `best` rows of each that contribute most, how many contexts there are,
        and which rows are whose. None: the system or the query has no fused form.
        """
        make = system.prepare_fused()
        view = system.view
        if system.reranking is not None and (not view.top or view.window is not None or view.policy != "mention"):
            return None  # all contexts of candidates, and ranks of their documents, are needed
        literals = max(len(query.literals), len(query.forbidden))
        if make is None or not self._integers or literals > MOST_LITERALS:
            return None
        matched = self._match(query, options)
        if matched is None:
            return None
        warnings, impossible = warn_of_unknown(query.literals, matched.statistics, options)
        table = Contexts(
            query,
            matched.statistics,
            *(NO_INTEGERS, NO_INTEGERS, NO_INTEGERS),
            np.empty((len(query.literals), 0), dtype=np.int32),
            plan="fused",
            warnings=[*query.notes, *warnings],
            empty_because=impossible,
        )
        if impossible:
            return table, _rank(NO_INTEGERS, np.empty(0), np.empty(0, dtype=np.int64), k), 0, None
        scratch = self._make_scratch(matched)
        if scratch is None:
            return None
        scoring = self._make_scoring(make, matched.statistics)
        chosen, values, total = ALL, None, None
        if scoring.documents is not None or system.view.top:
            if scoring.documents is not None and not system.view.takes_all:
                return None  # contexts outside of the chosen documents would have to be found to be counted
            chosen, values, total = self._choose_documents(matched, system, scoring, scratch, table)
        program = write_program(
            scoring,
            system.view,
            lambda column: self._value_entities(matched, column),
            lambda: self._read_confidence(matched),
            values,
            keep=best > 0,
        )
        if program is None:
            return None
        quota = ContextQuota(options.limits, len(query.literals))
        try:
            self._run(matched, program, chosen, scratch, quota)
            state = scratch.state
            if values is None and chosen is ALL:
                table.matched_documents = int(state[kernels.MATCHED])
            slots, entity_values, counts = self._value(matched, scoring.aggregator, program, scratch)
            total = int(state[kernels.CONTEXTS]) if total is None else total
            if system.reranking is not None:
                again = self._rerank(
                    matched, table, system.reranking, slots, entity_values, counts, program, scratch, chosen, k, best
                )
                return None if again is None else (again[0], again[1], total, again[2])
            ranking = _rank(matched.entities[slots], entity_values, counts, k)
            if not best:
                return table, ranking, total, None
            table, ranking, shown = self._show(
                matched, table, ranking, slots, scoring.aggregator, program, scratch, best
            )
            return table, ranking, total, shown
        finally:
            touched = scratch.touched[: scratch.state[kernels.TOUCHED]]
            scratch.total[touched, 1] = 0.0

    def _make_scoring(self, make: FusedMaker, statistics: Statistics) -> FusedScoring:
        """The system as data; the largest distance is that of two tokens of the longest document."""
        return make(statistics, self._farthest)

    @cached_property
    def _documents(self) -> Documents:
        """Lengths and counts of all documents, by their numbers."""
        reader = self._reader
        if reader.numbered_as_stored:
            (segment,) = reader.segments
            length = np.diff(segment.base) - np.int32(1)
            return Documents(length, segment.distinct.astype(np.int64), segment.square.astype(np.int64), ALL)
        length = np.zeros(reader.documents, dtype=np.int32)
        distinct, square = np.zeros((2, reader.documents), dtype=np.int64)
        for segment, numbers in zip(reader.segments, reader.numbers, strict=True):
            alive = np.flatnonzero(numbers >= 0).astype(np.int32)
            length[numbers[alive]] = segment.lengths(alive)
            distinct[numbers[alive]], square[numbers[alive]] = segment.distinct[alive], segment.square[alive]
        return Documents(length, distinct, square, ALL)

    @cached_property
    def _priors(self) -> F64:
        """The prior of every document, by number."""
        out = np.ones(self._reader.documents)
        for segment, numbers in zip(self._reader.segments, self._reader.numbers, strict=True):
            alive = np.flatnonzero(numbers >= 0)
            out[numbers[alive]] = segment.text.priors[alive]
        return out

    @cached_property
    def _farthest(self) -> int:
        return int(self._documents.length.max(initial=0))

    def _match(self, query: Query, options: MatchOptions) -> _Matched | None:
        """The lists of a query; None where they are too large."""
        reader = self._reader
        number = None if query.type is None else self._resolve_type(query.type)
        sought = seek_literals(reader, query, options)
        for _try in range(2):
            arena = self._arena
            try:
                if arena.find(("type", number)) is None:
                    listed = sum(count_listed(segment, number) for segment in reader.segments)
                    ContextQuota(options.limits, len(query.literals)).check_list(listed)
                    if listed > self._eager and number not in self._asked:
                        self._asked.add(number)
                        return None
                mentions = find_type(arena, reader, number)
                found = [find_literal(arena, reader, one) for one in sought.positive]
                forbidden = [find_literal(arena, reader, one) for one in sought.forbidden]
            except FullError:
                self._begin_anew(arena)
                continue
            except LimitError:  # another plan may do without the whole list
                return None
            required = (*sought.required, *(False for _one in forbidden))
            each = zip((*found, *forbidden), (*sought.positive, *sought.forbidden), required, strict=True)
            described = [(*at[:4], one.length, is_required, -1) for at, one, is_required in each]
            columns = np.array(described, dtype=np.int64)
            df, cf = columns[: len(found), kernels.DOCUMENTS].copy(), np.array([at.occurrences for at in found])
            lists = Lists(
                arena.integers,
                arena.words,
                columns[: len(found)],
                columns[len(found) :],
                *(mentions.bits, mentions.rank, mentions.at, mentions.start, mentions.end, mentions.slot),
            )
            self._share_codes(arena, sought, number, mentions, lists)
            return _Matched(query, Statistics(*self._counts, df, cf), number, mentions, lists)
        return None

    def _begin_anew(self, full: Arena) -> None:
        """Replace an arena that is full, unless another thread has done so."""
        with self._lock:
            if self._arena is full:
                self._arena = Arena(self._integers)

    def _share_codes(
        self, arena: Arena, sought: SoughtLiterals, number: int | None, mentions: TypeList, lists: Lists
    ) -> None:
        """Point literals that most documents have, many times over, to their codes at all mentions of the type."""
        documents = lists.literals[:, kernels.DOCUMENTS]
        if mentions.mentions < COMMON_MENTIONS or 2 * int(documents.max()) < self._counts[0]:
            return

        def find_codes(own: Arena, t: int) -> LiteralList:
            budget.check()
            at = own.reserve(mentions.mentions, SHARED)
            own.integers[at : at + mentions.mentions] = 0
            kernels.find_all_codes(lists, lists.literals[t], at)
            return LiteralList(at, 0, 0, 0, 0)

        for t in np.flatnonzero(2 * documents >= self._counts[0]).tolist():
            key = ("codes", sought.positive[t], number)
            try:
                lists.literals[t, kernels.NEAR] = arena.enter(key, partial(find_codes, t=t)).document
            except FullError:  # it does without
                return

    def _resolve_type(self, name: str) -> int:
        number = self._types.get(name)
        if number is None:
            self._types[name] = number = self._reader.catalog.resolve_type(name)
        return number

    def _make_scratch(self, matched: _Matched) -> Scratch | None:
        """The scratch of this thread, large enough for a query and reset; None where it would be too large."""
        literals, rows, slots = (
            len(matched.query.literals),
            max(ROWS, 64 * matched.mentions.longest),
            matched.mentions.slots,
        )
        if literals * rows > MOST_CODES:
            return None
        scratch = self._room.scratch
        if (
            scratch is None
            or scratch.score.size < rows
            or scratch.code.size < literals * (rows + kernels.LANES)
            or scratch.counts.size < literals * kernels.WINDOW
            or len(scratch.total) < slots
        ):
            scratch = self._room.scratch = _new_scratch(literals, rows, slots, scratch)
        scratch.state[:] = 0
        scratch.pointer[:] = 0
        scratch.memo_key[:] = 0
        return scratch

    def _choose_documents(
        self, matched: _Matched, system: System, scoring: FusedScoring, scratch: Scratch, table: Contexts
    ) -> tuple[I32, F64 | None, int | None]:
        """The matching documents that can count, the value of each where documents have one, and how many contexts
        there are where not all of them are in these documents.
        """
        literals, documents = matched.lists.literals, self._documents
        most = min(int(literals[:, kernels.DOCUMENTS].sum()), documents.length.size)
        found, counts = np.empty(most + 1, dtype=np.int32), np.zeros((len(literals), most + 1), dtype=np.int32)
        count = kernels.match_documents(matched.lists, documents.length.size, scratch, found, counts)
        budget.check()
        scratch.pointer[:] = 0
        number = found[:count]
        matching = DocumentValues(
            row=NO_INTEGERS,
            number=number,
            counts=np.ascontiguousarray(counts[:, :count]),
            length=documents.length[number],
            distinct=documents.distinct[number],
            square=documents.square[number],
            prior=self._priors[number],
        )
        table.matched_documents = count
        kept: NDArray[np.bool_] | None = None
        values, total = None, None
        if scoring.documents is not None:
            whole = Contexts(
                table.query,
                table.statistics,
                *(NO_INTEGERS, NO_INTEGERS, NO_INTEGERS, table.distances, ""),
                matched_documents=count,
                columns=GivenColumns(matching=matching),
            )
            values, kept = scoring.documents(whole)
            total = int(kernels.count_mentions(matched.lists, number))
        elif count > system.view.top:
            kept = _choose_best(bm25_scores(table.statistics, matching), system.view.top)
        if kept is not None:
            place = np.flatnonzero(kept)
            number, values = number[place], None if values is None else values[place]
        return (number if number.size else np.array([documents.length.size], dtype=np.int32)), values, total

    def _value_entities(self, matched: _Matched, column: EntityColumn) -> F64:
        """A column of entities for the slots of the type."""
        key = (column.key, matched.type)
        found = self._columns.get(key)
        if found is None or found.size != matched.mentions.slots:
            found = column.values(self._reader.entity_documents[matched.entities])
            self._keep_column(key, found)
        return found

    def _read_confidence(self, matched: _Matched) -> F64:
        """The confidence of every mention of the type."""
        key = ("confidence", matched.type)
        found = self._columns.get(key)
        if found is None:
            rows = np.arange(matched.mentions.mentions, dtype=np.int32)
            found = self._confidence_of(matched, rows, self._documents_of(matched, rows))
            self._keep_column(key, found)
        return found

    def _keep_column(self, key: Hashable, column: F64) -> None:
        if len(self._columns) >= KEPT_COLUMNS:
            self._columns.clear()
        self._columns[key] = column

    def _documents_of(self, matched: _Matched, rows: I32) -> I32:
        out = np.empty(rows.size, dtype=np.int32)
        kernels.find_documents(matched.lists, rows, self._documents.length.size, out)
        return out

    def _confidence_of(self, matched: _Matched, rows: I32, documents: I32) -> F64:
        stored = matched.lists.integers[matched.mentions.row + rows]
        if len(self._reader.segments) == 1:
            return self._reader.segments[0].confidence(stored)
        held, out = self._reader.segments_of(documents), np.empty(rows.size)
        for s in np.unique(held).tolist():
            own = np.flatnonzero(held == s)
            out[own] = self._reader.segments[s].confidence(stored[own])
        return out

    def _run(self, matched: _Matched, program: Program, chosen: I32, scratch: Scratch, quota: ContextQuota) -> None:
        """Rank all windows, the clock and the quota checked between calls."""
        most = ROWS_PER_CALL if budget.is_counted() else 1 << 62
        documents = self._documents._replace(chosen=chosen)
        state, is_left, taken = scratch.state, True, 0
        while is_left:
            if program.keep:
                self._grow_pairs(int(state[kernels.PAIRS]), scratch.score.size, matched.mentions.mentions)
            is_left = kernels.rank_windows(matched.lists, program, documents, scratch, self._room.pairs, most)
            budget.check()
            quota.reserve(int(state[kernels.ROWS]) - taken)
            taken = int(state[kernels.ROWS])
        if program.kind == kernels.LOGSUM:
            kernels.sum_exponentials(self._room.pairs, scratch)

    def _grow_pairs(self, used: int, needed: int, most: int) -> None:
        """Make room for as many pairs as a window may have, and let what there is at least double."""
        pairs = self._room.pairs
        if pairs.slot.size - used < needed:
            size = max(used + needed, min(4 * pairs.slot.size, most + needed))
            grown = Pairs(np.empty(size, np.int32), np.empty(size), np.empty(size, np.int32))
            grown.slot[:used], grown.score[:used] = pairs.slot[:used], pairs.score[:used]
            grown.row[:used] = pairs.row[:used]
            self._room.pairs = grown

    def _value(
        self, matched: _Matched, aggregator: Aggregator, program: Program, scratch: Scratch
    ) -> tuple[I32, F64, I64]:
        """The slots that have contexts, the value of each, and how many contexts count."""
        slots = scratch.touched[: scratch.state[kernels.TOUCHED]]
        if program.kind != kernels.KEEP:
            total = scratch.total[slots]
            counts = total[:, 1].astype(np.int64)
            return slots, aggregator.finish(np.ascontiguousarray(total[:, 0]), counts), counts
        slots = np.sort(slots)
        counts = scratch.total[slots, 1].astype(np.int64)
        at, scores, _rows = self._take_pairs(slots, counts, scratch)
        return slots, aggregator.values(scores, at), counts

    def _take_pairs(self, slots: I32, counts: I64, scratch: Scratch) -> tuple[I64, F64, I32]:
        """The pairs of some slots: where each slot's begin, scores, and mentions."""
        at = np.concatenate([[0], counts])
        size = int(counts.sum())
        scores, rows = np.empty(size), np.empty(size, dtype=np.int32)
        pairs, count = self._room.pairs, int(scratch.state[kernels.PAIRS])
        kernels.take_pairs(pairs, count, slots, scratch.rank, at, scores, rows)
        return at, scores, rows

    def _rerank(
        self,
        matched: _Matched,
        table: Contexts,
        again: Reranking,
        slots: I32,
        values: F64,
        counts: I64,
        program: Program,
        scratch: Scratch,
        documents: I32,
        k: int,
        best: int,
    ) -> tuple[Contexts, Ranking, ShownContexts | None] | None:
        """Value the best candidates anew; None where one behind them would have to be shown."""
        entity = matched.entities[slots]
        if not slots.size:
            return table, _rank(entity, values, counts, k), None
        chosen = choose_candidates(entity, values, again.candidates)
        pairs = self._take_pairs(slots[chosen], counts[chosen], scratch)
        focused = self._focus(matched, table, entity[chosen], pairs, program, documents, again.contexts)
        own, values_again = again.value(focused)
        joined, counts = join_values(values, chosen, values_again), counts.copy()
        counts[chosen] = np.diff(own.at)
        ranking = _rank(entity, joined, counts, k)
        if not best:
            return table, ranking, None
        place = np.searchsorted(own.entity, ranking.entity)
        if not (own.entity[np.minimum(place, own.entity.size - 1)] == ranking.entity).all():
            return None
        at, items = take_lists(own.at, place)
        evidence = Evidence(ranking.entity, own.row[items], at, own.scores[items])
        shares = again.scoring.aggregator.shares(evidence.scores, at)
        picked, begin = choose_contexts(shares, at, best)
        ranked = replace(ranking, place=np.arange(place.size), evidence=evidence, values=ranking.score)
        return focused, ranked, ShownContexts(begin, evidence.row[picked], shares[picked])

    def _focus(
        self,
        matched: _Matched,
        table: Contexts,
        entities: I32,
        pairs: tuple[I64, F64, I32],
        program: Program,
        chosen: I32,
        most: int,
    ) -> Contexts:
        """The table of the best contexts of some entities, ascending, from all their pairs."""
        at, scores, every = pairs
        kept = keep_best(scores, at, most)[0]
        order = np.argsort(every[kept])
        mention = every[kept][order]
        slot = np.repeat(np.arange(entities.size, dtype=np.int32), np.diff(at))[kept][order]
        all_documents = self._documents_of(matched, every)
        document = all_documents[kept][order]
        distances = np.empty((len(matched.lists.literals), mention.size), dtype=np.int32)
        sides = np.empty(distances.shape, dtype=np.int8)
        kernels.locate_rows(matched.lists, mention, document, program.overlap, program.window, distances, sides)
        integers, lists = matched.lists.integers, matched.lists
        columns = FocusedColumns(
            self._reader,
            table.query,
            lists,
            matched.mentions,
            self._documents,
            self._priors,
            chosen,
            document,
            entities,
            sides,
            integers[lists.start + mention],
            integers[lists.end + mention],
            self._confidence_of(matched, mention, document),
        )
        held = hold_documents(at, all_documents, chosen)
        return replace(
            table, slot=slot, entities=entities, document=document, distances=distances, columns=columns, held=held
        )

    def _show(
        self,
        matched: _Matched,
        table: Contexts,
        ranking: Ranking,
        slots: I32,
        aggregator: Aggregator,
        program: Program,
        scratch: Scratch,
        best: int,
    ) -> tuple[Contexts, Ranking, ShownContexts | None]:
        """The table of the rows that contribute most to the ranked entities, and the ranking that points to them."""
        if not ranking.entity.size:
            return table, ranking, None
        at, scores, mentions = self._take_pairs(slots[ranking.place], ranking.support, scratch)
        shares = aggregator.shares(scores, at)
        chosen, begin = choose_contexts(shares, at, best)
        every = np.arange(chosen.size, dtype=np.int32)
        row = np.full(scores.size, -1, dtype=np.int32)
        row[chosen] = every
        mention = mentions[chosen]
        documents = self._documents_of(matched, mention)
        distances = np.empty((len(matched.lists.literals), mention.size), dtype=np.int32)
        sides = np.empty(distances.shape, dtype=np.int8)
        kernels.locate_rows(matched.lists, mention, documents, program.overlap, program.window, distances, sides)
        entity = np.repeat(ranking.entity, np.diff(begin))
        entities = np.sort(ranking.entity)
        integers, lists = matched.lists.integers, matched.lists
        columns = _ShownColumns(
            self._reader,
            sides,
            integers[lists.start + mention],
            integers[lists.end + mention],
            self._confidence_of(matched, mention, documents),
        )
        filled = Contexts(
            table.query,
            table.statistics,
            np.searchsorted(entities, entity).astype(np.int32),
            entities,
            documents,
            distances,
            table.plan,
            table.matched_documents,
            table.warnings,
            table.empty_because,
            columns,
        )
        evidence = Evidence(ranking.entity, row, at, scores)
        place = np.arange(ranking.entity.size)
        ranked = Ranking(
            ranking.entity, ranking.score, ranking.support, place, evidence, ranking.candidates, ranking.score
        )
        return filled, ranked, ShownContexts(begin, every, shares[chosen])


@dataclass(frozen=True, slots=True)
class _ShownColumns:
    """Columns of the rows that are shown."""

    reader: IndexReader
    sides: I8
    start: I32
    end: I32
    confidence: F64

    def take(self, rows: Rows) -> MentionColumns:
        return TakenRows(self, rows)

    def read_sides(self) -> I8:
        return self.sides

    def read_start(self) -> I32:
        return self.start

    def read_end(self) -> I32:
        return self.end

    def read_confidence(self) -> F64:
        return self.confidence

    def read_documents(self) -> DocumentValues:
        raise ValueError("rows that are shown have no values of documents; ask for all rows")

    def read_matching(self) -> DocumentValues:
        raise ValueError("rows that are shown have no values of matching documents; ask for all rows")

    def read_positions(self) -> Positions:
        raise ValueError("rows that are shown have no positions; ask for all rows")

    def read_sentences(self) -> SentenceStarts:
        raise ValueError("rows that are shown have no sentences; ask for all rows")

    def read_titles(self) -> Titles:
        raise ValueError("rows that are shown have no titles of matching documents; ask for all rows")

    def describe_entities(self, entities: I32) -> EntityDetails:
        raise ValueError("rows that are shown have no details of entities; ask for all rows")

    def read_companions(self) -> Companions:
        raise ValueError("rows that are shown are some of a document; ask for all rows")

    def count_entity_documents(self) -> I32:
        raise ValueError("rows that are shown have no counts of entities; ask for all rows")

    def name_entities(self, numbers: list[int]) -> list[str]:
        ids = self.reader.catalog.entity_ids
        return [ids[e] for e in numbers]

    def name_documents(self, numbers: list[int]) -> list[str]:
        return self.reader.document_ids(numbers)


def _rank(entity: I32, values: F64, counts: I64, k: int) -> Ranking:
    """The k best; `place` is the place among the entities that were valued."""
    place = order_entities(entity, values, k)
    nothing = Evidence(NO_INTEGERS, NO_INTEGERS, np.zeros(1, dtype=np.int64), np.empty(0))
    return Ranking(entity[place], values[place], counts[place], place, nothing, int(values.size), values)


def _choose_best(scores: F64, top: int) -> NDArray[np.bool_]:
    """The so many best of documents in the order of their numbers; of equal scores the first."""
    threshold = np.partition(scores, scores.size - top)[scores.size - top]
    chosen: NDArray[np.bool_] = scores > threshold
    level = np.flatnonzero(scores == threshold)
    chosen[level[: top - int(np.count_nonzero(chosen))]] = True
    return chosen


def _new_scratch(literals: int, rows: int, slots: int, old: Scratch | None) -> Scratch:
    """Scratch that is large enough for a query, and not smaller than the one before it."""
    if old is not None:
        literals = max(literals, old.counts.size // kernels.WINDOW)
        rows, slots = max(rows, old.score.size), max(slots, len(old.total))
    window, words = kernels.WINDOW + 1, kernels.WINDOW // 64
    integers, i32 = np.int64, np.int32
    return Scratch(
        pointer=np.zeros(2 * MOST_LITERALS, integers),
        ahead=np.zeros(2 * MOST_LITERALS, integers),
        match=np.zeros(words, np.uint64),
        other=np.zeros(words, np.uint64),
        where=np.zeros(window, i32),
        item=np.zeros((window, 2), i32),
        offset=np.zeros(window + 1, i32),
        start=np.zeros(rows + kernels.LANES, i32),
        end=np.zeros(rows + kernels.LANES, i32),
        slot=np.zeros(rows + kernels.LANES, i32),
        row=np.zeros(rows + kernels.LANES, i32),
        once=np.zeros((window, 2), i32),
        often=np.zeros((window, 2), i32),
        counts=np.zeros(literals * kernels.WINDOW, i32),
        code=np.zeros(literals * (rows + kernels.LANES), i32),
        score=np.zeros(rows),
        sum=np.zeros(rows + kernels.LANES),
        value=np.zeros(rows),
        document=np.zeros(window),
        column=np.zeros(window),
        divisor=np.zeros(window),
        pair_slot=np.zeros(rows + 1, i32),
        pair_row=np.zeros(rows + 1, i32),
        pair_score=np.zeros(rows + 1),
        memo_key=np.zeros(kernels.MEMO, np.uint64),
        memo_value=np.zeros(kernels.MEMO),
        place=np.zeros(MOST_LITERALS, i32),
        staircase=np.zeros(2 * MOST_LITERALS, i32),
        near=np.zeros(MOST_LITERALS, integers),
        literal=np.zeros(MOST_LITERALS, integers),
        total=np.zeros((slots, 2)),
        exponentials=np.zeros(slots),
        touched=np.zeros(slots + 1, i32),
        rank=np.zeros(slots, i32),
        state=np.zeros(8, integers),
    )
