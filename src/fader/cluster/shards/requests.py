"""What a shard is asked: each call is a record of its arguments, with the work and the type of the answer.

    FindRows(Question.of(query, options), columns=(Column.START,)).run(shard)            partial contexts

Every call is a pure function, so any replica can answer it, it may be repeated, and a later call may go to another
machine. Records are sent as they are (`wire.frames`), and checked against their types where they arrive. Knows nothing
of sockets, of other shards or of Ray.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from fader.cluster.shards.columns import Column, read_columns
from fader.cluster.shards.groups import documents_in
from fader.cluster.shards.scores import Scores, load_features, score_partial
from fader.cluster.wire.transport import Reply, ShardCall
from fader.contexts.columns import GivenColumns
from fader.contexts.match import MatchOptions
from fader.contexts.naming import FormCounts, count_forms
from fader.contexts.partial import PartialContexts, count_query
from fader.contexts.query import Literal, Query
from fader.contexts.statistics import Statistics
from fader.index.reader import Stored
from fader.index.segment import DocumentMentions
from fader.limits import DEFAULTS

if TYPE_CHECKING:
    from fader.cluster.shards.shard import Shard

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
FARTHEST = 2**32  # more than the distance of any two tokens of a document


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A query and the options of its match, without what only the coordinator needs, such as the original text."""

    literals: tuple[Literal, ...]
    forbidden: tuple[Literal, ...]
    type: str | None
    overlap: bool
    window: int | float | None
    plan: str | None
    contexts: int | None
    memory_mb: int | None
    stem: bool = False
    entities: bool = False
    relax: bool = False

    def __post_init__(self) -> None:
        for literal in (*self.literals, *self.forbidden):
            if len(literal.terms) != len(literal.offsets) or not (literal.terms or literal.entity):
                raise ValueError("a literal has as many offsets as terms, and one at least where it names no entity")

    @classmethod
    def of(cls, query: Query, options: MatchOptions = MatchOptions()) -> Question:  # noqa: B008
        window = options.window.item() if isinstance(options.window, np.generic) else options.window
        return cls(
            literals=tuple(replace(literal, text="") for literal in query.literals),
            forbidden=tuple(replace(literal, text="") for literal in query.forbidden),
            type=query.type,
            overlap=bool(options.overlap),
            window=None if window is None else min(window, FARTHEST),
            plan=options.plan,
            contexts=options.limits.contexts,
            memory_mb=options.limits.memory_mb,
            stem=options.stem,
            entities=options.entities,
            relax=options.relax,
        )

    @property
    def query(self) -> Query:
        return Query("", self.literals, self.forbidden, self.type)

    @property
    def options(self) -> MatchOptions:
        limits: Any = {"contexts": self.contexts, "memory_mb": self.memory_mb}
        window: Any = self.window
        literals = self.stem, self.entities, self.relax
        return MatchOptions(self.overlap, window, self.plan, replace(DEFAULTS, **limits), *literals)


class About(msgspec.Struct, frozen=True):
    """What a shard holds: its segments, documents that are not deleted, and the range of document numbers."""

    commit: int
    files: str
    segments: list[int]
    documents: int
    first: int
    last: int


class DescribeShard(ShardCall, frozen=True):
    """Asks what a shard holds."""

    reply: ClassVar[Any] = Reply[About]

    def run(self, shard: Shard) -> About:
        manifest, (first, last) = shard.reader.manifest, shard.reader.number_range
        documents = documents_in(manifest, shard.segments)
        return About(shard.commit, manifest.fingerprint, shard.segments, documents, first, last)


class Counts(msgspec.Struct, frozen=True):
    """df and cf of the literals of a query in one shard."""

    df: I64
    cf: I64


class CountLiterals(ShardCall, frozen=True):
    """Asks how often the literals of a query occur."""

    reply: ClassVar[Any] = Reply[Counts]
    question: Question

    def run(self, shard: Shard) -> Counts:
        return Counts(*count_query(shard.reader, self.question.query, self.question.options))


class CountForms(ShardCall, frozen=True):
    """Asks which entities' mentions some literals cover, and how often."""

    reply: ClassVar[Any] = Reply[list[FormCounts]]
    literals: tuple[Literal, ...]

    def run(self, shard: Shard) -> list[FormCounts]:
        return count_forms(shard.reader, self.literals)


