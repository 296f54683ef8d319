"""A report's files: which there are, opened without following a link, and sent piece by piece.

Nothing else of the disk can be reached by a name. Knows nothing of what a report says.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fastapi import Request
from fastapi.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from fader.errors import quote
from fader.experiment.reporting.figures import COLOURS
from fader.experiment.reporting.page import FILES
from fader.serve.errors import JSON, NotFound

PAGE = "index.html"
TRIES, PAUSE = 3, 0.02  # a report that is being replaced is away for a moment
CHUNK = 1 << 18
KINDS = {
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": JSON,
    "md": "text/markdown; charset=utf-8",
    "png": "image/png",
    "svg": "image/svg+xml",
    "tex": "text/x-tex; charset=utf-8",
}
# Nothing in a file of a report may run or ask for anything, even where it is opened by itself.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
DARK = ("#eceae6", "#8f8c86", "#1b1d1f", "#56b4e9", "#f0883e")  # in place of COLOURS
FIGURE = re.compile(r"figures/(?P<name>means|candidates|supports|contexts|weights-[1-9][0-9]?)\.(svg|png)")
_TITLE = re.compile(r"<title>([^<]{1,300})</title>")
FRESH = {"Cache-Control": "no-cache"}


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A file of a report."""

    file: str
    bytes: int
    about: str


def open_file(folder: Path, file: str) -> BinaryIO:
    """A regular file inside a folder, reached without following a link; tried again where the folder is away."""
    for left in reversed(range(TRIES)):
        try:
            return _open_once(folder, file)
        except FileNotFoundError:
            if not left or folder.exists():
                raise
            time.sleep(PAUSE)
    raise FileNotFoundError(file)


def _open_once(folder: Path, file: str) -> BinaryIO:
    *folders, last = file.split("/")
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in folders:
            inside = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = inside
        number = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    finally:
        os.close(at)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(f"{last} is not a regular file")
    return os.fdopen(number, "rb")


def list_files(folder: Path) -> list[ReportFile]:
    """The files that are there, those for readers first, then figures in their order."""
    inside = folder / "figures"
    figures = sorted(f"figures/{n}" for n in os.listdir(inside)) if inside.is_dir() and not inside.is_symlink() else []
    found = []
    for file in (*FILES, PAGE, *filter(FIGURE.fullmatch, figures)):
        try:
            with _open_once(folder, file) as opened:
                found.append(ReportFile(file, os.fstat(opened.fileno()).st_size, _describe(file, opened)))
        except OSError:  # a report may be without it
            continue
    return found


def _describe(file: str, opened: BinaryIO) -> str:
    if file in FILES:
        return FILES[file]
    if file == PAGE:
        return "the report as one page that needs no server"
    title = _TITLE.search(opened.read(2000).decode("utf-8", "replace")) if file.endswith(".svg") else None
    return title[1] if title else ""


def send_file(request: Request, folder: Path, name: str, file: str, dark: bool) -> Response:
    if file not in FILES and file != PAGE and not FIGURE.fullmatch(file):
        raise NotFound(f"a report has no file {quote(file)}", "GET /v1/reports/{name} lists those there are")
    try:
        opened = open_file(folder, file)
    except OSError:
        raise NotFound(f"report {quote(name)} has no file {quote(file)}", "write it again") from None
    return _send(request, opened, file, dark)


def save_as(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def _send(request: Request, opened: BinaryIO, file: str, dark: bool) -> Response:
    """A file piece by piece, so that a large one takes no memory; drawings are small and may be recoloured."""
    about = os.fstat(opened.fileno())
    kind = file.rpartition(".")[2]
    headers = FRESH | {"Content-Security-Policy": POLICY}
    headers["ETag"] = f'"{about.st_mtime_ns:x}-{about.st_size:x}-{about.st_ino:x}-{dark:d}"'
    headers |= {} if kind in ("svg", "png") else save_as(file)
    if request.headers.get("If-None-Match") == headers["ETag"]:
        opened.close()
        return Response(status_code=304, headers=headers)
    if kind == "svg" and dark:
        with opened:
            svg = opened.read()
        for light, other in zip(COLOURS, DARK, strict=True):
            svg = svg.replace(light.encode(), other.encode())
        return Response(svg, headers=headers, media_type=KINDS[kind])
    headers["Content-Length"] = str(about.st_size)
    return Streamed(opened, about.st_size, headers, KINDS[kind])


class Streamed(StreamingResponse):
    """A file piece by piece. It is closed however the answer ends, also where the client leaves before it begins."""

    def __init__(self, opened: BinaryIO, size: int, headers: Mapping[str, str], kind: str) -> None:
        super().__init__(_pieces(opened, size), headers=headers, media_type=kind)
        self._opened = opened

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._opened:
            await super().__call__(scope, receive, send)


def _pieces(opened: BinaryIO, size: int) -> Iterator[bytes]:
    """As many bytes as were promised."""
    while size > 0 and (piece := opened.read(min(CHUNK, size))):
        size -= len(piece)
        yield piece
