"""The page and its files. Paths of the page all give the same document, which finds out by itself what to show.

All modules are sent as one script and all styles as one file, under addresses that change with what is in them, so
that a browser keeps them for good; other files are told by their tag (ETag). Names are matched against a pattern that
no path out of the folder fits. Knows nothing of what is in the files.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import xxhash
from fastapi import APIRouter, Request
from starlette.responses import Response

from fader.errors import quote
from fader.serve.bundle import FOLDER, bundle_script, bundle_style
from fader.serve.errors import NotFound

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
BUNDLES = {"page.js": bundle_script, "page.css": bundle_style}
OPENING = b'id="opening">'  # after which stands what the page would ask for first
KEPT, ASKED = "public, max-age=31536000, immutable", "no-cache"
Opening = Callable[[Request], bytes]


def router(opening: Opening) -> APIRouter:
    """The routes; `opening` gives, as JSON, what the page would ask for first, or nothing."""
    routes = APIRouter(include_in_schema=False)

    async def page(request: Request) -> Response:
        return _send(request, *_write_page(opening(request)), "index.html", ASKED)

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
    return Response(_write_page(b"")[0], 404, {"Cache-Control": ASKED, "Content-Type": TYPES[".html"]})


def send_file(request: Request, name: str) -> Response:
    """A file of the page, or that it has not changed."""
    body, tag = read(name)
    current = request.query_params.get("v") == tag
    return _send(request, body, tag, name, KEPT if current else ASKED)


def _send(request: Request, body: bytes, tag: str, name: str, control: str) -> Response:
    headers = {"ETag": f'"{tag}"', "Cache-Control": control, "Vary": "Accept-Encoding"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if name in BUNDLES and "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["Content-Encoding"] = _compress(body), "gzip"
    return Response(body, headers=headers | {"Content-Type": TYPES[Path(name).suffix]})


def read(name: str) -> tuple[bytes, str]:
    """The bytes of a file or a bundle, and their tag."""
    if name in BUNDLES:
        return bundle(name)
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
    return _tagged(path.read_bytes())


@lru_cache
def bundle(name: str) -> tuple[bytes, str]:
    """The bytes of a bundle and their tag; made once in a process."""
    return _tagged(BUNDLES[name]().encode())


def _write_page(opening: bytes) -> tuple[bytes, str]:
    """The document, with the addresses of the bundles as they are now, and what it would ask for first."""
    body = read("index.html")[0]
    for name in (*BUNDLES, "favicon.svg"):
        address = f"/static/{name}".encode()
        body = body.replace(address, b"%s?v=%s" % (address, read(name)[1].encode()))
    return _tagged(body.replace(OPENING, OPENING + opening.replace(b"<", b"\\u003c")))


def _tagged(body: bytes) -> tuple[bytes, str]:
    return body, xxhash.xxh3_64_hexdigest(body)


@lru_cache
def _compress(body: bytes) -> bytes:
    return gzip.compress(body, 9, mtime=0)
