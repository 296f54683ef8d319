"""Routes that look up: suggest, types, analyze. Their lane is their own, so that typing never waits for ranking."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from fader.search.document import DocumentPage
from fader.serve.api.answers import Analyzed, Examples, Suggestions, Token, TypesPage, encode
from fader.serve.api.parameters import (
    AnalyzeBody,
    AnalyzeParameters,
    DocumentIdParameters,
    DocumentParameters,
    IndexParameters,
    SuggestParameters,
    TypesParameters,
)
from fader.serve.errors import NotFound
from fader.serve.routes.answering import find_index, send_json, service_of
from fader.serve.routes.declare import add_route, create_router
from fader.serve.settings import Settings

DocumentId = Annotated[
    str, Path(description="The document, by its id.", examples=["demo-00433"], json_schema_extra={"minLength": 1})
]


def router(settings: Settings) -> APIRouter:
    """The routes."""
    routes = create_router("lookup")
    add_route(routes, settings, "GET", "/v1/document/{id:path}", document, "Look at a document", DocumentPage)
    summary = "Look at a document, by a parameter"
    add_route(routes, settings, "GET", "/v1/document", named_document, summary, DocumentPage, name="getNamedDocument")
    add_route(routes, settings, "GET", "/v1/suggest", suggest, "Complete a name", Suggestions)
    add_route(routes, settings, "GET", "/v1/examples", examples, "What to begin with", Examples)
    add_route(routes, settings, "GET", "/v1/types", list_types, "Walk the tree of types", TypesPage)
    add_route(routes, settings, "GET", "/v1/analyze", analyze, "Take a text apart", Analyzed)
    add_route(routes, settings, "POST", "/v1/analyze", analyze_body, "Take a text apart", Analyzed)
    return routes


async def document(request: Request, id: DocumentId, asked: DocumentParameters) -> Response:
    """The text of a document with its sentences and mentions, and where the literals of a query occur in it."""
    if not id:
        raise NotFound("no document is named", "give its id: /v1/document/ID")
    return await _send_document(request, id, asked)


async def named_document(request: Request, asked: DocumentIdParameters) -> Response:
    """The same, for ids that are no path, such as `..`."""
    return await _send_document(request, asked.id, asked)


async def _send_document(request: Request, id: str, asked: DocumentParameters) -> Response:
    served = find_index(request, asked.index, asked.q)
    return await send_json(request, "light", lambda: encode(served.index.document(id, asked.q)), asked.timeout_ms)


async def suggest(request: Request, asked: SuggestParameters) -> Response:
    """Types or entities whose names begin so, or have words that do; the best known first."""
    served = find_index(request, asked.index)

    def find() -> bytes:
        names, prefix, limit = served.suggester, asked.prefix, asked.limit
        hints = names.types(prefix, limit) if asked.kind == "type" else names.entities(prefix, limit, asked.type)
        return encode(Suggestions(asked.kind, prefix, hints))

    return await send_json(request, "light", find)


async def examples(request: Request, asked: IndexParameters) -> Response:
    """Questions that the owner chose, or queries that were made from the index; and some popular types."""
    served, chosen = find_index(request, asked.index), service_of(request).examples

    def find() -> bytes:
        return encode(Examples(chosen or served.examples, served.popular_types))

    return await send_json(request, "light", find)


async def list_types(request: Request, asked: TypesParameters) -> Response:
    """The types right below one, or the roots, or some by their ids, with how much is below each."""
    served = find_index(request, asked.index)

    def find() -> TypesPage:
        tree, parent = served.tree, asked.parent
        if asked.ids is not None:  # no id has a bar in it
            known = tree.find_known(list(dict.fromkeys(asked.ids.split("|"))))
            return TypesPage(None, [], len(known), known)
        total, below = tree.children(parent, asked.offset, asked.limit)
        if parent is None:
            return TypesPage(None, [], total, below)
        return TypesPage(tree.node(parent), tree.path(parent), total, below)

    return await send_json(request, "light", lambda: encode(find()))


async def analyze(request: Request, asked: AnalyzeParameters) -> Response:
    """The terms of a text with their characters, as documents and queries are analysed."""
    served = find_index(request, asked.index)

    def find() -> bytes:
        return encode(Analyzed(asked.text, [Token(*token) for token in served.index.analyze(asked.text)]))

    return await send_json(request, "light", find)


async def analyze_body(request: Request, asked: AnalyzeBody) -> Response:
    """The terms of a text with their characters; a body holds longer texts than an address."""
    return await analyze(request, asked)
