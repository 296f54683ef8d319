"""The page and its files. Paths of the page all give the same document, which finds out by itself what to show.

Names are matched against a pattern that no path out of the folder fits. A client that has a file already is told so
(ETag). Knows nothing of what is in the files.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import xxhash
from fastapi import APIRouter, Request
from starlette.responses import Response

from fader.errors import quote
from fader.serve.errors import NotFound

FOLDER = Path(__file__).parent.parent / "static"
PATHS = ("/", "/compare", "/types", "/entity", "/document", "/learn", "/reports", "/reports/{name}", "/api")
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
_NAME = re.compile(r"(?:[A-Za-z0-9_-]+/)*[A-Za-z0-9_-][A-Za-z0-9._-]*")
LONGEST = 200


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False)

    async def page(request: Request) -> Response:
        return send_file(request, "index.html")

    for path in PATHS:
        routes.add_api_route(path, page, methods=["GET"])

    @routes.get("/static/{name:path}")
    async def static(request: Request) -> Response:
        return send_file(request, request.path_params["name"])

    @routes.get("/favicon.ico")
    async def icon(request: Request) -> Response:
        return send_file(request, "favicon.svg")

    return routes


def is_for_person(request: Request) -> bool:
    """Whether a person asks, in a browser, for something that is no part of the interface for programs."""
    program = request.url.path.startswith(("/v1/", "/static/", "/mcp"))
    return request.method == "GET" and not program and "text/html" in request.headers.get("accept", "")


def answer_not_found() -> Response:
    """The page, which says by itself that it has nothing to show there."""
    return Response(read("index.html")[0], 404, {"Cache-Control": "no-cache", "Content-Type": TYPES[".html"]})


def send_file(request: Request, name: str) -> Response:
    """A file of the page, or that it has not changed."""
    body, tag = read(name)
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers | {"Content-Type": TYPES[Path(name).suffix]})


def read(name: str) -> tuple[bytes, str]:
    """The bytes of a file and their tag."""
    path = FOLDER / name
    try:
        if len(name) > LONGEST or not _NAME.fullmatch(name) or path.suffix not in TYPES or not path.is_file():
            raise NotFound(f"there is no file {quote(name)}", "the page is at /")
        stat = path.stat()
    except OSError:
        raise NotFound(f"there is no file {quote(name)}", "the page is at /") from None
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(256)
def _read(path: Path, _changed: int, _size: int) -> tuple[bytes, str]:
    body = path.read_bytes()
    return body, f'"{xxhash.xxh3_64_hexdigest(body)}"'
