"""The Python interface: open or build an index, ask it.

An index has a collection (`search.collection`) and limits. Every call parses its query, asks the collection for
contexts or for ranked evidence, and shows what comes back. Safe to share among threads.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, final

from fader import budget
from fader.allowance import allowance
from fader.budget import deadline
from fader.contexts.match import MatchOptions
from fader.contexts.query import Query, parse_query
from fader.contexts.table import Contexts
from fader.corpus.analysis import Analysis
from fader.errors import CatalogError, QueryError, UsageError
from fader.index.manifest import KEEP
from fader.index.reader import CACHE_MB, IndexReader
from fader.index.write.change import ChangeReport
from fader.index.write.writer import BuildOptions, BuildReport
from fader.index.write.writer import build as build_index
from fader.lazy import cached_property
from fader.learn.model import Model
from fader.limits import DEFAULTS, Limits
from fader.progress import Progress, watch
from fader.questions.reader import Choice, Read, Reader
from fader.rank.ranking import explain_entity
from fader.rank.system import System, View
from fader.search.answer import Answer, AnsweredQuery, Explanation, Result, Snippet
from fader.search.ask import (
    AskedAnswer,
    AskedReading,
    RankedQuestion,
    rank_question,
    read_question,
    resolve_interpreter,
    show_question,
)
from fader.search.collection import Collection, RankedContexts
from fader.search.display import show_facts
from fader.search.document import DocumentPage, read_document
from fader.search.entity import EntityCard, EntityEvidence, check_page, entity_card, entity_evidence
from fader.search.entity_rank import EntityStanding, entity_number, find_entity
from fader.search.evidence import explain_entities, show_contexts, show_evidence
from fader.search.local import LocalCollection
from fader.search.models import DEFAULT, resolve_model, warnings_of
from fader.search.passage import HIGHLIGHTS, Passage, parse_passage
from fader.search.versus import Versus, versus
from fader.search.why import Why, why_of
from fader.systems.shared.weighting import in_best_documents

MAX_K = DEFAULTS.k
KEPT_QUERIES = 512  # that are not parsed again
MOST_QUESTION = 20_000  # characters; of its words only the first count


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranking with names: entity ids, scores and supports, best first."""

    entities: list[str]
    scores: list[float]
    support: list[int]


