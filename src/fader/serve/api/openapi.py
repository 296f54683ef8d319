"""The OpenAPI description beyond what FastAPI finds by itself: examples, CSV, errors, keys.

`examples.json` has an answer of each shape, of the demo; a test holds it to the shapes. Every operation lists all
answers that it can give. Knows nothing of how requests are answered.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from fader import __version__
from fader.serve.api.answers import Error
from fader.serve.errors import JSON

Responses = dict[int | str, dict[str, Any]]  # FastAPI's own type

DESCRIPTION = "Ask for things, not pages, and see the evidence. Every error has a code, a message and a hint."
MEANINGS = {
    400: "The request or the query cannot be understood",
    403: "The key has no right to this",
    401: "A key is needed (where the server has keys)",
    404: "No such entity, type, index, model or path",
    409: "A model is being trained",
    413: "The body is too large",
    415: "The body is not JSON",
    429: "More requests than the key may make",
    431: "The head of the request, its address included, is too large",
    500: "A fault of the server",
    503: "The server is full, or a part of the index is missing; try again",
    504: "The time is over",
}
EVERYWHERE = (400, 401, 404, 413, 429, 431, 500, 503, 504)
BODIES: dict[str, Any] = {
    "SearchParameters": {"q": "landed +mars", "type": "spacecraft", "k": 1},
    "AskBody": {"q": "Which spacecraft landed on Mars?", "k": 1},
    "ExplainParameters": {"q": "landed +mars", "entity": "Opportunity_(rover)", "type": "spacecraft"},
    "JudgeParameters": {
        "q": "Which spacecraft landed on Mars?",
        "entity": "Opportunity_(rover)",
        "grade": "right",
        "query": "+landed mars",
        "type": "spacecraft",
    },
    "UndoParameters": {"who": "ada"},
    "IndexBody": {},
    "AdoptParameters": {"name": "learned-1"},
    "AnalyzeBody": {"text": "Straße, naïve"},
}
ERRORS: dict[int, dict[str, Any]] = {
    400: {"code": "bad_query", "message": "a quote is opened and not closed (at character 8)", "position": 7},
    401: {"code": "unauthorized", "message": "this server needs a key", "hint": "send Authorization: Bearer KEY"},
    403: {"code": "forbidden", "message": "the key ada may not judge", "hint": "write judge behind it"},
    404: {"code": "not_found", "message": 'no index "dmeo"', "hint": 'did you mean "demo"?', "field": "index"},
    409: {"code": "busy", "message": "a model is being trained", "hint": "wait until it is done"},
    413: {"code": "too_large", "message": "the body has more than 65,536 bytes", "hint": "send a smaller body"},
    415: {"code": "unsupported", "message": 'the body must be JSON, not "text/plain"'},
    429: {"code": "rate_limited", "message": "more than 10 requests per second", "hint": "try again in 1 s"},
    431: {"code": "bad_request", "message": "the head of a request has at most 65,536 bytes", "hint": "send less"},
    500: {"code": "internal", "message": "something went wrong in the server", "request_id": "5d770696-1"},
    503: {"code": "overloaded", "message": "the server is full", "hint": "try again in 1 s"},
    504: {"code": "out_of_time", "message": "the request needs more than its 3,000 ms", "hint": "ask with fewer words"},
}
HEADERS = {
    "Fader-Index": "The index that answered",
    "Fader-Commit": "The commit that answered",
    "Fader-Request-Id": "The number of the request in the log",
}


@cache
def read_examples() -> dict[str, Any]:
    """An answer of each shape, by the shape's name; `csv` and `text` are texts."""
    found: dict[str, Any] = msgspec.json.decode((Path(__file__).parent / "examples.json").read_bytes())
    return found


def describe_answer(shape: str, csv: bool = False) -> Responses:
    """What a route answers: its example, its headers, and whether it has CSV; FastAPI adds the schema."""
    content = {JSON: {"example": read_examples()[shape]}}
    if csv:
        content["text/csv"] = {"schema": {"type": "string"}, "example": read_examples()["csv"]}
    headers = {name: {"description": text, "schema": {"type": "string"}} for name, text in HEADERS.items()}
    return {200: {"description": "The answer", "content": content, "headers": headers}}


def describe_errors(*codes: int) -> Responses:
    """The errors of a route, each with an example."""
    waits = {"headers": {"Retry-After": {"description": "Seconds to wait", "schema": {"type": "integer"}}}}
    return {
        code: {
            "description": MEANINGS[code],
            "model": Error,
            "content": {JSON: {"example": {"error": {"hint": "", **ERRORS[code]}}}},
            **(waits if code in (429, 503) else {}),
        }
        for code in codes
    }


def describe(app: FastAPI, keys: bool) -> dict[str, Any]:
    """The whole description, made once."""
    if app.openapi_schema:
        return app.openapi_schema
    found = get_openapi(
        title="Fader",
        version=__version__,
        description=DESCRIPTION,
        routes=app.routes,
        separate_input_output_schemas=False,  # a field that may be left out of an answer has a default
    )
    for name in ("HTTPValidationError", "ValidationError"):
        found["components"]["schemas"].pop(name, None)
    for operations in found["paths"].values():
        for operation in operations.values():
            operation["responses"].pop("422", None)  # FastAPI's answer to a wrong parameter; ours is 400
            for parameter in operation.get("parameters", ()):
                _simplify(parameter)
    if keys:
        found["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"key": []}]
        found["paths"]["/healthz"]["get"]["security"] = []  # a load balancer that asks for it has no key
    app.openapi_schema = found
    return found


def _simplify(parameter: dict[str, Any]) -> None:
    """Nothing in a query string or a path is null; an example stands beside the schema, where viewers look for it."""
    schema = parameter["schema"]
    choices = [part for part in schema.pop("anyOf", ()) if part.get("type") != "null"]
    for part in choices:
        schema |= part
    for name in ("title", "description"):
        schema.pop(name, None)
    examples = schema.pop("examples", [])
    if examples and "example" not in parameter:
        parameter["example"] = examples[0]
