"""The shapes of answers that are made here; those of searching are in `fader.search`. Knows nothing of their making."""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Literal, NotRequired

import msgspec
from typing_extensions import TypedDict

from fader.judging.learn import LearnReport
from fader.search.answer import Answer, Result
from fader.search.entity import EntityCard, EntityEvidence, TypePath
from fader.search.examples import ExampleQuery, PopularType
from fader.search.suggest import EntityHint, TypeHint
from fader.search.system_info import SystemFacts
from fader.search.typetree import TypeNode


@dataclass(frozen=True, slots=True)
class EntityAnswer:
    """An entity, and what speaks for it where a query was given."""

    id: str
    name: str
    aliases: list[str]
    types: list[TypePath]
    documents: int
    evidence: EntityEvidence | None


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Types or entities whose labels fit, best first."""

    kind: str
    prefix: str
    suggestions: list[TypeHint] | list[EntityHint]


@dataclass(frozen=True, slots=True)
class Examples:
    """Queries and types to begin with."""

    examples: list[ExampleQuery]
    types: list[PopularType]


@dataclass(frozen=True, slots=True)
class TypesPage:
    """Some of the types right below one, with the way to it; of all roots where `parent` is null."""

    parent: TypeNode | None
    path: list[TypeNode]
    total: int
    types: list[TypeNode]


@dataclass(frozen=True, slots=True)
class Token:
    """A term and its characters."""

    term: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Analyzed:
    """A text and its terms as they are indexed."""

    text: str
    tokens: list[Token]


@dataclass(frozen=True, slots=True)
class ServedLimits:
    """The largest values of requests; `rate` is requests per second, null without a limit."""

    body_bytes: int
    k: int
    snippets: int
    time_ms: int
    queue: int
    workers: int
    rate: float | None


@dataclass(frozen=True, slots=True)
class Stats:
    """What is served, and the limits of it; `judging` says whether answers can be judged."""

    version: str
    judging: bool
    limits: ServedLimits
    indexes: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model that ranks by name."""

    name: str
    title: str
    default: bool


@dataclass(frozen=True, slots=True)
class Systems:
    """All that ranks an index."""

    models: list[ModelName]
    systems: list[SystemFacts]


@dataclass(frozen=True, slots=True)
class Opening:
    """What the page would ask for first; it is written into the document."""

    stats: Stats
    systems: Systems
    examples: Examples


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """A judgment: `grade` is right, partly or wrong, or none where it was taken back."""

    question: str
    query: str
    type: str | None
    entity: str
    grade: str
    when: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgment that is kept, and how many records there are."""

    records: int
    judgment: JudgedAnswer


@dataclass(frozen=True, slots=True)
class JudgedOverview:
    """How much was judged, and the asker's own judgments."""

    who: str
    judgments: int
    questions: int
    people: int
    mine: list[JudgedAnswer]


@dataclass(frozen=True, slots=True)
class Undone:
    """How many judgments of a person do not count any more."""

    who: str
    judgments: int


@dataclass(frozen=True, slots=True)
class TrainingAnswer:
    """How training stands: `state` is idle, running, done or failed; `share` and `note` tell its progress.

    `latest` is the newest learned model and `report` its comparison with the model before it. `adopted` is the learned
    model that ranks, if one does, and `ranks` whatever does.
    """

    state: str
    share: float
    note: str
    error: str
    latest: str | None
    report: LearnReport | None
    adopted: str | None
    ranks: str
    models: list[str]


@dataclass(frozen=True, slots=True)
class Health:
    """Whether requests are answered; `problems` are newer commits that cannot be opened, and threads that are stuck.

    `cluster` is there where the index is on one: its groups of shards, and how many replicas some of them lack.
    """

    status: Literal["ok", "starting", "incomplete", "damaged", "stuck"]
    version: str
    indexes: dict[str, int]
    problems: dict[str, str]
    cluster: dict[str, Any] | None = None


class ErrorFacts(TypedDict):
    """What went wrong; `hint` may be empty.

    `position` is the character of the query where it goes wrong, `field` the parameter that is wrong, `request_id` the
    number under which the log has it.
    """

    code: str
    message: str
    hint: str
    position: NotRequired[int]
    field: NotRequired[str]
    request_id: NotRequired[str]


class Error(TypedDict):
    """The body of every error."""

    error: ErrorFacts


_ANSWER = tuple(f.name for f in fields(Answer) if f.name != "results")
_RESULT = tuple(f.name for f in fields(Result) if f.name != "explain")
_answer_values, _result_values = attrgetter(*_ANSWER), attrgetter(*_RESULT)


def encode(value: Any) -> bytes:
    """A value as JSON; numbers that JSON does not have are null.

    Routes encode in the thread that found the answer. FastAPI would do it on the event loop, which all requests share.
    msgspec writes ten entities with a snippet each in 18 µs, pydantic in 37.
    """
    return msgspec.json.encode(value)


def encode_answer(answer: Answer) -> bytes:
    """An answer as `search --json` prints it: `explain` only where it was asked for."""
    if answer.results and answer.results[0].explain is not None:
        return encode(answer)
    results = [dict(zip(_RESULT, _result_values(result), strict=True)) for result in answer.results]
    return encode({**dict(zip(_ANSWER, _answer_values(answer), strict=True)), "results": results})


def answer_entity(card: EntityCard, evidence: EntityEvidence | None) -> EntityAnswer:
    """An entity with what speaks for it."""
    return EntityAnswer(card.id, card.name, card.aliases, card.types, card.documents, evidence)


def encode_health(health: Health) -> bytes:
    """Health; what a cluster alone has is left out elsewhere."""
    names = [f.name for f in fields(Health) if f.name != "cluster" or health.cluster is not None]
    return encode({name: getattr(health, name) for name in names})
