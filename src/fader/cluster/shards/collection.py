"""An index whose segments are elsewhere: asked like any other, it asks its shards and puts their answers together.

    index = ClusterIndex(folder, shards)        folder: manifest and catalog; shards: `Shards` or `LocalShards`
    index.search("bayesian nonparametric models", type="person")

Everything above the Contexts table works unchanged on the table of all shares, which is bit for bit that of one
machine. Never silently partial: a group that does not answer is an error, unless `allow_partial`; then a warning says
what is missing. Knows nothing of sockets or Ray.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.cluster.shards.reader import ClusterReader, added, nobody
from fader.cluster.shards.scores import Scores, interleave, merged, text_of
from fader.cluster.wire.serialization import Plain, column_from, options_to, query_to, share_from, statistics_to
from fader.cluster.wire.transport import Missing, Transport
from fader.contexts.match import MatchOptions, unknown
from fader.contexts.partial import table_of
from fader.contexts.policy import select
from fader.contexts.query import Query
from fader.contexts.quota import ContextQuota
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.features.combined import Combined
from fader.limits import Limits
from fader.rank.ranking import rank_values
from fader.rank.system import FeatureScoring, Ranking, System, aggregate_evidence
from fader.search.index import Asked, Index

log = logging.getLogger("fader.cluster")
I32 = NDArray[np.int32]
KEPT_COUNTS = 100_000  # literals whose counts are known
KEPT_FEATURES = 1_000  # of which it is known that shards cannot find their scores
_UNKNOWN = (-1, -1)
# Columns that are asked for together as a rule: what a snippet shows of a context.
TOGETHER = ("start", "end", "sides", "confidence")


class ClusterIndex(Index):
    """An index asked through its shards; `allow_partial` answers from the groups that are there, and says so."""

    reader: ClusterReader

    def __init__(
        self, folder: str | Path, shards: Transport, at: int | None = None, limits: Limits | None = None,
        allow_partial: bool = False,
    ) -> None:  # fmt: skip
        self.limits = limits or Limits.from_environment()
        self.reader = ClusterReader(folder, shards, at, allow_partial)
        self.report = None
        self.allow_partial = allow_partial
        self._counts: dict[Any, tuple[int, int]] = {}
        self._elsewhere: set[str] = set()  # features whose scores cannot be found by shards

    def refreshed(self) -> Index:
        """The index at the commit whose shards are asked now: itself where that is open already."""
        shards = self.reader.shards
        if shards.commit == self.commit:
            return self
        return type(self)(self.reader.folder, shards, limits=self.limits, allow_partial=self.allow_partial)

    def _match(self, query: Query, options: MatchOptions) -> Contexts:
        self.reader.about()
        asked = {"query": query_to(query), "options": options_to(options)}
        answers = self.reader.ask("share", asked, self.allow_partial)
        table = self._table(query, options, asked, answers)
        table.warnings += self._missing(answers)
        return table

    def _table(self, query: Query, options: MatchOptions, asked: Plain, answers: list[Any]) -> Contexts:
        """The table of the shares that came."""
        there = [(g, a) for g, a in enumerate(answers) if a is not None and not isinstance(a, Missing)]
        if not there:
            raise nobody(answers)
        late = _Late(self.reader, asked, {g for g, _answer in there})
        shares = [share_from(answer, late.of(group)) for group, answer in there]
        source = self.reader if len(there) == len(answers) else late
        return table_of(query, self.reader.documents, self.reader.tokens, shares, source, options)

    def _ranked(
        self, system: System, query: str | Query, type: str | None, k: int, *, entity: int | None = None,
        with_rows: bool = True,
    ) -> Asked:  # fmt: skip
        """Scores are found where contexts are, if they can be; then only the rows that are to be shown are fetched."""
        scoring, view = system.feature_scoring, system.view
        features = None if scoring is None or view.top else text_of(scoring.features)
        if scoring is None or features is None or features in self._elsewhere:
            return super()._ranked(system, query, type, k, entity=entity, with_rows=with_rows)
        self.reader.about()
        parsed, options = self._parsed(query, type), MatchOptions(view.overlap, view.window, None, self.limits)
        asked = {"query": query_to(parsed), "options": options_to(options)}
        statistics, missing = self._statistics(parsed)
        given = asked | {
            "statistics": statistics_to(statistics), "features": features, "weights": scoring.weights,
            "policy": scoring.policy, "combined": isinstance(scoring.features, Combined),
        }  # fmt: skip
        found = self._scores(given, missing)
        if found is None:
            if len(self._elsewhere) >= KEPT_FEATURES:
                self._elsewhere.clear()
            self._elsewhere.add(features)
            return super()._ranked(system, parsed, None, k, entity=entity, with_rows=with_rows)
        answers, parts = found
        ContextQuota(self.limits, len(parsed.literals)).reserve(sum(part.taken for part in parts))
        evidence = merged(parts)
        ranking = rank_values(evidence, aggregate_evidence(scoring.aggregator, evidence), k)
        warnings, empty = unknown(parsed.literals, statistics)
        contexts = self._rows(parsed, options, asked, answers, ranking, entity, with_rows, scoring)
        contexts = replace(
            contexts, statistics=statistics, warnings=[*parsed.notes, *warnings, *self._missing(answers)],
            empty_because=empty, matched_documents=sum(part.matched for part in parts),
        )  # fmt: skip
        return Asked(contexts, ranking, sum(part.contexts for part in parts))

    def _statistics(self, query: Query) -> tuple[Statistics, dict[int, Missing]]:
        """Counts of the literals in the whole collection, known where asked for lately; and what groups are missing."""
        keys = [(literal.terms, literal.offsets) for literal in query.literals]
        known = [self._counts.get(key, _UNKNOWN) for key in keys]
        missing: dict[int, Missing] = {}
        if _UNKNOWN in known:
            answers = self.reader.ask("statistics", {"query": query_to(query)}, self.allow_partial)
            missing = {a.group: a for a in answers if isinstance(a, Missing)}
            if len(missing) == len(answers):
                raise nobody(answers)
            counts = [[a["df"], a["cf"]] for a in answers if not isinstance(a, Missing)]
            known = [(df, cf) for df, cf in np.sum(counts, axis=0).T.tolist()]
            if not missing:
                if len(self._counts) > KEPT_COUNTS:
                    self._counts = {}
                self._counts.update(zip(keys, known, strict=True))
        df, cf = (np.array(column, dtype=np.int64) for column in zip(*known, strict=True))
        return Statistics(self.reader.documents, self.reader.tokens, df, cf), missing

    def _scores(self, given: Plain, missing: dict[int, Missing]) -> tuple[list[Any], list[Scores]] | None:
        """What each group answers, those apart that are missing already; None where scores cannot be found there."""
        each = [None if g in missing else given for g in range(self.reader.groups)]
        answers = [missing.get(g, a) for g, a in enumerate(self.reader.ask("scores", each, self.allow_partial))]
        parts = [Scores(**a) for a in answers if a is not None and not isinstance(a, Missing)]
        if any(a is None for a in answers):
            return None
        if not parts:
            raise nobody(answers)
        if interleave(parts):
            there = [None if isinstance(a, Missing) else given | {"documents": True} for a in answers]
            parts = [Scores(**a) for a in self.reader.ask("scores", there) if a is not None]
        return answers, parts

    def _rows(
        self, query: Query, options: MatchOptions, asked: Plain, answers: list[Any], ranking: Ranking,
        entity: int | None, with_rows: bool, scoring: FeatureScoring,
    ) -> Contexts:  # fmt: skip
        """The table of the rows that are to be shown; the evidence is told which these are."""
        wanted = ranking.entity if entity is None else np.array([entity], dtype=np.int32)
        if not with_rows or not wanted.size:
            return _no_rows(query)
        there = [a for a in answers if not isinstance(a, Missing)]
        columns = list(dict.fromkeys([*TOGETHER, *(name for a in there for name in a["used"])]))
        asked = asked | {"entities": wanted}
        given = [None if isinstance(a, Missing) else asked | {"columns": columns} for a in answers]
        table = self._table(query, options, asked, self.reader.ask("share", given))
        own = select(table, scoring.score(table), scoring.policy)
        whole = ranking.evidence
        first = whole.at[np.searchsorted(whole.entity, own.entity)]
        whole.row[np.repeat(first - own.at[:-1], np.diff(own.at)) + np.arange(own.row.size)] = own.row
        return table

    def _missing(self, answers: Sequence[Any]) -> list[str]:
        """A warning of what a partial answer lacks."""
        missing, reader = [a for a in answers if isinstance(a, Missing)], self.reader
        if not missing:
            return []
        if len(missing) == len(answers):
            raise nobody(answers)
        lacking = {a.group for a in missing}
        for one in missing:  # the log may name machines, the answer must not
            log.warning("partial answer of commit %d: shard group %d: %s", self.commit, one.group, one.why)
        held = [(g, a["documents"]) for g, a in enumerate(reader.about()) if not isinstance(a, Missing)]
        there = sum(documents for g, documents in held if g not in lacking)
        numbers = ", ".join(map(str, sorted(lacking)[:8])) + (" and more" if len(lacking) > 8 else "")
        lost = f"{len(missing)} of {reader.groups} shard groups did not answer"
        return [
            f"this answer is partial: {lost}, and {reader.documents - there:,} of {reader.documents:,} documents were "
            f"not looked at (missing: {numbers})"
        ]


class _Late:
    """Late columns of the shares of one query: asked of all groups at once, when one share's is first asked for.

    Only groups that gave a share are asked, and they must answer: a table is of these groups, or there is none.
    """

    def __init__(self, reader: ClusterReader, asked: Plain, there: set[int]) -> None:
        self._reader, self._asked, self._there = reader, asked, there
        self.catalog, self.document_ids = reader.catalog, reader.document_ids
        self._found: dict[str, list[Any]] = {}

    def of(self, group: int) -> Callable[[str], Any]:
        return lambda name: self._columns(name)[group]

    def _columns(self, name: str) -> list[Any]:
        if name not in self._found:
            names = [n for n in TOGETHER if n not in self._found] if name == "start" else [name]
            answers = self._ask("columns", self._asked | {"names": names})
            for n in names:
                self._found[n] = [None if a is None else column_from(n, a[n]) for a in answers]
        return self._found[name]

    def _ask(self, method: str, given: Plain) -> list[Any]:
        every = range(self._reader.groups)
        return self._reader.ask(method, [given if g in self._there else None for g in every])

    def entity_documents_of(self, entities: I32) -> I32:
        """How many documents of these groups mention each of some entities."""
        return added(self._ask("entity_documents", {"entities": entities}))


def _no_rows(query: Query) -> Contexts:
    none, no_counts = np.empty(0, dtype=np.int32), np.zeros(len(query.literals), dtype=np.int64)
    distances = np.empty((len(query.literals), 0), dtype=np.int32)
    return Contexts(query, Statistics(0, 0, no_counts, no_counts), none, none, none, distances, "")
