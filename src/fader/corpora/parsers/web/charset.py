"""The encoding of a page: what its byte order mark says, else UTF-8 if it is, else what is declared, else windows-1252.

What a page declares (HTTP header, `meta`) is often wrong, so it is believed only where the bytes, but for a few, agree.
A page that is in UTF-8, but for a few bytes, is so whatever it says, unless it has the escapes of ISO-2022. UTF-16 is
believed with a byte order mark or where every other byte is NUL, never by a declaration, which could not be read in it.
Names mean what they mean on the web: ISO-8859-1 is windows-1252, GB2312 is GB18030. Knows nothing of what the text is.
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
_WIDE = re.compile(rb"(?:\0[\t\r\n -~]){8}|(?:[\t\r\n -~]\0){8}")  # letters of UTF-16
_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_MEANT = {
    "x-sjis": "cp932", "shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030",
    "euc_kr": "cp949", "ks_c_5601-1987": "cp949", "big5": "big5hkscs", "iso8859-9": "cp1254", "iso8859-11": "cp874",
    "tis-620": "cp874", "x-mac-roman": "mac-roman", "x-cp1251": "cp1251",
}  # fmt: skip
_NEVER = ("utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem")
FALLBACK = "windows-1252"


@lru_cache(maxsize=256)
def find_encoding(name: str) -> str:
    """The name of an encoding as Python has it, empty where it has none in which pages are."""
    given = name.strip().lower()
    try:
        found = codecs.lookup(_MEANT.get(given, given))
        found = codecs.lookup(_MEANT.get(found.name, found.name))
    except (LookupError, ValueError):
        return ""
    return found.name if getattr(found, "_is_text_encoding", True) and found.name not in _NEVER else ""


def find_declared(source: bytes) -> str:
    """The encoding that the beginning of a page, headers included, declares; empty if it does not."""
    for match in _DECLARED.finditer(source, 0, _HEAD):
        if (name := find_encoding(match[1].decode("ascii"))) and not name.startswith(("utf-16", "utf-32")):
            return name
    return ""


def decode(source: bytes, encoding: str = "") -> tuple[str, str]:
    """Text, and the encoding that gave it: the one given, else the one that the bytes agree with."""
    if encoding:
        return source.decode(find_encoding(encoding) or FALLBACK, "replace"), find_encoding(encoding) or FALLBACK
    if name := find_wide(source):
        return source.decode(name, "replace"), name
    if not _ESCAPES.search(source):
        text = source.decode("utf-8", "replace")
        if agrees(text):
            return text, "utf-8"
    name = find_declared(source)
    if name not in ("", "utf-8", "iso8859-1", "ascii"):
        text = source.decode(name, "replace")
        if agrees(text):
            return text, name
    return source.decode(FALLBACK, "replace"), FALLBACK


def agrees(text: str) -> bool:
    """Whether a text has no broken characters, or few for those beyond ASCII that it has."""
    return "\ufffd" not in text or len(_BEYOND.findall(text)) > _FEW * text.count("\ufffd")


def find_wide(source: bytes) -> str:
    """UTF-16, in its order, if a page begins with its mark or has letters with NULs between them; else empty."""
    for mark, name in _MARKS.items():
        if source.startswith(mark):
            return name
    found = _WIDE.search(source, 0, _HEAD) if b"\0" in source[:_HEAD] else None
    return "" if found is None else "utf-16-be" if found[0].startswith(b"\0") else "utf-16-le"


def is_one_byte(encoding: str) -> bool:
    """Whether each byte is a character in this encoding."""
    name = find_encoding(encoding)
    return name.startswith(("iso8859-", "cp125", "koi8", "mac-", "ascii", "cp437", "cp85", "cp866", "cp874"))
