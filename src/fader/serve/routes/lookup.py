"""Routes that look up: suggest, types, analyze. Their lane is their own, so that typing never waits for ranking."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from fader.search.typetree import TypeTree
from fader.serve import schemas
from fader.serve.answering import answered, asked, encoded, served_for
from fader.serve.parameters import Analyze, AnalyzeShort, Suggest, Types
from fader.serve.settings import Settings
from fader.serve.shapes import Analyzed, Suggestions, Token, TypesPage


def _these(tree: TypeTree, ids: str) -> TypesPage:
    """Some types by their ids; no id has a bar in it."""
    known = tree.known(list(dict.fromkeys(ids.split("|"))))
    return TypesPage(None, [], len(known), known)


def router(settings: Settings) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["lookup"])
    told = schemas.Described(settings)

    @routes.get("/v1/suggest", **told.get("Complete a name", Suggest, "Suggestions"))
    async def suggest(request: Request) -> Response:
        """Types or entities whose names begin so, or have words that do; the best known first."""
        a = await asked(request, Suggest)
        served = served_for(request, a.index)

        def work() -> bytes:
            if a.kind == "type":
                return encoded(Suggestions(a.kind, a.prefix, served.suggester.types(a.prefix, a.limit)))
            return encoded(Suggestions(a.kind, a.prefix, served.suggester.entities(a.prefix, a.limit, a.type)))

        return await answered(request, "light", work)

    @routes.get("/v1/types", **told.get("Walk the tree of types", Types, "TypesPage"))
    async def types(request: Request) -> Response:
        """The types right below one, or the roots, or some by their ids, with how much is below each."""
        a = await asked(request, Types)
        served = served_for(request, a.index)

        def work() -> bytes:
            if a.ids is not None:
                return encoded(_these(served.tree, a.ids))
            tree, parent = served.tree, a.parent
            total, found = tree.children(parent, a.offset, a.limit)
            node = None if parent is None else tree.node(parent)
            return encoded(TypesPage(node, [] if parent is None else tree.path(parent), total, found))

        return await answered(request, "light", work)

    @routes.post("/v1/analyze", **told.post("Take a text apart", Analyze, "Analyzed"))
    @routes.get("/v1/analyze", **told.get("Take a text apart", AnalyzeShort, "Analyzed"))
    async def analyze(request: Request) -> Response:
        """The terms of a text with their characters, as documents and queries are analysed."""
        a = await (asked(request, AnalyzeShort) if request.method == "GET" else asked(request, Analyze))
        served = served_for(request, a.index)

        def work() -> bytes:
            return encoded(Analyzed(a.text, [Token(*token) for token in served.index.analyze(a.text)]))

        return await answered(request, "light", work)

    return routes
