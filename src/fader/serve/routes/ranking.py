"""Routes that rank: search, entity, explain, compare. All wait for the engine, but an entity without a query."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from fader.serve import schemas
from fader.serve.answering import CSV, answer_json, answered, asked, encoded, plain, served_for
from fader.serve.errors import NotFound
from fader.serve.parameters import Compare, EntityOf, Explain, Search
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

        def work() -> bytes:
            ranker = served.ranker(a.model)
            answer = served.index.search(a.q, a.type, a.k, ranker, snippets=a.snippets, explain=a.explain)
            return csv_bytes(answer) if a.format == "csv" else answer_json(answer)

        return await _sent(request, work, a.timeout_ms, a.format, "search.csv")

    @routes.get("/v1/entity/{id:path}", **told.get("Look at an entity", EntityOf, "EntityAnswer", path="id"))
    async def entity(request: Request) -> Response:
        """An entity's names and types; with a query, its rank and a page of all its contexts."""
        a, wanted = await asked(request, EntityOf), request.path_params["id"]
        if not wanted:
            raise NotFound("no entity is named", "give its id: /v1/entity/ID")
        served = served_for(request, a.index)

        def work() -> bytes:
            card = plain(served.index.entity(wanted))
            evidence = None
            if a.q is not None:
                ranker = served.ranker(a.model)
                evidence = served.index.evidence(a.q, wanted, a.type, ranker, offset=a.offset, limit=a.limit)
            return encoded(card | {"evidence": evidence})

        return await answered(request, "light" if a.q is None else "engine", work, a.timeout_ms)

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
            one, other = served.ranker(a.a), served.ranker(a.b or OTHER)
            both = served.index.versus(a.q, one, other, a.type, a.k, snippets=a.snippets)
            return csv_bytes(both) if a.format == "csv" else encoded(both)

        return await _sent(request, work, a.timeout_ms, a.format, "compare.csv")

    return routes


async def _sent(request: Request, work, timeout_ms: int | None, form: str, name: str) -> Response:  # type: ignore[no-untyped-def]
    if form == "csv":
        return await answered(request, "engine", work, timeout_ms, CSV, name)
    return await answered(request, "engine", work, timeout_ms)


def csv_bytes(shown) -> bytes:  # type: ignore[no-untyped-def]
    """CSV that spreadsheets read as UTF-8."""
    from fader.search.csv import csv_of

    return csv_of(shown).encode("utf-8")
