"""The OpenAPI description: parameters and bodies from `parameters`, answers from the classes that hold them, errors.

    told = Described(settings)
    @routes.get("/v1/search", **told.get("Ask for entities", Search, "Answer"))

Every operation lists all answers that it can give. Knows nothing of how requests are answered.
"""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.responses import PlainTextResponse

from fader import __version__
from fader.search.answer import Answer
from fader.search.versus import Versus
from fader.search.why import Why
from fader.serve.errors import JSON
from fader.serve.examples import ASKED, answers, error
from fader.serve.metrics import FORM
from fader.serve.parameters import Asked, most
from fader.serve.settings import Settings
from fader.serve.shapes import HINTS, Analyzed, EntityAnswer, Health, Stats, Suggestions, Systems, TypesPage

REF = "#/components/schemas/{name}"
SHOWN = (Answer, EntityAnswer, Why, Versus, Suggestions, *HINTS, TypesPage, Analyzed, Stats, Systems, Health)
DESCRIPTION = "Ask for things, not pages, and see the evidence. Every error has a code, a message and a hint."
MEANINGS = {
    400: "The request or the query cannot be understood", 401: "A key is needed (where the server has keys)",
    404: "No such entity, type, index, model or path", 405: "Another method",
    413: "The body is too large", 415: "The body is no JSON", 429: "More requests than the key may make",
    431: "The head of the request, its address included, is too large",
    500: "A fault of the server", 504: "The time is over",
    503: "As many requests as can be taken, or a part of the index is missing; try again",
}  # fmt: skip
EVERYWHERE = (401, 413, 429, 431, 500, 503, 504)
ERROR = {
    "title": "Error", "type": "object", "required": ["error"], "additionalProperties": False,
    "properties": {"error": {
        "type": "object", "required": ["code", "message", "hint"], "properties": {
            "code": {"type": "string", "description": "What kind of error"},
            "message": {"type": "string", "description": "What is wrong"},
            "hint": {"type": "string", "description": "What to do; may be empty"},
            "position": {"type": "integer", "description": "The character of the query where it goes wrong"},
            "field": {"type": "string", "description": "The parameter that is wrong"},
            "request_id": {"type": "string", "description": "The number under which the log has it"},
        },
    }},
}  # fmt: skip


