"""Routes that rank: search, entity, explain, compare. All wait for the engine, but an entity without a query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from fader.learn.model import Model
from fader.serve import schemas
from fader.serve.answering import CSV, answer_json, answered, asked, encoded, plain, served_for
from fader.serve.errors import BadRequest, NotFound, Refusal
from fader.serve.open_index import Served
from fader.serve.parameters import Compare, EntityNamed, EntityOf, Explain, Search
from fader.serve.settings import Settings

OTHER = "proximity"  # what is compared with where nothing is named


def router(settings: Settings) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["search"])
    told = schemas.Described(settings)

    @routes.post("/v1/search", **told.post("Ask for entities", Search, "Answer", csv=True))
    @routes.get("/v1/search", **told.get("Ask for entities", Search, "Answer", csv=True))
    async def search(request: Request) -> Response:
        """The best entities for a query, each with the contexts that speak for it."""
        a = await asked(request, Search)
        served = served_for(request, a.index)
        if a.partial and a.format == "csv":
            raise BadRequest("CSV has no place for the warning of a partial answer", "leave out one of them", "partial")

        def work() -> bytes:
            ranker, index = served.ranker(a.model), served.partial if a.partial else served.index
            answer = index.search(a.q, a.type, a.k, ranker, snippets=a.snippets, explain=a.explain)
            return csv_bytes(answer) if a.format == "csv" else answer_json(answer)

        return await _sent(request, work, a.timeout_ms, a.format, "search.csv")

    @routes.get("/v1/entity/{id:path}", **told.get("Look at an entity", EntityOf, "EntityAnswer", csv=True, path="id"))
    async def entity(request: Request) -> Response:
        """An entity's names and types; with a query, its rank and a page of all its contexts, or these as CSV."""
        a, wanted = await asked(request, EntityOf), request.path_params["id"]
        if not wanted:
            raise NotFound("no entity is named", "give its id: /v1/entity/ID")
        return await _entity(request, a, wanted)

    named = told.get("Look at an entity, by a parameter", EntityNamed, "EntityAnswer", csv=True)

    @routes.get("/v1/entity", **named | {"operation_id": "getNamedEntity"})
    async def entity_named(request: Request) -> Response:
        """The same, for ids that are no path, such as `..`."""
        a = await asked(request, EntityNamed)
        return await _entity(request, a, a.id)

    @routes.post("/v1/explain", **told.post("Ask why an entity has its rank", Explain, "Why"))
    @routes.get("/v1/explain", **told.get("Ask why an entity has its rank", Explain, "Why"))
    async def explain(request: Request) -> Response:
        """How the score of an entity comes about: by literals, contexts, and cells of the weight grids."""
        a = await asked(request, Explain)
        served = served_for(request, a.index)

        def work() -> bytes:
            return encoded(served.index.why(a.q, a.entity, a.type, served.ranker(a.model)))

        return await answered(request, "engine", work, a.timeout_ms)

    @routes.get("/v1/compare", **told.get("Ask two systems the same", Compare, "Versus", csv=True))
    async def compare(request: Request) -> Response:
        """The best entities of two systems for one query, each with its rank by the other."""
        a = await asked(request, Compare)
        served = served_for(request, a.index)

        def work() -> bytes:
            one, other = _ranker(served, a.a, "a"), _ranker(served, a.b or OTHER, "b")
            both = served.index.versus(a.q, one, other, a.type, a.k, snippets=a.snippets)
            return csv_bytes(both) if a.format == "csv" else encoded(both)

        return await _sent(request, work, a.timeout_ms, a.format, "compare.csv")

    return routes


def _ranker(served: Served, text: str | None, field: str) -> Model:
    """What a text names; where it names nothing, the parameter that holds it is to blame."""
    try:
        return served.ranker(text)
    except Refusal as refusal:
        refusal.more["field"] = field
        raise


async def _entity(request: Request, a: EntityOf, wanted: str) -> Response:
    served = served_for(request, a.index)
    if a.format == "csv" and a.q is None:
        raise BadRequest("only contexts are written as CSV, and without a query there are none", "give q", "format")

    def work() -> bytes:
        card, evidence = plain(served.index.entity(wanted)), None
        if a.q is not None:
            ranker = served.ranker(a.model)
            evidence = served.index.evidence(a.q, wanted, a.type, ranker, offset=a.offset, limit=a.limit)
        return encoded(card | {"evidence": evidence}) if a.format == "json" else csv_bytes(evidence)

    return await _sent(request, work, a.timeout_ms, a.format, "contexts.csv", "light" if a.q is None else "engine")


async def _sent(
    request: Request, work: Callable[[], bytes], timeout_ms: int | None, form: str, name: str, lane: str = "engine"
) -> Response:
    if form == "csv":
        return await answered(request, lane, work, timeout_ms, CSV, name)
    return await answered(request, lane, work, timeout_ms)


def csv_bytes(shown: Any) -> bytes:
    """CSV in UTF-8."""
    from fader.search.csv import to_csv

    return to_csv(shown).encode("utf-8")
