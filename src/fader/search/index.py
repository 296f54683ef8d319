"""The Python interface: open or build an index, ask it.

Thin: every call parses, matches and ranks through the layers below. Safe to share among threads.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fader import budget
from fader.budget import deadline
from fader.contexts.match import MatchOptions, match
from fader.contexts.query import Query, parse_query
from fader.contexts.table import Contexts
from fader.corpus.analysis import Analysis
from fader.errors import CatalogError, QueryError, UsageError
from fader.index.commit import read_commit
from fader.index.manifest import KEEP
from fader.index.reader import IndexReader
from fader.index.write.change import ChangeReport
from fader.index.write.writer import BuildOptions, BuildReport
from fader.index.write.writer import build as build_index
from fader.limits import DEFAULTS, Limits
from fader.progress import Progress
from fader.rank.ranking import Contributions, explain_entity, rank_entities
from fader.rank.system import Ranking, System, View
from fader.search.answer import Answer, Result
from fader.search.entity import EntityCard, EntityEvidence, check_page, entity_card, entity_evidence
from fader.search.entity_rank import EntityRank, entity_number, find_entity
from fader.search.evidence import SHOWN_CONTEXTS, by_weight, evidence_of, explanation_of
from fader.search.models import DEFAULT, resolve_model, warnings_of
from fader.search.versus import Versus, versus
from fader.search.why import Why, why_of
from fader.systems.shared.weighting import in_best_documents

MAX_K = DEFAULTS.k


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranking with names: entity ids, scores and supports, best first."""

    entities: list[str]
    scores: list[float]
    support: list[int]


@dataclass(frozen=True, slots=True)
class Asked:
    """A query's contexts, at least those that are to be shown, the ranking, and how many contexts there are in all."""

    contexts: Contexts
    ranking: Ranking
    count: int