@final
class Index:
    """A collection opened for queries. Without limits given, those of the environment hold.

    `fader.open` gives the index of a folder; `Index(collection)` asks a collection of any other kind.
    """

    def __init__(self, collection: Collection, limits: Limits | None = None) -> None:
        self.collection = collection
        self.limits = limits or Limits.from_environment()
        self.report: BuildReport | ChangeReport | None = None
        self._parsed: dict[tuple[str, str | None, bool], Query] = {}

    @classmethod
    def open(
        cls,
        folder: str | Path,
        verify: bool = False,
        at: int | None = None,
        limits: Limits | None = None,
        cache_mb: int = CACHE_MB,
    ) -> Index:
        """The index in a folder at its newest commit, or at commit `at`; with `verify` it is checked first.

        Lists that queries have read stay decoded, up to `cache_mb` megabytes of those that ranking reads, and as much
        of those that tables of contexts are made from. With 0 every query decodes what it reads.
        """
        return cls(LocalCollection(IndexReader(folder, verify, cache_mb, at)), limits)

    def __repr__(self) -> str:
        c = self.collection
        return f"Index({str(c.folder)!r}, documents={c.documents:,}, mentions={c.mentions:,})"

    def _repr_html_(self) -> str:
        c = self.collection
        counts: dict[str, object] = {"documents": c.documents, "mentions": c.mentions}
        catalog = {"entities": len(c.catalog.entity_ids), "types": len(c.catalog.type_ids), "commit": c.commit}
        return show_facts(f"Index {c.folder}", counts | catalog)

    @property
    def commit(self) -> int:
        """The number of the commit that is open; what writers do does not change it."""
        return self.collection.commit

    def refresh(self) -> Index:
        """The index at its newest commit: itself where that is open already."""
        newest = self.collection.refresh()
        return self if newest is self.collection else Index(newest, self.limits)

    def parse(self, query: str, type: str | None = None, *, entity_literals: bool = True) -> Query:
        """Parse a query, resolve its type to an id, and check the ids of its entities.

        Without `entity_literals` no literal names an entity, whatever the model says, unless it is written `entity:ID`.
        """
        key = query, type, entity_literals
        is_text = isinstance(query, str) and isinstance(type, str | None)  # what is not is refused below
        found = self._parsed.get(key) if is_text else None
        if found is None:
            found = self._parse_anew(*key)
            if len(self._parsed) >= KEPT_QUERIES:
                self._parsed.clear()
            self._parsed[key] = found
        return found

    def _parse_anew(self, query: str, type: str | None, entity_literals: bool) -> Query:
        parsed = parse_query(query, self.collection.analysis, type, self.limits)
        parsed = parsed if entity_literals else replace(parsed, named=True)
        catalog = self.collection.catalog
        try:
            for literal in (*parsed.literals, *parsed.forbidden):
                if literal.entity is not None:
                    catalog.resolve_entity(literal.entity)
            if parsed.type is None:
                return parsed
            resolved = catalog.resolve_type_id(parsed.type)
        except CatalogError as error:
            raise QueryError(str(error)) from None
        if resolved == parsed.type:
            return parsed
        senses = catalog.note_senses(parsed.type)
        return replace(parsed, type=resolved, notes=(*parsed.notes, senses) if senses else parsed.notes)

    def _parse(self, query: str | Query, type: str | None) -> Query:
        if not isinstance(query, Query):
            return self.parse(query, type)
        if type is not None:
            raise UsageError("a parsed query has its type already; leave type out, or give the query as text")
        return query

    @contextmanager
    def _limited(self, timeout_ms: float | None) -> Iterator[None]:
        """Count what a query takes: time, its own and never more than the limit, and memory."""
        with deadline(self.limits.time_ms), deadline(timeout_ms), allowance(self.limits):
            yield

    def contexts(
        self,
        query: str | Query,
        type: str | None = None,
        *,
        plan: str | None = None,
        overlap: bool = True,
        window: int | None = None,
        stem: bool = False,
        entities: bool = False,
        relax: bool = False,
        timeout_ms: float | None = None,
    ) -> Contexts:
        """The Contexts table of a query."""
        with self._limited(timeout_ms):
            options = MatchOptions(overlap, window, plan, self.limits, stem, entities, relax)
            return self.collection.contexts(self._parse(query, type), options)

    def view_contexts(self, query: str | Query, type: str | None, view: View) -> Contexts:
        """The contexts of a query that a model's view of them leaves."""
        with self._limited(None):
            contexts = self.collection.contexts(self._parse(query, type), view.match_options(self.limits))
        return in_best_documents(contexts, view.top) if view.top else contexts

    def _rank(
        self,
        system: System,
        query: str | Query,
        type: str | None,
        k: int,
        *,
        with_rows: bool = True,
        entity: int | None = None,
        best: int | None = None,
    ) -> RankedContexts:
        options = system.view.match_options(self.limits)
        parsed = self._parse(query, type)
        return self.collection.evidence(parsed, options, system, k, with_rows=with_rows, entity=entity, best=best)

    def rank(
        self,
        query: str | Query,
        type: str | None = None,
        k: int = 10,
        model: Any = DEFAULT,
        *,
        timeout_ms: float | None = None,
    ) -> Ranked:
        """The k best entities of a query, without evidence."""
        k = self.limits.check("k", k)
        with self._limited(timeout_ms):
            system = resolve_model(model, self.collection).system
            ranking = self._rank(system, query, type, k, with_rows=False).ranking
        entities = self.collection.catalog.entity_ids.take(ranking.entity)
        return Ranked(entities, ranking.score.tolist(), ranking.support.tolist())

    def search(
        self,
        query: str | Query,
        type: str | None = None,
        k: int = 10,
        model: Any = DEFAULT,
        *,
        snippets: int = 1,
        passage: str = HIGHLIGHTS,
        explain: bool = False,
        timeout_ms: float | None = None,
    ) -> Answer:
        """The k best entities with their evidence: `snippets` per entity, and with `explain` how scores come about.

        `passage` is how much text a snippet shows: see `fader.search.passage`.
        """
        width = parse_passage(passage)
        k, snippets = self.limits.check("k", k), self.limits.check("snippets", snippets, least=0)
        began = time.perf_counter()
        with self._limited(timeout_ms):
            chosen = resolve_model(model, self.collection)
            best = None if explain or not snippets else snippets
            found = self._rank(chosen.system, query, type, k, with_rows=bool(snippets or explain), best=best)
            results = self._results(found, chosen.system, snippets, explain, width)
        contexts = found.contexts
        empty = [contexts.empty_because] if contexts.empty_because else []
        return Answer(
            query=AnsweredQuery.of(contexts.query),
            type=contexts.query.type,
            matched_documents=contexts.matched_documents,
            contexts=found.total,
            candidates=found.ranking.candidates,
            warnings=[*warnings_of(chosen, self.collection), *contexts.warnings, *empty],
            model=str(chosen),
            results=results,
            took_ms=1000 * (time.perf_counter() - began),
        )

    def _results(
        self, found: RankedContexts, system: System, snippets: int, explain: bool, width: Passage
    ) -> list[Result]:
        contexts, ranking = found.contexts, found.ranking
        every = range(ranking.entity.size)
        shown: list[list[Snippet]] = [[] for _i in every]
        shares = []
        if found.shown is not None:
            shown = show_contexts(self.collection, contexts, found.shown, width)
        elif snippets or explain:
            shares = [explain_entity(system, contexts, ranking, i) for i in every]
            shown = show_evidence(self.collection, contexts, shares, snippets, width) if snippets else shown
        explained: list[Explanation] | list[None] = [None for _i in every]
        if explain:
            explained = explain_entities(self.collection, contexts, system, ranking, shares)
        budget.check()
        described = self.collection.catalog.describe_entities(ranking.entity.tolist())
        scores, supports = ranking.score.tolist(), ranking.support.tolist()
        return [
            Result(i + 1, entity, name, types, scores[i], supports[i], shown[i], explained[i])
            for i, (entity, name, types) in enumerate(described)
        ]

    @cached_property
    def _reader(self) -> Reader:
        """What reads questions; made for the first, in about 10 microseconds per type."""
        return Reader(self.collection.catalog)

    def read(
        self, question: str, interpreter: Any = DEFAULT, *, correct: bool = True, timeout_ms: float | None = None
    ) -> Read:
        """The ways to read a question, the most probable first; `search(reading.query, reading.type)` asks one."""
        self._check_question(question)
        options = MatchOptions(limits=self.limits, stem=True, entities=True)
        how = resolve_interpreter(interpreter)
        with self._limited(timeout_ms):
            return read_question(self.collection, self._reader, question, how, options, self.limits, correct)[0]

    def rank_question(
        self,
        question: str,
        k: int = 10,
        model: Any = DEFAULT,
        interpreter: Any = DEFAULT,
        *,
        correct: bool = True,
        timeout_ms: float | None = None,
    ) -> Ranked:
        """The k best entities of a question in plain words, without evidence."""
        k = self.limits.check("k", k)
        with self._limited(timeout_ms):
            chosen = resolve_model(model, self.collection)
            found = self._rank_question(question, chosen, interpreter, correct, Choice())
        ids = self.collection.catalog.entity_ids
        entities = [ids[e] for e in found.entity[:k].tolist()]
        return Ranked(entities, found.score[:k].tolist(), found.support[:k].tolist())

    def ask(
        self,
        question: str,
        k: int = 10,
        model: Any = DEFAULT,
        interpreter: Any = DEFAULT,
        *,
        type: str | None = None,
        any_type: bool = False,
        query: str | None = None,
        min_probability: float = 0.0,
        snippets: int = 1,
        passage: str = HIGHLIGHTS,
        correct: bool = True,
        timeout_ms: float | None = None,
    ) -> AskedAnswer:
        """The k best entities of a question in plain words, with their evidence and all readings of the question.

        With `correct`, words that occur nowhere are replaced by the catalog's word that is most like each. A reading
        that was chosen or edited is sent back as its `type`, or `any_type` for the one without, and its `query`: the
        type then counts alone, and the query is taken as it is written. Answers that are less sure than
        `min_probability` are left out.
        """
        choice = self._choose(query, type, any_type)
        width = parse_passage(passage)
        k, snippets = self.limits.check("k", k), self.limits.check("snippets", snippets, least=0)
        began = time.perf_counter()
        with self._limited(timeout_ms):
            chosen = resolve_model(model, self.collection)
            found = self._rank_question(question, chosen, interpreter, correct, choice, snippets)
            if min_probability > 0 and found.entity.size and not found.probable.size:
                raise UsageError("min_probability needs a calibrated interpreter; `fader train --questions` makes one")
            results = show_question(self.collection, found, chosen.system, k, snippets, width)
        results = [result for result in results if (result.probability or 0.0) >= min_probability]
        asked = AnsweredQuery.of(found.query)
        readings = [AskedReading.of(reading, asked) for reading in found.read.readings]
        return AskedAnswer(
            question=question,
            query=asked,
            readings=readings,
            chosen=None if found.read.chosen is None else readings[found.read.chosen],
            corrected=found.read.corrected,
            took_ms=1000 * (time.perf_counter() - began),
            matched_documents=found.matched_documents,
            contexts=found.contexts,
            candidates=int(found.entity.size),
            expected=found.expected,
            cut=found.cut,
            warnings=[*warnings_of(chosen, self.collection), *found.warnings],
            model=str(chosen),
            results=results,
        )

    def _rank_question(
        self, question: str, model: Model, interpreter: Any, correct: bool, choice: Choice, snippets: int = 0
    ) -> RankedQuestion:
        self._check_question(question)
        how, system = resolve_interpreter(interpreter, model), model.system
        return rank_question(
            self.collection, self._reader, question, how, system, self.limits, correct, choice, snippets
        )

    def _choose(self, query: str | None, type: str | None, any_type: bool) -> Choice:
        """A reading that was chosen, checked as a typed search is."""
        parsed = None if query is None and type is None else self.parse("any" if query is None else query, type)
        return Choice(query, None if parsed is None else parsed.type, any_type)

    def _check_question(self, question: str) -> None:
        if isinstance(question, str) and len(question) > MOST_QUESTION:
            size = f"the question has {len(question):,} characters"
            raise QueryError(f"{size}; at most {MOST_QUESTION:,} are read; shorten it", MOST_QUESTION)

    def entity(self, entity: str) -> EntityCard:
        """An entity, given by id: its names and types."""
        with self._limited(None):
            return entity_card(self.collection, entity)

    def evidence(
        self,
        query: str | Query,
        entity: str,
        type: str | None = None,
        model: Any = DEFAULT,
        *,
        offset: int = 0,
        limit: int = 20,
        passage: str = HIGHLIGHTS,
        timeout_ms: float | None = None,
    ) -> EntityEvidence:
        """The evidence for one entity, however low its rank: a page of its contexts."""
        width = parse_passage(passage)
        offset, limit = check_page(offset, limit, self.limits.snippets)
        with self._limited(timeout_ms):
            return entity_evidence(self._find_rank(query, entity, type, model), offset, limit, width)

    def why(
        self,
        query: str | Query,
        entity: str,
        type: str | None = None,
        model: Any = DEFAULT,
        *,
        timeout_ms: float | None = None,
    ) -> Why:
        """Why one entity has its rank, however low that is."""
        with self._limited(timeout_ms):
            return why_of(self._find_rank(query, entity, type, model))

    def _find_rank(self, query: str | Query, entity: str, type: str | None, model: Any) -> EntityStanding:
        number, chosen = entity_number(self.collection, entity), resolve_model(model, self.collection)
        found = self._rank(chosen.system, query, type, 1, entity=number)
        return find_entity(self.collection, chosen, found.contexts, found.ranking, number)

    def versus(
        self,
        query: str | Query,
        a: Any,
        b: Any,
        type: str | None = None,
        k: int = 10,
        *,
        snippets: int = 1,
        timeout_ms: float | None = None,
    ) -> Versus:
        """Two models or systems on one query, side by side."""
        k, snippets = self.limits.check("k", k), self.limits.check("snippets", snippets, least=0)
        with self._limited(timeout_ms):
            models = resolve_model(a, self.collection), resolve_model(b, self.collection)
            parsed = self._parse(query, type)
            return versus(self.collection, models, partial(self.view_contexts, parsed, None), k, snippets)

    def document(
        self, document: str, query: str | Query | None = None, *, timeout_ms: float | None = None
    ) -> DocumentPage:
        """A document, given by id: its text, sentences and mentions, and where the literals of a query occur in it."""
        with self._limited(timeout_ms):
            return read_document(self.collection, document, None if query is None else self._parse(query, None))

    def analyze(self, text: str) -> list[tuple[str, int, int]]:
        """Terms with their characters, as documents and queries are analysed; stop words left out."""
        return [(term, a, b) for term, a, b in self.collection.analysis.tokens(text) if term is not None]


