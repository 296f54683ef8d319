"""A collection whose segments are on other machines: it asks shards and joins their answers.

    index = Index(ShardedCollection(folder, shards))    folder: manifest and catalog; shards: `Shards` or `LocalShards`
    index.search("bayesian nonparametric models", type="person")

The table of all shards is bit for bit that of one machine, so everything above it works unchanged. Never silently
partial: a group that does not answer is an error, unless `allow_partial`; then a warning says what is missing. Knows
nothing of sockets or Ray.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, final

import msgspec
import numpy as np
from numpy.typing import NDArray

from fader.cluster.shards.asking import ShardGroups, add_counts, describe_absence
from fader.cluster.shards.columns import Column, FetchedColumns
from fader.cluster.shards.requests import (
    CountDocuments,
    CountForms,
    CountLiterals,
    FindDocument,
    FindMentions,
    FindRows,
    Question,
    ReadColumns,
    ReadMentions,
    ScoreRows,
)
from fader.cluster.shards.scores import Scores, dump_features, interleave, merge_scores
from fader.cluster.wire.transport import Missing, ShardCall, Transport
from fader.contexts.columns import GivenColumns, RowColumns
from fader.contexts.match import MatchOptions, warn_of_unknown
from fader.contexts.naming import EntityNames, FormCounts, add_forms
from fader.contexts.partial import PartialContexts, join_partials
from fader.contexts.policy import select
from fader.contexts.query import Literal, Query
from fader.contexts.quota import ContextQuota
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.errors import IncompleteError
from fader.features.combined import Combined
from fader.index.excerpts import Excerpts, Head, Wanted
from fader.index.reader import Stored, open_head
from fader.index.segment import DocumentMentions
from fader.rank.ranking import rank_values
from fader.rank.system import FeatureScoring, Ranking, System, aggregate_evidence
from fader.search.collection import RankedContexts
from fader.search.local import rank_contexts

I32 = NDArray[np.int32]
KEPT_COUNTS = 100_000  # literals whose counts are cached
KEPT_FEATURES = 1_000  # features known to need more than a shard has
_UNKNOWN = (-1, -1)
# Columns that a snippet needs, fetched together.
TOGETHER = (Column.START, Column.END, Column.SIDES, Column.CONFIDENCE)


@final
class ShardedCollection:
    """A collection in shards. `allow_partial` allows answers from the groups that are there, with a warning.

    `reopen` opens the same collection in another process that gets a copy of this one.
    """

    def __init__(
        self,
        folder: str | Path,
        shards: Transport,
        at: int | None = None,
        allow_partial: bool = False,
        reopen: Callable[[], ShardedCollection] | None = None,
    ) -> None:
        head = open_head(folder, shards.commit if at is None else at)
        self.folder, self.manifest, self.catalog, self.analysis = (
            head.folder,
            head.manifest,
            head.catalog,
            head.analysis,
        )
        self.commit, self.origin = head.commit, head.manifest.origin
        self.documents, self.tokens, self.mentions = head.manifest.live
        self.groups, self.allow_partial = ShardGroups(head, shards, allow_partial), allow_partial
        self._reopen = reopen
        self._counts: dict[Any, tuple[int, int]] = {}
        self._names = EntityNames(self.catalog, self._count_forms)
        self._elsewhere: set[str] = set()  # features whose scores shards cannot compute

    def __reduce__(self) -> tuple[Any, ...]:
        if self._reopen is None:
            raise TypeError("a collection on other machines cannot be copied to another process; open it there")
        return self._reopen, ()

    def forget(self) -> None:
        """Drop the cached counts of literals and documents."""
        self._counts = {}
        self._names = EntityNames(self.catalog, self._count_forms)
        self.groups.forget_documents()

    @property
    def entity_documents(self) -> I32:
        return self.groups.entity_documents

    def read_documents(self, documents: Sequence[int]) -> list[Stored]:
        return self.groups.read_documents(documents)

    def read_excerpts(self, documents: Sequence[int], wanted: Wanted) -> tuple[Excerpts, list[Head]]:
        found = self.read_documents(documents)
        texts = [stored.text.encode("utf-8") for stored in found]
        return Excerpts.of_texts(texts, wanted), [Head(stored.id, stored.title, stored.url) for stored in found]

    def find_mentions(self, pairs: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
        answers = self.groups.ask(FindMentions(list(pairs)), self.allow_partial)
        there = [a for a in answers if not isinstance(a, Missing)]
        return [[span for spans in each for span in spans] for each in zip(*there, strict=True)]

    def read_mentions(self, document: int) -> DocumentMentions:
        answers = self.groups.ask(ReadMentions(document), self.allow_partial)
        there = [a for a in answers if a is not None and not isinstance(a, Missing)]
        if not there:
            raise IncompleteError(f"no shard of commit {self.commit} has document {document}; ask again")
        found: DocumentMentions = there[0]
        return found

    def document_ids(self, documents: Sequence[int]) -> list[str]:
        return self.groups.document_ids(documents)

    def find_document(self, doc_id: str) -> int:
        return int(max(self.groups.ask(FindDocument(doc_id))))

    def refresh(self) -> ShardedCollection:
        """The collection at the commit that the shards serve now: itself where it is at that commit."""
        shards = self.groups.shards
        if shards.commit == self.commit:
            return self
        return ShardedCollection(self.folder, shards, allow_partial=self.allow_partial)

    def name_entities(self, query: Query) -> Query:
        return self._names.name(query)

    def _count_forms(self, literals: Sequence[Literal]) -> tuple[list[FormCounts], bool]:
        """Counts of literals in the groups that answer, and whether all do."""
        asked = CountForms(tuple(replace(literal, text="") for literal in literals))
        answers = self.groups.ask(asked, self.allow_partial)
        there = [a for a in answers if not isinstance(a, Missing)]
        if not there:
            raise describe_absence(answers)
        return [add_forms(parts) for parts in zip(*there, strict=True)], len(there) == len(answers)

    def count(self, query: Query, options: MatchOptions) -> Statistics:
        self.groups.about()
        return self._count(self._names.name(query) if options.entities else query, options)[0]

    def contexts(self, query: Query, options: MatchOptions) -> Contexts:
        query = self._names.name(query) if options.entities else query
        return self._find(query, options, FindRows(Question.of(query, options)))

    def rows(self, query: Query, options: MatchOptions, entities: I32) -> Contexts:
        query = self._names.name(query) if options.entities else query
        entities = np.asarray(entities, dtype=np.int32)
        return self._find(query, options, FindRows(Question.of(query, options), entities, TOGETHER))

    def _find(self, query: Query, options: MatchOptions, asked: FindRows) -> Contexts:
        self.groups.about()
        answers = self.groups.ask(asked, self.allow_partial)
        table = self._join(query, options, asked, answers)
        table.warnings += self.groups.warn_of_missing(answers)
        return table

    def _join(self, query: Query, options: MatchOptions, asked: FindRows, answers: list[Any]) -> Contexts:
        """The table of the groups that answered."""
        there = {g: a for g, a in enumerate(answers) if a is not None and not isinstance(a, Missing)}
        if not there:
            raise describe_absence(answers)
        columns = _GroupColumns(self.groups, asked, set(there))
        partials: list[PartialContexts[RowColumns]] = [
            replace(rows, columns=FetchedColumns(rows.columns, asked.columns, partial(columns.fetch, group)))
            for group, rows in there.items()
        ]
        lookup = _Lookup(self, columns if len(there) < len(answers) else None)
        return join_partials(query, self.documents, self.tokens, partials, lookup, options)

    def evidence(
        self,
        query: Query,
        options: MatchOptions,
        system: System,
        k: int,
        *,
        with_rows: bool = True,
        entity: int | None = None,
        best: int | None = None,
    ) -> RankedContexts:
        """Let the shards compute the scores if they can; then fetch only the rows to show."""
        query = self._names.name(query) if options.entities else query
        scoring = system.feature_scoring
        far = scoring is None or system.view.top or scoring.features.reads_table
        features = None if scoring is None or far else dump_features(scoring.features)
        if scoring is None or features is None or features in self._elsewhere:
            return rank_contexts(self.contexts(query, options), system, k)
        self.groups.about()
        question = Question.of(query, options)
        statistics, missing = self._count(query, options)
        combined, weights = isinstance(scoring.features, Combined), np.asarray(scoring.weights, dtype=np.float64)
        wanted = ScoreRows(question, statistics, features, weights, scoring.policy, combined)
        found = self._score(wanted, missing)
        if found is None:
            if len(self._elsewhere) >= KEPT_FEATURES:
                self._elsewhere.clear()
            self._elsewhere.add(features)
            return rank_contexts(self.contexts(query, options), system, k)
        answers, parts = found
        ContextQuota(options.limits, len(query.literals)).reserve(sum(part.taken for part in parts))
        merged = merge_scores(parts)
        ranking = rank_values(merged, aggregate_evidence(scoring.aggregator, merged), k)
        shown = ranking.entity if entity is None else np.array([entity], dtype=np.int32)
        contexts = _empty_table(query)
        if with_rows and shown.size:
            contexts = self._fetch_rows(query, options, FindRows(question, shown), answers, ranking, scoring)
        warnings, empty = warn_of_unknown(query.literals, statistics, options)
        contexts = replace(
            contexts,
            statistics=statistics,
            warnings=[*query.notes, *warnings, *self.groups.warn_of_missing(answers)],
            empty_because=empty,
            matched_documents=sum(part.matched for part in parts),
        )
        return RankedContexts(contexts, ranking, sum(part.contexts for part in parts))

    def _count(self, query: Query, options: MatchOptions) -> tuple[Statistics, dict[int, Missing]]:
        """Counts of the literals in the whole collection, cached or asked for, and the groups that are missing."""
        how = options.stem, options.entities
        keys = [(one.terms, one.offsets, one.exact, one.entity, *how) for one in query.literals]
        known = [self._counts.get(key, _UNKNOWN) for key in keys]
        missing: dict[int, Missing] = {}
        if _UNKNOWN in known:
            answers = self.groups.ask(CountLiterals(Question.of(query, options)), self.allow_partial)
            missing = {a.group: a for a in answers if isinstance(a, Missing)}
            if len(missing) == len(answers):
                raise describe_absence(answers)
            counts = [[a.df, a.cf] for a in answers if not isinstance(a, Missing)]
            known = [(df, cf) for df, cf in np.sum(counts, axis=0).T.tolist()]
            if not missing:
                if len(self._counts) > KEPT_COUNTS:
                    self._counts = {}
                self._counts.update(zip(keys, known, strict=True))
        df, cf = (np.array(column, dtype=np.int64) for column in zip(*known, strict=True))
        return Statistics(self.documents, self.tokens, df, cf), missing

    def _score(self, wanted: ScoreRows, missing: dict[int, Missing]) -> tuple[list[Any], list[Scores]] | None:
        """The scores of all groups but the missing ones; None where groups cannot compute them."""
        each = [None if g in missing else wanted for g in range(self.groups.count)]
        answers = [missing.get(g, a) for g, a in enumerate(self.groups.ask(each, self.allow_partial))]
        if any(a is None for a in answers):
            return None
        parts: list[Scores] = [a for a in answers if not isinstance(a, Missing)]
        if not parts:
            raise describe_absence(answers)
        if interleave(parts):
            with_documents = msgspec.structs.replace(wanted, documents=True)
            there = [None if isinstance(a, Missing) else with_documents for a in answers]
            parts = [a for a in self.groups.ask(there) if a is not None]
        return answers, parts

    def _fetch_rows(
        self,
        query: Query,
        options: MatchOptions,
        asked: FindRows,
        answers: list[Any],
        ranking: Ranking,
        scoring: FeatureScoring,
    ) -> Contexts:
        """Fetch the table of the rows to show, and set the rows of the ranking's evidence."""
        used = [column for a in answers if not isinstance(a, Missing) for column in a.used]
        asked = msgspec.structs.replace(asked, columns=tuple(dict.fromkeys([*TOGETHER, *used])))
        each = [None if isinstance(a, Missing) else asked for a in answers]
        table = self._join(query, options, asked, self.groups.ask(each))
        own = select(table, scoring.score(table), scoring.policy)
        whole = ranking.evidence
        first = whole.at[np.searchsorted(whole.entity, own.entity)]
        whole.row[np.repeat(first - own.at[:-1], np.diff(own.at)) + np.arange(own.row.size)] = own.row
        return table


