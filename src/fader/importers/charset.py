"""Bytes of pages to text: UTF-8 where they are, else the encoding that is declared, else windows-1252.

What a page declares (HTTP header, `meta`) is often wrong, so it is believed only where the bytes agree. A page that is
in UTF-8, but for a few bytes, is so whatever it says, unless it has the escapes of ISO-2022. ISO-8859-1 is read as
windows-1252, which is what it means on the web. Knows nothing of what the text is.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

_DECLARED = re.compile(rb"charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_HEAD = 4096  # bytes in which an encoding is declared
_ESCAPES = re.compile(rb"\x1b[$(]")
_BEYOND = re.compile("[^\x00-\x7f\ufffd]")
_FEW = 4  # characters beyond ASCII for each that is broken, for a text to be UTF-8 nevertheless
FALLBACK = "windows-1252"


@lru_cache(maxsize=256)
def known(name: str) -> str:
    """The name of an encoding as Python has it, empty where it has none that gives text."""
    try:
        found = codecs.lookup(name.strip())
    except (LookupError, ValueError):
        return ""
    return found.name if getattr(found, "_is_text_encoding", True) else ""


def declared(source: bytes) -> str:
    """The encoding that the beginning of a page, headers included, declares; empty if it does not."""
    for match in _DECLARED.finditer(source, 0, _HEAD):
        if name := known(match[1].decode("ascii")):
            return name
    return ""


def decoded(source: bytes, encoding: str = "") -> tuple[str, str]:
    """Text, and the encoding that gave it: the one given, else the one that the bytes agree with."""
    if encoding:
        return source.decode(known(encoding) or FALLBACK, "replace"), known(encoding) or FALLBACK
    if not _ESCAPES.search(source):
        text = source.decode("utf-8", "replace")
        if "\ufffd" not in text or len(_BEYOND.findall(text)) > _FEW * text.count("\ufffd"):
            return text, "utf-8"
    name = declared(source)
    if name not in ("", "utf-8", "iso8859-1", "ascii"):
        try:
            return source.decode(name), name
        except (UnicodeDecodeError, ValueError):
            pass
    return source.decode(FALLBACK, "replace"), FALLBACK


def one_byte(encoding: str) -> bool:
    """Whether each byte is a character in this encoding."""
    name = known(encoding)
    return name.startswith(("iso8859-", "cp125", "koi8", "mac-", "ascii", "cp437", "cp85", "cp866"))