class Index:
    """An index opened for asking; without limits given, those of the environment hold."""

    def __init__(
        self, folder: str | Path, verify: bool = False, at: int | None = None, limits: Limits | None = None
    ) -> None:
        self.limits = limits or Limits.from_environment()
        self.reader = IndexReader(folder, verify, at=at)
        self.report: BuildReport | ChangeReport | None = None

    def __repr__(self) -> str:
        r = self.reader
        return f"Index({str(r.folder)!r}, documents={r.documents:,}, mentions={r.mentions:,})"

    @property
    def commit(self) -> int:
        """The number of the commit that is open; what writers do does not change it."""
        return self.reader.commit

    def refreshed(self) -> Index:
        """The index at its newest commit: itself where that is open already."""
        if read_commit(self.reader.folder) == self.reader.manifest:
            return self
        newest = copy(self)
        newest.reader, newest.report = IndexReader(self.reader.folder), None
        return newest

    def parse(self, query: str, type: str | None = None) -> Query:
        """Parse a query and resolve its type to an id."""
        parsed = parse_query(query, self.reader.analysis, type, self.limits)
        if parsed.type is None:
            return parsed
        try:
            number = self.reader.catalog.resolve_type(parsed.type)
        except CatalogError as error:
            raise QueryError(str(error)) from None
        return replace(parsed, type=self.reader.catalog.type_ids[number])

    def contexts(
        self, query: str | Query, type: str | None = None, *,
        plan: str | None = None, overlap: bool = True, window: int | None = None, timeout_ms: float | None = None,
    ) -> Contexts:  # fmt: skip
        """The Contexts table of a query."""
        with self._spending(timeout_ms):
            parsed = self._parsed(query, type)
            return self._match(parsed, MatchOptions(overlap, window, plan, self.limits))

    def _match(self, query: Query, options: MatchOptions) -> Contexts:
        """The contexts of a query, wherever they are found."""
        return match(self.reader, query, options)

    def _parsed(self, query: str | Query, type: str | None) -> Query:
        if not isinstance(query, Query):
            return self.parse(query, type)
        if type is not None:
            raise UsageError("a parsed query has its type already; leave type out, or give the query as text")
        return query

    @contextmanager
    def _spending(self, timeout_ms: float | None) -> Iterator[None]:
        """Count the time of a query: its own, and never more than the limit."""
        with deadline(self.limits.time_ms), deadline(timeout_ms):
            yield

    def _contexts_for(self, system: System, query: str | Query, type: str | None) -> Contexts:
        """The contexts as a ranker wants them matched."""
        return self.viewed(query, type, system.view)

    def viewed(self, query: str | Query, type: str | None, view: View) -> Contexts:
        """The contexts of a query that a view leaves."""
        contexts = self.contexts(query, type, window=view.window, overlap=view.overlap)
        return in_best_documents(contexts, view.top) if view.top else contexts

    def rank(
        self, query: str | Query, type: str | None = None, k: int = 10, model: Any = DEFAULT, *,
        timeout_ms: float | None = None,
    ) -> Ranked:  # fmt: skip
        """The k best entities of a query, without evidence."""
        k = self.limits.check("k", k)
        with self._spending(timeout_ms):
            system = resolve_model(model, self.reader).system
            ranking = self._ranked(system, query, type, k, with_rows=False).ranking
        ids = self.reader.catalog.entity_ids
        entities = [ids[e] for e in ranking.entity.tolist()]
        return Ranked(entities, ranking.score.tolist(), ranking.support.tolist())

    def search(
        self, query: str | Query, type: str | None = None, k: int = 10, model: Any = DEFAULT, *,
        snippets: int = 1, explain: bool = False, timeout_ms: float | None = None,
    ) -> Answer:  # fmt: skip
        """The k best entities with their evidence."""
        k, snippets = self.limits.check("k", k), self.limits.check("snippets", snippets, least=0)
        began = time.perf_counter()
        with self._spending(timeout_ms):
            chosen = resolve_model(model, self.reader)
            system = chosen.system
            asked = self._ranked(system, query, type, k, with_rows=bool(snippets or explain))
            contexts, ranking = asked.contexts, asked.ranking
            every = range(ranking.entity.size)
            shares = [explain_entity(system, contexts, ranking, i) if snippets or explain else None for i in every]
            self._prefetch(contexts, shares, snippets, explain)
            results = [self._result(asked, system, i, shares[i], snippets, explain) for i in every]
        empty = [contexts.empty_because] if contexts.empty_because else []
        warnings = [*warnings_of(chosen, self.reader), *contexts.warnings, *empty]
        return Answer(
            query=contexts.query.to_dict(), type=contexts.query.type, matched_documents=contexts.matched_documents,
            contexts=asked.count, candidates=ranking.candidates, warnings=warnings, model=str(chosen),
            results=results, took_ms=1000 * (time.perf_counter() - began),
        )  # fmt: skip

    def _ranked(
        self, system: System, query: str | Query, type: str | None, k: int, *, entity: int | None = None,
        with_rows: bool = True,
    ) -> Asked:  # fmt: skip
        """All candidates ranked; the table has the rows of the k best, or of an entity, where these are wanted."""
        contexts = self._contexts_for(system, query, type)
        return Asked(contexts, rank_entities(system, contexts, k), len(contexts))

    def _prefetch(self, contexts: Contexts, shares: list[Contributions | None], snippets: int, explain: bool) -> None:
        """What will be shown of documents, in one call for all results where documents are elsewhere."""
        if self.reader.is_elsewhere:
            rows = [s.row[by_weight(s)] for s in shares if s is not None]
            shown = [row for some in rows for row in some[:snippets]]
            self.reader.prefetch(contexts.document[shown].tolist() if shown else [])
            named = [row for some in rows for row in some[:SHOWN_CONTEXTS]] if explain else []
            self.reader.prefetch(contexts.document[named].tolist() if named else [], texts=False)

    def _result(
        self, asked: Asked, system: System, i: int, shares: Contributions | None, snippets: int, explain: bool
    ) -> Result:
        budget.check()
        contexts, ranking = asked.contexts, asked.ranking
        catalog, entity = self.reader.catalog, int(ranking.entity[i])
        return Result(
            rank=i + 1, entity=catalog.entity_ids[entity], name=catalog.entity_names[entity],
            types=catalog.types_of(entity), score=float(ranking.score[i]), support=int(ranking.support[i]),
            evidence=evidence_of(self.reader, contexts, shares, snippets) if shares and snippets else [],
            explain=explanation_of(self.reader, contexts, system, ranking, i, shares) if shares and explain else None,
        )  # fmt: skip

    def entity(self, entity: str) -> EntityCard:
        """An entity, given by id: its names and types."""
        with self._spending(None):
            return entity_card(self.reader, entity)

    def evidence(
        self, query: str | Query, entity: str, type: str | None = None, model: Any = DEFAULT, *,
        offset: int = 0, limit: int = 20, timeout_ms: float | None = None,
    ) -> EntityEvidence:  # fmt: skip
        """What speaks for one entity, however far down it is ranked: a page of its contexts."""
        offset, limit = check_page(offset, limit, self.limits.snippets)
        with self._spending(timeout_ms):
            return entity_evidence(self._standing(query, entity, type, model), offset, limit)

    def why(
        self, query: str | Query, entity: str, type: str | None = None, model: Any = DEFAULT, *,
        timeout_ms: float | None = None,
    ) -> Why:  # fmt: skip
        """Why one entity has its rank, however far down it is."""
        with self._spending(timeout_ms):
            return why_of(self._standing(query, entity, type, model))

    def _standing(self, query: str | Query, entity: str, type: str | None, model: Any) -> EntityRank:
        number, chosen = entity_number(self.reader, entity), resolve_model(model, self.reader)
        asked = self._ranked(chosen.system, query, type, 1, entity=number)
        return find_entity(self.reader, chosen, asked.contexts, asked.ranking, number)

    def versus(
        self, query: str | Query, a: Any, b: Any, type: str | None = None, k: int = 10, *,
        snippets: int = 1, timeout_ms: float | None = None,
    ) -> Versus:  # fmt: skip
        """Two models or systems on one query."""
        k, snippets = self.limits.check("k", k), self.limits.check("snippets", snippets, least=0)
        with self._spending(timeout_ms):
            models = resolve_model(a, self.reader), resolve_model(b, self.reader)
            parsed = self._parsed(query, type)
            return versus(self.reader, models, lambda view: self.viewed(parsed, None, view), k, snippets)

    def analyze(self, text: str) -> list[tuple[str, int, int]]:
        """Terms with their characters, as documents and queries are analysed; stop words left out."""
        return [(term, a, b) for term, a, b in self.reader.analysis.tokens(text) if term is not None]