class FindRows(ShardCall, frozen=True):
    """Asks for the rows of a query, or those of some entities only, with further columns."""

    reply: ClassVar[Any] = Reply[PartialContexts[GivenColumns]]
    question: Question
    entities: I32 | None = None
    columns: tuple[Column, ...] = ()

    def run(self, shard: Shard) -> PartialContexts[GivenColumns]:
        found = shard.find_rows(self.question, self.entities)
        rows = found.entities, found.slot, found.document, found.distances
        columns = read_columns(found.columns, self.columns)
        return PartialContexts(found.df, found.cf, *rows, found.matched, found.taken, found.plan, columns)


class ReadColumns(ShardCall, frozen=True):
    """Asks for further columns of the rows that `FindRows` gives for the same question and entities."""

    reply: ClassVar[Any] = Reply[GivenColumns]
    question: Question
    entities: I32 | None
    columns: tuple[Column, ...]

    def run(self, shard: Shard) -> GivenColumns:
        return read_columns(shard.find_rows(self.question, self.entities).columns, self.columns)


class ScoreRows(ShardCall, frozen=True):
    """Asks for the scores per entity of the contexts that the policy selects.

    The statistics are those of the whole collection. A single feature map is not wrapped unless `combined`. With
    `documents` the number of the document comes with each score. None where features need more than a shard has.
    """

    reply: ClassVar[Any] = Reply[Scores]
    question: Question
    statistics: Statistics
    features: str
    weights: F64
    policy: str
    combined: bool
    documents: bool = False

    def run(self, shard: Shard) -> Scores | None:
        partial, maps = shard.match(self.question), load_features(self.features, self.combined)
        query = self.question.query
        return score_partial(query, self.statistics, partial, maps, self.weights, self.policy, self.documents)


class ReadDocuments(ShardCall, frozen=True):
    """Asks for ids, titles, urls and texts of some documents, by number; None for one that is not here."""

    reply: ClassVar[Any] = Reply[list[Stored | None]]
    documents: I32

    def run(self, shard: Shard) -> list[Stored | None]:
        reader = shard.reader
        return [reader.read_documents([d])[0] if reader.holds(d) else None for d in self.documents.tolist()]


class FindMentions(ShardCall, frozen=True):
    """Asks for the tokens of an entity's mentions in a document, for pairs of these; empty for one not here."""

    reply: ClassVar[Any] = Reply[list[list[tuple[int, int]]]]
    pairs: list[tuple[int, int]]

    def run(self, shard: Shard) -> list[list[tuple[int, int]]]:
        reader = shard.reader
        held = [i for i, (document, _entity) in enumerate(self.pairs) if reader.holds(document)]
        found: list[list[tuple[int, int]]] = [[] for _pair in self.pairs]
        for i, spans in zip(held, reader.find_mentions([self.pairs[i] for i in held]), strict=True):
            found[i] = spans
        return found


class ReadMentions(ShardCall, frozen=True):
    """Asks for all mentions of a document, by number; None where it is not here."""

    reply: ClassVar[Any] = Reply[DocumentMentions | None]
    document: int

    def run(self, shard: Shard) -> DocumentMentions | None:
        return shard.reader.read_mentions(self.document) if shard.reader.holds(self.document) else None


class NameDocuments(ShardCall, frozen=True):
    """Asks for the ids of some documents, by number; None for one that is not here."""

    reply: ClassVar[Any] = Reply[list[str | None]]
    documents: I32

    def run(self, shard: Shard) -> list[str | None]:
        return [shard.reader.document_id(d) if shard.reader.holds(d) else None for d in self.documents.tolist()]


class FindDocument(ShardCall, frozen=True):
    """Asks for the number of a document by its id; -1 where it is not here."""

    reply: ClassVar[Any] = Reply[int]
    doc_id: str

    def run(self, shard: Shard) -> int:
        return shard.reader.find_document(self.doc_id)


class CountDocuments(ShardCall, frozen=True):
    """Asks for the number of documents per given entity; per entity of the catalog where none is given."""

    reply: ClassVar[Any] = Reply[I32]
    entities: I32 | None = None

    def run(self, shard: Shard) -> I32:
        if self.entities is None:
            return shard.reader.entity_documents
        return shard.reader.entity_documents_of(self.entities)


AnyCall = (
    DescribeShard
    | CountLiterals
    | CountForms
    | FindRows
    | ReadColumns
    | ScoreRows
    | ReadDocuments
    | FindMentions
    | ReadMentions
    | NameDocuments
    | FindDocument
    | CountDocuments
)


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of one group, as it is sent; it may take `deadline_ms`."""

    commit: int
    group: int
    deadline_ms: float
    call: AnyCall


# msgspec crashes where several threads decode a type for the first time at once, so all types are prepared here.
for _kind in (Request, *(call.reply for call in get_args(AnyCall))):
    msgspec.msgpack.Decoder(_kind)
