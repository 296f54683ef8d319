"""Errors of handlers and of routing, as answers. Which error has which code is in `fader.serve.errors`."""

from __future__ import annotations

import logging

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from fader.errors import FaderError, IncompleteError, quote
from fader.serve.api.parameters import explain_invalid
from fader.serve.errors import JSON, BadRequest, NotFound, Refusal, internal, refusal_of
from fader.serve.gate import ClientGone
from fader.serve.middleware.trace import trace_of
from fader.serve.routes import pages

log = logging.getLogger("fader.serve")
CLIENT_GONE = 499  # nobody sees it but the log


def add_error_handlers(app: FastAPI, time_ms: float) -> None:
    """Let an app answer errors in the one form; `time_ms` is the time of a request."""

    async def answer_error(request: Request, error: Exception) -> Response:
        refusal = refusal_of(error, time_ms)
        if refusal is None:
            trace = trace_of(request.scope)
            if isinstance(error, FaderError):  # others are raised again, and logged there
                log.error("fault", extra={"fields": {"id": trace.id, "problem": str(error)}})
            refusal = internal(trace.id)
        elif isinstance(error, IncompleteError):  # the log names machines, the answer does not
            log.warning("incomplete", extra={"fields": {"id": trace_of(request.scope).id, "problem": str(error)}})
        return _send(refusal)

    for kind in (Refusal, FaderError, Exception):
        app.add_exception_handler(kind, answer_error)

    async def answer_nobody(request: Request, error: Exception) -> Response:
        return Response(status_code=CLIENT_GONE)

    async def answer_invalid(request: Request, error: Exception) -> Response:
        """A parameter or a body that FastAPI refuses."""
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        return _send(explain_invalid(first, first["loc"][1:]))  # behind where it stands: query, path or body

    app.add_exception_handler(ClientGone, answer_nobody)
    app.add_exception_handler(HTTPException, _answer_routing)
    app.add_exception_handler(RequestValidationError, answer_invalid)


def _send(refusal: Refusal) -> Response:
    return Response(refusal.body(), refusal.status, refusal.headers, JSON)


async def _answer_routing(request: Request, error: Exception) -> Response:
    """No such path, another method; or a body that FastAPI cannot read, its only 400."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        matching = [r for r in request.app.routes if r.matches(request.scope)[0] is not Match.NONE]
        methods = {method for route in matching for method in getattr(route, "methods", None) or ()}
        allowed = sorted(methods | {"HEAD"} if "GET" in methods else methods)
        message = f"{trace_of(request.scope).method} is not allowed here"
        headers = {"Allow": ", ".join(allowed)}
        return _send(Refusal(405, "not_allowed", message, f"use {' or '.join(allowed)}", headers))
    if error.status_code == 404 and pages.is_for_person(request):
        return pages.answer_not_found()
    if error.status_code == 404:
        return _send(NotFound(f"there is nothing at {quote(request.scope['path'])}", "/openapi.json lists all paths"))
    return _send(BadRequest("the body is not JSON in UTF-8", "send one JSON object in UTF-8", "body"))
