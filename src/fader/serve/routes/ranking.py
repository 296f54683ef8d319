"""Routes that rank: search, ask, entity, explain, compare. All wait for the engine, but an entity without a query."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from fader.contexts.query import Query
from fader.learn.model import Model
from fader.search.answer import Answer
from fader.search.ask import AskedAnswer
from fader.search.entity import EntityEvidence
from fader.search.index import Index
from fader.search.versus import Versus
from fader.search.why import Why
from fader.serve.api.answers import EntityAnswer, answer_entity, encode, encode_answer
from fader.serve.api.openapi import BODIES
from fader.serve.api.parameters import (
    AskBody,
    AskParameters,
    CompareParameters,
    EntityIdParameters,
    EntityParameters,
    ExplainParameters,
    QueryParameters,
    SearchParameters,
)
from fader.serve.errors import BadRequest, NotFound, Refusal
from fader.serve.open_index import Served
from fader.serve.routes.answering import find_index, send_json, send_ranked
from fader.serve.routes.declare import add_route, create_router
from fader.serve.settings import Settings

OTHER = "proximity"  # what is compared with where nothing is named
EntityId = Annotated[
    str,
    Path(
        description="The entity, by its id.",
        examples=[BODIES["ExplainParameters"]["entity"]],
        json_schema_extra={"minLength": 1},  # none at all is a path without an entity, which is 404 and not 400
    ),
]


def router(settings: Settings) -> APIRouter:
    """The routes."""
    routes = create_router("search")
    for method in ("GET", "POST"):
        add_route(routes, settings, method, "/v1/search", search, "Ask for entities", Answer, csv=True)
        add_route(routes, settings, method, "/v1/explain", explain, "Ask why an entity has its rank", Why)
    add_route(routes, settings, "GET", "/v1/ask", ask, "Ask a question in plain words", AskedAnswer)
    add_route(routes, settings, "POST", "/v1/ask", ask_body, "Ask a question in plain words", AskedAnswer)
    add_route(routes, settings, "GET", "/v1/entity/{id:path}", entity, "Look at an entity", EntityAnswer, csv=True)
    summary = "Look at an entity, by a parameter"
    add_route(
        routes, settings, "GET", "/v1/entity", entity_by_id, summary, EntityAnswer, csv=True, name="getNamedEntity"
    )
    add_route(routes, settings, "GET", "/v1/compare", compare, "Ask two systems the same", Versus, csv=True)
    return routes


async def search(request: Request, asked: SearchParameters) -> Response:
    """The best entities for a query, each with the contexts that speak for it."""
    served = find_index(request, asked.index, asked.q)
    if asked.partial and asked.format == "csv":
        raise BadRequest("CSV has no place for the warning of a partial answer", "leave out one of them", "partial")

    def find() -> Answer:
        ranker, index = served.ranker(asked.model), served.partial if asked.partial else served.index
        query = _parse(index, asked.q, asked)
        return index.search(
            query, None, asked.k, ranker, snippets=asked.snippets, passage=asked.passage, explain=asked.explain
        )

    return await send_ranked(request, find, encode_answer, asked, "search.csv")


async def ask(request: Request, asked: AskParameters) -> Response:
    """The best entities for a question, with all ways to read it; a reading's type and query ask it alone."""
    return await _send_asked(request, asked)


async def ask_body(request: Request, asked: AskBody) -> Response:
    """The same for longer questions."""
    return await _send_asked(request, asked)


async def _send_asked(request: Request, asked: AskParameters) -> Response:
    served = find_index(request, asked.index, asked.q)

    def find() -> bytes:
        ranker, index = served.ranker(asked.model), served.partial if asked.partial else served.index
        answer = index.ask(
            asked.q,
            asked.k,
            ranker,
            type=asked.type,
            any_type=asked.any_type,
            query=asked.query,
            min_probability=asked.min_probability,
            snippets=asked.snippets,
            passage=asked.passage,
            correct=asked.correct,
        )
        return encode(answer)

    return await send_json(request, "engine", find, asked.timeout_ms)


async def entity(request: Request, id: EntityId, asked: EntityParameters) -> Response:
    """An entity's names and types; with a query, its rank and a page of all its contexts, or these as CSV."""
    if not id:
        raise NotFound("no entity is named", "give its id: /v1/entity/ID")
    return await _send_entity(request, id, asked)


async def entity_by_id(request: Request, asked: EntityIdParameters) -> Response:
    """The same, for ids that are no path, such as `..`."""
    return await _send_entity(request, asked.id, asked)


async def _send_entity(request: Request, id: str, asked: EntityParameters) -> Response:
    served, query = find_index(request, asked.index, asked.q), asked.q
    if query is None:
        if asked.format == "csv":
            raise BadRequest("only contexts are written as CSV, and without a query there are none", "give q", "format")
        work = lambda: encode(answer_entity(served.index.entity(id), None))  # noqa: E731
        return await send_json(request, "light", work, asked.timeout_ms)

    def find() -> EntityEvidence:
        ranker = served.ranker(asked.model)
        parsed = _parse(served.index, query, asked)
        return served.index.evidence(
            parsed, id, None, ranker, offset=asked.offset, limit=asked.limit, passage=asked.passage
        )

    def write(found: EntityEvidence) -> bytes:
        return encode(answer_entity(served.index.entity(id), found))

    return await send_ranked(request, find, write, asked, "contexts.csv")


async def explain(request: Request, asked: ExplainParameters) -> Response:
    """How the score of an entity comes about: by literals, contexts, and cells of the weight grids."""
    served = find_index(request, asked.index, asked.q)

    def find() -> bytes:
        query = _parse(served.index, asked.q, asked)
        return encode(served.index.why(query, asked.entity, None, served.ranker(asked.model)))

    return await send_json(request, "engine", find, asked.timeout_ms)


async def compare(request: Request, asked: CompareParameters) -> Response:
    """The best entities of two systems for one query, each with its rank by the other."""
    served = find_index(request, asked.index, asked.q)

    def find() -> Versus:
        one, other = _find_ranker(served, asked.a, "a"), _find_ranker(served, asked.b or OTHER, "b")
        query = _parse(served.index, asked.q, asked)
        return served.index.versus(query, one, other, None, asked.k, snippets=asked.snippets)

    return await send_ranked(request, find, encode, asked, "compare.csv")


def _parse(index: Index, query: str, asked: QueryParameters | EntityParameters) -> Query:
    return index.parse(query, asked.type, entity_literals=not asked.no_entity_literals)


def _find_ranker(served: Served, text: str | None, field: str) -> Model:
    """What a text names; where it names nothing, the error names the parameter that holds it."""
    try:
        return served.ranker(text)
    except Refusal as refusal:
        refusal.more["field"] = field
        raise