def open(
    path: str | Path,
    verify: bool = False,
    at: int | None = None,
    limits: Limits | None = None,
    cache_mb: int = CACHE_MB,
) -> Index:
    """Open an index at its newest commit, or at commit `at`; with `verify` it is checked first.

    `cache_mb` is how many megabytes of lists stay decoded: see `Index.open`.
    """
    return Index.open(path, verify, at, limits, cache_mb)


def build(
    path: str | Path,
    corpus: str | Path | Iterable[str | Path] | Iterable[Mapping[str, Any]],
    entities: str | Path | Iterable[Mapping[str, Any]],
    types: str | Path | Iterable[Mapping[str, Any]] | None = None,
    *,
    columns: str | None = None,
    stemmer: str | None = None,
    stopwords: Iterable[str] = (),
    on_error: str = "skip",
    catalog_on_error: str = "fail",
    memory_mb: int = 2048,
    segment_tokens: int | None = None,
    threads: int | None = None,
    store_text: bool = True,
    overwrite: bool = False,
    keep: int = KEEP,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> Index:
    """Build an index from files (paths) or dictionaries, and open it; `keep` is how many commits it keeps.

    Without types, they are those that entities have. `columns` says which columns of a table of entities are which.
    """
    limits = limits or Limits.from_environment()
    options = BuildOptions(
        Analysis(stemmer, tuple(stopwords)),
        on_error,
        catalog_on_error,
        memory_mb,
        segment_tokens,
        threads,
        store_text,
        overwrite,
        keep=keep,
        limits=limits,
        columns=columns,
    )
    with watch("Indexing", progress) as reporter:
        report = build_index(Path(path), corpus, entities, types, options, reporter)
    index = Index.open(path, limits=limits)
    index.report = report
    return index
