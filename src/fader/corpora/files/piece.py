"""What every reader gives: texts with a title, and spans of them that mean something. And why a file gives none."""

from __future__ import annotations

from typing import Any

import msgspec

from fader.errors import InputError


class Span(msgspec.Struct, frozen=True, omit_defaults=True):
    """Characters `[start, end)` of a text, and what they are: `person`, `quote` or `signature`."""

    start: int
    end: int
    kind: str
    name: str = ""
    address: str = ""


class Piece(msgspec.Struct, frozen=True):
    """A document of a file. `suffix` tells it from others of the file, `fields` are kept with it.

    `id` stands in for path and suffix where the file itself says it.
    """

    text: str
    title: str = ""
    suffix: str = ""
    spans: list[Span] = []
    fields: dict[str, Any] = {}
    id: str = ""


class UnreadableError(InputError):
    """A file that gives no document; the message is the reason, without the file's name."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


ENCRYPTED, EMPTY, SCANNED, DAMAGED, OVER, OTHER, MISSING = (
    "encrypted files",
    "empty files",
    "files without text, such as scans",
    "damaged files",
    "files over a limit",
    "files of other kinds",
    "files that need a package",
)