def open(path: str | Path, verify: bool = False, at: int | None = None, limits: Limits | None = None) -> Index:
    """Open an index at its newest commit, or at commit `at`; with `verify` it is checked first."""
    return Index(path, verify, at, limits)


def build(
    path: str | Path,
    corpus: str | Path | Iterable[str | Path] | Iterable[Mapping[str, Any]],
    entities: str | Path | Iterable[Mapping[str, Any]],
    types: str | Path | Iterable[Mapping[str, Any]],
    *,
    stemmer: str | None = None,
    stopwords: Iterable[str] = (),
    on_error: str = "skip",
    catalog_on_error: str = "fail",
    memory_mb: int = 2048,
    segment_tokens: int | None = None,
    threads: int = 1,
    store_text: bool = True,
    overwrite: bool = False,
    keep: int = KEEP,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> Index:
    """Build an index from files (paths) or dictionaries, and open it; `keep` is how many commits it keeps."""
    limits = limits or Limits.from_environment()
    options = BuildOptions(
        Analysis(stemmer, tuple(stopwords)), on_error, catalog_on_error, memory_mb, segment_tokens, threads,
        store_text, overwrite, keep=keep, limits=limits,
    )  # fmt: skip
    report = build_index(Path(path), corpus, entities, types, options, progress)
    index = Index(path, limits=limits)
    index.report = report
    return index
