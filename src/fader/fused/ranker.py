"""One query by the fused path: lists found, program written, windows ranked, the rows to show located.

A ranker belongs to a reader and is safe to share among threads: lists are shared, scratch is per thread. Every bound
that the kernels rely on is checked here; a query beyond one of them is ranked through the table, which gives the same
answer. Knows nothing of particular systems or features.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.aggregate.base import Aggregator
from fader.allowance import claim
from fader.contexts.around import take_lists
from fader.contexts.columns import DocumentValues, GivenColumns
from fader.contexts.match import MatchOptions, seek_literals, warn_of_unknown
from fader.contexts.plan import count_listed
from fader.contexts.policy import Evidence
from fader.contexts.query import Query
from fader.contexts.quota import ContextQuota
from fader.contexts.sought import SoughtLiterals
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.errors import LimitError
from fader.features.fused import Around, EntityColumn
from fader.features.noprox import bm25_scores
from fader.fused import kernels
from fader.fused.arena import Arena, FullError, LiteralList, TypeList
from fader.fused.around import count_pairs, score_mentions
from fader.fused.focus import FocusedColumns, hold_documents
from fader.fused.kernels import Documents, Lists, Program, Scratch
from fader.fused.lists import find_literal, find_type
from fader.fused.program import write_program
from fader.fused.scratch import MOST_BEST, MOST_LITERALS, NO_INTEGERS, Room
from fader.fused.second import SecondRoom, write_recipe, write_steps
from fader.fused.secondkernels import Recipe, choose_rows
from fader.fused.secondsteps import score_rows
from fader.fused.shown import ShownColumns
from fader.index.reader import IndexReader
from fader.lazy import cached_property
from fader.rank.ranking import ShownContexts, choose_contexts, order_entities
from fader.rank.rerank import VALUED_AGAIN, FirstValues, Reranking, choose_candidates, join_values, keep_best
from fader.rank.system import FusedScoring, Ranking, System

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
ARENA = 1 << 26  # integers: 256 MB, of which only what is used takes memory
ROWS = 8192  # mentions of a window, or as many as 64 documents may have
MOST_CODES = 1 << 24  # codes of a window
ROWS_PER_CALL = 1 << 17  # mentions between two checks of the clock: a few milliseconds
MENTION_INTEGERS = 6  # that a decoded mention takes: start, end, slot, row, and the packed row
KEPT_COLUMNS = 64
KEPT_PLANS = 512
KEPT_DOCUMENTS = 4096  # of a plan
KEPT_NUMBERS = 1 << 22  # of all plans that are kept: 32 MB
SHARED = 3  # of so many parts of the arena one is for codes that queries share
COMMON_MENTIONS = 1 << 14  # of a type from which on codes of common literals are shared
_Chosen = tuple[I32, F64 | None, int | None, int]
MOST_AGAIN = 1 << 17  # contexts, times literals, that a second stage scores between two looks at the clock
MOST_KEPT = 64  # contexts of an entity that are put in order by insertion
# Bytes of a document that matches, and more for each literal; of a slot that is valued, of a context that is taken,
# of one that is shown or scored again, and more for each literal.
MATCHED_BYTES, MATCHED_LITERAL_BYTES, VALUED_BYTES, TAKEN_BYTES, ROW_BYTES, ROW_LITERAL_BYTES = 96, 24, 96, 24, 96, 12
DOCUMENT_BYTES = 40  # of a document of the collection
NO_NUMBERS = np.empty(0)
ALL = np.array([-1], dtype=np.int32)
NOTHING = Evidence(NO_INTEGERS, NO_INTEGERS, np.zeros(1, dtype=np.int64), np.empty(0))


@dataclass(frozen=True, slots=True)
class _Matched:
    """A query with its lists; `type` is the number of the answer type."""

    statistics: Statistics
    type: int | None
    mentions: TypeList
    lists: Lists

    @property
    def entities(self) -> I32:
        at = self.mentions.entity
        return self.lists.integers[at : at + self.mentions.slots]


@dataclass(slots=True)
class _Plan:
    """What follows from literals, type and system alone: it is kept for queries that ask the same again.

    `impossible` says why nothing can match; then there is no scoring. `program` is None where it depends on
    values of the documents that match.
    """

    system: System
    arena: Arena
    matched: _Matched
    warnings: list[str]
    impossible: str
    scoring: FusedScoring | None
    program: Program | None
    documents: _Chosen | None = None  # those of the best documents, where they are few
    recipe: Recipe | None = None  # of the second stage


@final
class FusedRanker:
    """Ranks queries of one reader. `integers` is how much room decoded lists have; with 0 it ranks nothing."""

    def __init__(self, reader: IndexReader, integers: int = ARENA) -> None:
        self._reader, self._integers = reader, integers
        self._arena, self._lock = Arena(integers), threading.Lock()
        self._room, self._second = Room(), SecondRoom()
        self._columns: dict[Hashable, F64] = {}
        self._plans: dict[Hashable, _Plan] = {}
        self._kept_numbers = 0
        self._types: dict[str, int] = {}
        self._counts = reader.documents, reader.tokens

    def rank(
        self, query: Query, options: MatchOptions, system: System, k: int, best: int
    ) -> tuple[Contexts, Ranking, int, ShownContexts | None] | None:
        """The k best entities, a table of the `best` rows of each that contribute most, how many contexts there are,
        and which rows are whose. None: the system or the query has no fused form.
        """
        plan = self._find_plan(query, options, system) if self._integers else None
        if plan is None:
            return None
        matched, scoring, program = plan.matched, plan.scoring, plan.program
        if scoring is None:
            table = _make_table(query, plan, empty_because=plan.impossible)
            return table, _rank(NO_INTEGERS, np.empty(0), np.empty(0, dtype=np.int64), k), 0, None
        literals, rows = len(query.literals), max(ROWS, 64 * matched.mentions.longest)
        if literals * rows > MOST_CODES:
            return None
        scratch = self._room.reset_scratch(literals, rows, matched.mentions.slots)
        chosen, matched_documents, total, values = ALL, None, None, None
        if scoring.documents is not None or system.view.top:
            if scoring.documents is not None and not system.view.takes_all:
                return None  # contexts outside of the chosen documents would have to be found to be counted
            chosen, values, total, matched_documents = plan.documents or self._choose_documents(
                query, plan, scoring, scratch
            )
        if program is None:
            around = None
            if scoring.around is not None:
                around = self._score_around(matched, scoring.around, options, scratch)
            program = self._write_program(matched, scoring, system, values, around)
        if program is None:
            return None
        aggregator, again = scoring.aggregator, system.reranking
        is_finished = program.kind not in (kernels.COUNT, kernels.KEEP) and k <= MOST_BEST and again is None
        is_finished = is_finished and type(aggregator).finish is Aggregator.finish
        if program.has_staircase:
            scratch.memo_key.fill(0)
        try:
            keep = best > 0 or again is not None
            self._run(plan, program, chosen, scratch, options, keep, k if is_finished else 0)
            state = scratch.state.tolist()
            matched_documents = state[kernels.MATCHED] if matched_documents is None else matched_documents
            total = state[kernels.CONTEXTS] if total is None else total
            if is_finished:
                slots, counts = scratch.best[:, : state[kernels.BEST]].copy()
                score, place = scratch.best_value[: slots.size].copy(), np.arange(slots.size)
                entity, candidates = matched.entities[slots], state[kernels.CANDIDATES]
                ranking = Ranking(entity, score, counts, place, NOTHING, candidates, score)
            else:
                every, entity_values, counts = self._value(plan, aggregator, program, scratch)
                if again is not None:
                    table = _make_table(query, plan, matched_documents)
                    valued = every, entity_values, counts
                    return self._rerank(plan, table, again, valued, program, scratch, chosen, k, best, total)
                ranking = _rank(matched.entities[every], entity_values, counts, k)
                slots = every[ranking.place].astype(np.int64)
            table = _make_table(query, plan, matched_documents)
            if not best or not ranking.entity.size:
                return table, ranking, total, None
            pairs = self._take_pairs(plan, slots, ranking.support, scratch)
            shown = self._show(plan, table, ranking, aggregator, pairs, program, best)
            return shown[0], shown[1], total, shown[2]
        finally:
            if scratch.state[kernels.TOUCHED]:
                kernels.reset_slots(scratch)

    def _find_plan(self, query: Query, options: MatchOptions, system: System) -> _Plan | None:
        """The plan of a query, from memory where the same was asked before; None where there is no fused form."""
        literals = options.stem, options.entities, options.relax, query.literals, query.forbidden
        key = (id(system), query.type, literals)
        plan = self._plans.get(key)
        if plan is not None and plan.system is system and plan.arena is self._arena:
            return plan
        make, view = system.prepare_fused(), system.view
        if system.reranking is not None and (not view.top or view.window is not None or view.policy != "mention"):
            return None  # all contexts of candidates, and ranks of their documents, are needed
        if make is None or max(len(query.literals), len(query.forbidden)) > MOST_LITERALS:
            return None
        found = self._match(query, options)
        if found is None:
            return None
        arena, matched = found
        warnings, impossible = warn_of_unknown(query.literals, matched.statistics, options)
        scoring, program = None, None
        if not impossible:
            scoring = make(matched.statistics, self._farthest)
            if scoring.around is not None and (view.window is not None or not view.overlap):
                return None  # these read occurrences, not which of them the view leaves
            if scoring.associate is not None and system.reranking is not None:
                return None  # a second stage chooses by scores as they are kept
            if scoring.documents is None and scoring.around is None:
                program = self._write_program(matched, scoring, system)
                if program is None:
                    return None
        plan = _Plan(system, arena, matched, warnings, impossible, scoring, program)
        self._keep_plan(key, plan)
        return plan

    def _keep_plan(self, key: Hashable, plan: _Plan) -> None:
        size = 0 if plan.program is None else plan.program.numbers.size + plan.program.integers.size
        with self._lock:
            if plan.arena is not self._arena or size > KEPT_NUMBERS:
                return
            if len(self._plans) >= KEPT_PLANS or self._kept_numbers + size > KEPT_NUMBERS:
                self._plans.clear()
                self._kept_numbers = 0
            self._plans[key] = plan
            self._kept_numbers += size

    def _write_program(
        self,
        matched: _Matched,
        scoring: FusedScoring,
        system: System,
        documents: F64 | None = None,
        around: F64 | None = None,
    ) -> Program | None:
        """The program of a scoring, given the values of documents, and of mentions by an `Around` term."""
        return write_program(
            scoring,
            system.view,
            lambda column: self._value_entities(matched, column),
            lambda: self._read_confidence(matched),
            documents,
            around,
        )

    def _score_around(self, matched: _Matched, term: Around, options: MatchOptions, scratch: Scratch) -> F64:
        """The score of every mention of the type in documents that match."""
        number, _counts = self._find_documents(matched, scratch)
        quota, length = ContextQuota(options.limits, len(matched.lists.literals)), self._documents.length
        return score_mentions(term, matched.lists, number, length, matched.mentions.mentions, quota)

    @cached_property
    def _documents(self) -> Documents:
        """Lengths and counts of all documents, by their numbers."""
        reader = self._reader
        claim(DOCUMENT_BYTES * reader.documents)
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
        claim(DOCUMENT_BYTES * self._reader.documents)
        out = np.ones(self._reader.documents)
        for segment, numbers in zip(self._reader.segments, self._reader.numbers, strict=True):
            alive = np.flatnonzero(numbers >= 0)
            out[numbers[alive]] = segment.text.priors[alive]
        return out

    @cached_property
    def _farthest(self) -> int:
        return int(self._documents.length.max(initial=0))

    def _match(self, query: Query, options: MatchOptions) -> tuple[Arena, _Matched] | None:
        """The lists of a query and the arena that has them; None where they are too large."""
        reader = self._reader
        number = None if query.type is None else self._resolve_type(query.type)
        sought = seek_literals(reader, query, options)
        for _try in range(2):
            arena = self._arena
            try:
                if arena.find(("type", number)) is None:
                    listed = sum(count_listed(segment, number) for segment in reader.segments)
                    ContextQuota(options.limits, len(query.literals)).check_list(listed)
                    if MENTION_INTEGERS * listed > self._integers:
                        return None  # its list would never fit
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
                *(mentions.packed, mentions.has_long),
            )
            self._share_codes(arena, sought, number, mentions, lists)
            return arena, _Matched(Statistics(*self._counts, df, cf), number, mentions, lists)
        return None

    def _begin_anew(self, full: Arena) -> None:
        """Replace an arena that is full, unless another thread has done so."""
        with self._lock:
            if self._arena is full:
                self._arena = Arena(self._integers)
                self._plans.clear()
                self._kept_numbers = 0

    def _share_codes(
        self, arena: Arena, sought: SoughtLiterals, number: int | None, mentions: TypeList, lists: Lists
    ) -> None:
        """Point literals that most documents have, many times over, to their codes at all mentions of the type."""
        documents = lists.literals[:, kernels.DOCUMENTS]
        if mentions.mentions < COMMON_MENTIONS or 2 * int(documents.max()) < self._counts[0]:
            return

        def find_codes(own: Arena, t: int) -> LiteralList:
            at, count = own.reserve(mentions.mentions, SHARED), int(lists.literals[t, kernels.DOCUMENTS])
            own.integers[at : at + mentions.mentions] = 0
            for a, b in budget.chunks(count, weight=1 + 4 * mentions.mentions // count):
                kernels.find_all_codes(lists, lists.literals[t], a, b, at)
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

    def _choose_documents(self, query: Query, plan: _Plan, scoring: FusedScoring, scratch: Scratch) -> _Chosen:
        """The matching documents that can count, the value of each where documents have one, how many contexts there
        are where not all of them are in these documents, and how many documents match.
        """
        matched, documents, top = plan.matched, self._documents, plan.system.view.top
        number, counts = self._find_documents(matched, scratch)
        count = number.size
        matching = DocumentValues(
            row=NO_INTEGERS,
            number=number,
            counts=counts,
            length=documents.length[number],
            distinct=documents.distinct[number],
            square=documents.square[number],
            prior=self._priors[number],
        )
        kept: NDArray[np.bool_] | None = None
        values, total = None, None
        if scoring.documents is not None:
            whole = _make_table(query, plan, count)
            whole.columns = GivenColumns(matching=matching)
            values, kept = scoring.documents(whole)
            total = int(kernels.count_mentions(matched.lists, number))
        elif count > top:
            kept = _choose_best(bm25_scores(matched.statistics, matching), top)
        if kept is not None:
            place = np.flatnonzero(kept)
            number, values = number[place], None if values is None else values[place]
        number = number if number.size else np.array([documents.length.size], dtype=np.int32)
        if scoring.documents is None and number.size <= KEPT_DOCUMENTS:
            plan.documents = number.copy(), values, total, count
        return number, values, total, count

    def _find_documents(self, matched: _Matched, scratch: Scratch) -> tuple[I32, I32]:
        """The documents that match, ascending, and how often each has every literal, (literals, documents)."""
        literals, documents = matched.lists.literals, self._documents.length.size
        most = min(int(literals[:, kernels.DOCUMENTS].sum()), documents)
        claim((MATCHED_BYTES + MATCHED_LITERAL_BYTES * len(literals)) * (most + 1))
        found, counts = np.empty(most + 1, dtype=np.int32), np.zeros((len(literals), most + 1), dtype=np.int32)
        count = 0
        for a, b in budget.chunks(documents, weight=len(literals)):
            count = kernels.match_documents(matched.lists, a, b, count, scratch, found, counts)
        scratch.pointer.fill(0)
        return found[:count], np.ascontiguousarray(counts[:, :count])

    def _value_entities(self, matched: _Matched, column: EntityColumn) -> F64:
        """A column of entities for the slots of the type."""
        key = (column.key, matched.type)
        found = self._columns.get(key)
        if found is None or found.size != matched.mentions.slots:
            claim(VALUED_BYTES * matched.mentions.slots)
            found = column.values(self._reader.entity_documents[matched.entities])
            self._keep_column(key, found)
        return found

    def _read_confidence(self, matched: _Matched) -> F64:
        """The confidence of every mention of the type."""
        key = ("confidence", matched.type)
        found = self._columns.get(key)
        if found is None:
            claim(TAKEN_BYTES * matched.mentions.mentions)
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

    def _run(
        self, plan: _Plan, program: Program, chosen: I32, scratch: Scratch, options: MatchOptions, keep: bool, best: int
    ) -> None:
        """Rank all windows, the clock and the quota checked between calls, and choose the `best` slots."""
        most = ROWS_PER_CALL if budget.is_counted() else 1 << 62
        documents = self._documents if chosen is ALL else self._documents._replace(chosen=chosen)
        keep = keep or program.kind in (kernels.LOGSUM, kernels.KEEP)
        lists, mentions, room = plan.matched.lists, plan.matched.mentions.mentions, self._room
        quota = ContextQuota(options.limits, len(lists.literals))
        state, is_left, taken, pairs = scratch.state, True, 0, room.pairs
        while is_left:
            if keep:
                pairs = room.grow_pairs(int(state[kernels.PAIRS]), scratch.score.size, mentions)
            is_left = kernels.rank_windows(lists, program, documents, scratch, pairs, most, keep, best)
            budget.check()
            rows = int(state[kernels.ROWS])
            quota.reserve(rows - taken)
            taken = rows

    def _value(self, plan: _Plan, aggregator: Aggregator, program: Program, scratch: Scratch) -> tuple[I32, F64, I64]:
        """The slots that have contexts, the value of each, and how many contexts count."""
        slots = scratch.touched[: scratch.state[kernels.TOUCHED]]
        claim(VALUED_BYTES * slots.size)
        if program.kind != kernels.KEEP:
            total = scratch.total[slots]
            counts = total[:, kernels.HOW_MANY].astype(np.int64)
            return slots, aggregator.finish(np.ascontiguousarray(total[:, kernels.VALUE]), counts), counts
        slots = np.sort(slots)
        counts = scratch.total[slots, kernels.HOW_MANY].astype(np.int64)
        at, scores, _rows = self._take_pairs(plan, slots.astype(np.int64), counts, scratch)
        return slots, aggregator.values(scores, at), counts

    def _take_pairs(self, plan: _Plan, slots: I64, counts: I64, scratch: Scratch) -> tuple[I64, F64, I32]:
        """The pairs of some slots: where each slot's begin, scores, and mentions."""
        at = np.zeros(slots.size + 1, dtype=np.int64)
        counts.cumsum(out=at[1:])
        size = at.item(slots.size)
        claim(TAKEN_BYTES * size)
        scores, rows = np.empty(size), np.empty(size, dtype=np.int32)
        kernels.take_pairs(self._room.pairs, scratch.kept, slots, at, scores, rows)
        if plan.scoring is not None and plan.scoring.associate is not None:
            lists, number = plan.matched.lists, self._documents_of(plan.matched, rows)
            candidates = int(scratch.state[kernels.TOUCHED])
            scores += np.log(plan.scoring.associate(count_pairs(lists, rows, number, at, candidates)))
        return at, scores, rows

    def _rerank(
        self,
        plan: _Plan,
        table: Contexts,
        again: Reranking,
        valued: tuple[I32, F64, I64],
        program: Program,
        scratch: Scratch,
        documents: I32,
        k: int,
        best: int,
        total: int,
    ) -> tuple[Contexts, Ranking, int, ShownContexts | None] | None:
        """Value the best candidates anew; None where one behind them would have to be shown."""
        matched, (slots, values, counts) = plan.matched, valued
        entity, aggregator = matched.entities[slots], again.scoring.aggregator
        if not slots.size:
            return table, _rank(entity, values, counts, k), total, None
        chosen = choose_candidates(entity, values, again.candidates)
        own = self._score_again(plan, table.query, again, slots[chosen], entity[chosen], program, scratch, documents)
        if own is None:
            pairs = self._take_pairs(plan, slots[chosen].astype(np.int64), counts[chosen], scratch)
            focused, mentions = self._focus(matched, table, entity[chosen], pairs, program, documents, again.contexts)
            found = again.value(focused)[0]
            own = found.at, found.scores, mentions[found.row]
        at, scores, mentions = own
        ranking = _rank(entity, join_values(values, chosen, aggregator.values(scores, at)), counts, k)
        if not best:
            return table, ranking, total, None
        candidates = entity[chosen]
        place = candidates.searchsorted(ranking.entity)
        if not (candidates[np.minimum(place, candidates.size - 1)] == ranking.entity).all():
            return None
        own_at, items = take_lists(at, place)
        pairs = own_at, scores[items], mentions[items]
        shown = self._show(plan, table, ranking, aggregator, pairs, program, best)
        shown[0].memo[VALUED_AGAIN] = True
        shown[0].memo[FirstValues] = FirstValues(entity, values, counts)
        return shown[0], shown[1], total, shown[2]

    def _score_again(
        self,
        plan: _Plan,
        query: Query,
        again: Reranking,
        slots: I32,
        entities: I32,
        program: Program,
        scratch: Scratch,
        documents: I32,
    ) -> tuple[I64, F64, I32] | None:
        """The best contexts of some candidates, with their second scores: where each one's begin, scores, and mentions.

        None where the model has columns that are computed through a table alone.
        """
        steps, count, lists = write_steps(again), int(scratch.state[kernels.PAIRS]), plan.matched.lists
        contexts = min(again.contexts, count)
        if steps is None or contexts > MOST_KEPT or slots.size * contexts * len(lists.literals) > MOST_AGAIN:
            return None
        if plan.recipe is None:
            plan.recipe = write_recipe(steps, plan.matched.statistics, query, program.overlap)
        literals, every = len(lists.literals), plan.matched.mentions.slots
        room = self._second.find(literals, documents.size, slots.size, contexts, every, count)
        size = choose_rows(lists, self._room.pairs, count, documents, slots, contexts, room)
        budget.check()
        at, (mentions, numbers) = room.at[: slots.size + 1].copy(), room.taken[:, :size].copy()
        scores, confidence = np.empty(size), NO_NUMBERS
        if steps.reads_confidence:
            confidence = self._confidence_of(plan.matched, mentions, numbers)
        df = self._reader.entity_documents_of(entities)
        score_rows(lists, self._documents, documents, plan.recipe, df, confidence, room, scores)
        budget.check()
        return at, scores, mentions

    def _focus(
        self,
        matched: _Matched,
        table: Contexts,
        entities: I32,
        pairs: tuple[I64, F64, I32],
        program: Program,
        chosen: I32,
        most: int,
    ) -> tuple[Contexts, I32]:
        """The table of the best contexts of some entities, ascending, from all their pairs; and their mentions."""
        at, scores, every = pairs
        claim((ROW_BYTES + ROW_LITERAL_BYTES * len(matched.lists.literals)) * every.size)
        kept = keep_best(scores, at, most)[0]
        order = np.argsort(every[kept])
        mention = every[kept][order]
        slot = np.repeat(np.arange(entities.size, dtype=np.int32), np.diff(at))[kept][order]
        all_documents = self._documents_of(matched, every)
        place = np.empty((3, mention.size), dtype=np.int32)
        distances = np.empty((len(matched.lists.literals), mention.size), dtype=np.int32)
        sides = np.empty(distances.shape, dtype=np.int8)
        lists, count = matched.lists, self._documents.length.size
        kernels.locate_rows(lists, count, mention, program.overlap, program.window, place, distances, sides)
        document, start, end = place
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
            start,
            end,
            self._confidence_of(matched, mention, document),
        )
        held = hold_documents(at, all_documents, chosen)
        focused = replace(
            table, slot=slot, entities=entities, document=document, distances=distances, columns=columns, held=held
        )
        return focused, mention

    def _show(
        self,
        plan: _Plan,
        table: Contexts,
        ranking: Ranking,
        aggregator: Aggregator,
        pairs: tuple[I64, F64, I32],
        program: Program,
        best: int,
    ) -> tuple[Contexts, Ranking, ShownContexts]:
        """The table of the rows that contribute most to the ranked entities, and the ranking that points to them."""
        matched, lists, (at, scores, mentions) = plan.matched, plan.matched.lists, pairs
        claim((ROW_BYTES + ROW_LITERAL_BYTES * len(lists.literals)) * scores.size)
        shares = aggregator.shares(scores, at)
        chosen, begin = choose_contexts(shares, at, best)
        mention = mentions[chosen]
        every = np.arange(chosen.size, dtype=np.int32)
        row = np.full(scores.size, -1, dtype=np.int32)
        row[chosen] = every
        place, distances = (
            np.empty((3, mention.size), np.int32),
            np.empty((len(lists.literals), mention.size), np.int32),
        )
        sides = np.empty(distances.shape, dtype=np.int8)
        count = self._documents.length.size
        kernels.locate_rows(lists, count, mention, program.overlap, program.window, place, distances, sides)
        entity, entities = ranking.entity, np.sort(ranking.entity)
        if entity.size != chosen.size:
            entity = np.repeat(entity, begin[1:] - begin[:-1])
        documents, start, end = place
        filled = replace(
            table,
            slot=entities.searchsorted(entity).astype(np.int32),
            entities=entities,
            document=documents,
            distances=distances,
            columns=ShownColumns(self._reader, sides, start, end, self._confidence_of(matched, mention, documents)),
        )
        evidence = Evidence(ranking.entity, row, at, scores)
        ranked = Ranking(
            ranking.entity,
            ranking.score,
            ranking.support,
            np.arange(ranking.entity.size),
            evidence,
            ranking.candidates,
            ranking.score,
        )
        return filled, ranked, ShownContexts(begin, every, shares[chosen])


def _make_table(query: Query, plan: _Plan, matched_documents: int = 0, empty_because: str = "") -> Contexts:
    """The table of a query without rows."""
    return Contexts(
        query,
        plan.matched.statistics,
        *(NO_INTEGERS, NO_INTEGERS, NO_INTEGERS),
        np.empty((len(query.literals), 0), dtype=np.int32),
        plan="fused",
        matched_documents=matched_documents,
        warnings=[*query.notes, *plan.warnings],
        empty_because=empty_because,
    )


def _rank(entity: I32, values: F64, counts: I64, k: int) -> Ranking:
    """The k best; `place` is the place among the entities that were valued."""
    place = order_entities(entity, values, k)
    return Ranking(entity[place], values[place], counts[place], place, NOTHING, int(values.size), values)


def _choose_best(scores: F64, top: int) -> NDArray[np.bool_]:
    """The so many best of documents in the order of their numbers; of equal scores the first."""
    threshold = np.partition(scores, scores.size - top)[scores.size - top]
    chosen: NDArray[np.bool_] = scores > threshold
    level = np.flatnonzero(scores == threshold)
    chosen[level[: top - int(np.count_nonzero(chosen))]] = True
    return chosen