class Described:
    """Makes the keyword arguments that describe a route."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def get(self, summary: str, kind: type[Asked], answer: str, csv: bool = False, path: str = "") -> dict[str, Any]:
        """A route with parameters."""
        parameters = [self._parameter(f, kind) for f in msgspec.structs.fields(kind)]
        if path:
            parameters.insert(0, _in_path(path))
        return _route(summary, f"get{answer}", _answers(answer, csv, 400, 404), {"parameters": parameters})

    def post(self, summary: str, kind: type[Asked], answer: str, csv: bool = False) -> dict[str, Any]:
        """A route with a body."""
        content = {JSON: {"schema": self._body(kind), "example": ASKED[kind.__name__]}}
        body = {"required": True, "content": content}
        return _route(summary, f"post{answer}", _answers(answer, csv, 400, 404, 415), {"requestBody": body})

    def plain(self, summary: str, answer: str, *also: int) -> dict[str, Any]:
        """A route without parameters, with the same shape for other codes too."""
        content = {JSON: {"schema": _ref(answer), "example": answers()[answer]}}
        codes = {code: {"description": MEANINGS[code], "content": content} for code in also}
        return _route(summary, f"get{answer}", {200: {"description": summary, "content": content}, **codes}, {})

    def text(self, summary: str) -> dict[str, Any]:
        """A route that answers with text."""
        content = {FORM.partition(";")[0]: {"schema": {"type": "string"}, "example": answers()["text"]}}
        given = {200: {"description": summary, "content": content}, **_errors(401)}
        return _route(summary, "getMetrics", given, {}) | {"response_class": PlainTextResponse}

    def _body(self, kind: type[Asked]) -> dict[str, Any]:
        properties = {f.encode_name: self._schema(f, kind) for f in msgspec.structs.fields(kind)}
        required = [f.encode_name for f in msgspec.structs.fields(kind) if f.required]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def _schema(self, f: Any, kind: type[Asked]) -> dict[str, Any]:
        schema: dict[str, Any] = deepcopy(_properties(kind)[f.encode_name])
        largest = most(self._settings, kind).get(f.encode_name)
        if largest is not None:
            for part in (schema, *schema.get("anyOf", ())):
                if part.get("type") == "integer":
                    part["maximum"] = min(part.get("maximum", largest), largest)
        return schema

    def _parameter(self, f: Any, kind: type[Asked]) -> dict[str, Any]:
        """A parameter of the query string, where nothing is null."""
        schema = self._schema(f, kind)
        choices = [part for part in schema.get("anyOf", ()) if part.get("type") != "null"]
        schema = choices[0] if choices else schema
        description, examples = schema.pop("description", ""), schema.pop("examples", [""])
        found = {"name": f.encode_name, "in": "query", "required": f.required, "schema": schema}
        return found | {"description": description, "example": examples[0]}


@cache
def _properties(kind: type[Asked]) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.schema(kind)["$defs"][kind.__name__]["properties"]
    return found


def _in_path(name: str) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1}
    return {
        "name": name, "in": "path", "required": True, "schema": schema, "description": "The entity, by its id.",
        "example": ASKED["Explain"]["entity"],
    }  # fmt: skip


def _route(summary: str, name: str, given: dict[Any, Any], extra: dict[str, Any]) -> dict[str, Any]:
    return {"summary": summary, "operation_id": name, "responses": given, "openapi_extra": extra}


def _answers(answer: str, csv: bool, *codes: int) -> dict[Any, Any]:
    content: dict[str, Any] = {JSON: {"schema": _ref(answer), "example": answers()[answer]}}
    if csv:
        content["text/csv"] = {"schema": {"type": "string"}, "example": answers()["csv"]}
    headers = {
        name: {"description": text, "schema": {"type": "string"}}
        for name, text in (
            ("Fader-Index", "The index that answered"), ("Fader-Commit", "The commit that answered"),
            ("Fader-Request-Id", "The number of the request in the log"),
        )
    }  # fmt: skip
    found = {200: {"description": "The answer", "content": content, "headers": headers}}
    return found | _errors(*codes, *EVERYWHERE)


def _errors(*codes: int) -> dict[Any, Any]:
    return {
        code: {
            "description": MEANINGS[code], "content": {JSON: {"schema": _ref("Error"), "example": error(code)}},
            **({"headers": _waits()} if code in (429, 503) else {}),
        }
        for code in codes
    }  # fmt: skip


def _waits() -> dict[str, Any]:
    return {"Retry-After": {"description": "Seconds to wait", "schema": {"type": "integer"}}}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": REF.format(name=name)}


def components() -> dict[str, Any]:
    """The schemas of all answers."""
    _refs, found = msgspec.json.schema_components(SHOWN, ref_template=REF)
    found["Suggestions"]["properties"]["suggestions"] = {
        "type": "array", "items": {"anyOf": [_ref(kind.__name__) for kind in HINTS]}
    }  # fmt: skip
    return {**found, "Error": ERROR}


def describe(app: FastAPI, keys: bool) -> dict[str, Any]:
    """The whole description, made once."""
    if app.openapi_schema:
        return app.openapi_schema
    found = get_openapi(title="Fader", version=__version__, description=DESCRIPTION, routes=app.routes)
    schemas = found.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(components())
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for path, operations in found["paths"].items():
        for operation in operations.values():
            _complete(operation, path)
    if keys:
        found["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"key": []}]
        found["paths"]["/healthz"]["get"]["security"] = []  # a balancer that looks after the service has no key
    app.openapi_schema = found
    return found


def _complete(operation: dict[str, Any], path: str) -> None:
    """Answers that FastAPI does not know of: it would say 422, which is 400 here."""
    given = operation["responses"]
    given.pop("422", None)
    if path.startswith("/v1/"):
        missing = [code for code in (400, 404, *EVERYWHERE) if str(code) not in given]
        given.update({str(code): each for code, each in _errors(*missing).items()})