class _GroupColumns:
    """Columns of the partial contexts of a query, fetched from all groups when first read.

    Only the groups that gave partial contexts are asked, and all of them must answer.
    """

    def __init__(self, groups: ShardGroups, asked: FindRows, there: set[int]) -> None:
        self._groups, self._asked, self._there = groups, asked, there
        self._found: dict[Column, list[GivenColumns]] = {}

    def fetch(self, group: int, column: Column) -> GivenColumns:
        """A column of one group."""
        if column not in self._found:
            wanted = tuple(c for c in TOGETHER if c not in self._found) if column == Column.START else (column,)
            answers = self.ask(ReadColumns(self._asked.question, self._asked.entities, wanted))
            self._found |= dict.fromkeys(wanted, answers)
        return self._found[column][group]

    def ask(self, call: ShardCall) -> list[Any]:
        """Ask the groups that gave partial contexts."""
        return self._groups.ask([call if g in self._there else None for g in range(self._groups.count)])


class _Lookup:
    """Lookups of a table in the whole collection, or in the groups that answered where some are missing."""

    def __init__(self, collection: ShardedCollection, answering: _GroupColumns | None) -> None:
        self.catalog, self.analysis = collection.catalog, collection.analysis
        self._groups, self._answering = collection.groups, answering

    def document_ids(self, documents: list[int]) -> list[str]:
        return self._groups.document_ids(documents)

    def entity_documents_of(self, entities: I32) -> I32:
        if self._answering is None:
            return self._groups.entity_documents_of(entities)
        return add_counts(self._answering.ask(CountDocuments(entities)))


def _empty_table(query: Query) -> Contexts:
    none, no_counts = np.empty(0, dtype=np.int32), np.zeros(len(query.literals), dtype=np.int64)
    distances = np.empty((len(query.literals), 0), dtype=np.int32)
    return Contexts(query, Statistics(0, 0, no_counts, no_counts), none, none, none, distances, "")
