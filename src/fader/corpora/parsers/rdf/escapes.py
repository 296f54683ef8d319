r"""Escapes of Turtle, N-Triples and YAGO: `\u00e9`, `\U0001f600`, `\"`, `\n` and the like.

Files written by Java have characters beyond U+FFFF as two halves, `\ud83d\ude00`: they become one character, a half
alone becomes U+FFFD. A number beyond Unicode is left as it is. Knows nothing of what is escaped.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_PLAIN = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}
_HALF = re.compile("[\ud800-\udfff]")


def unescape(text: str) -> str:
    """Undo the escapes of a text."""
    if "\\" not in text:
        return text
    made = _ESCAPE.sub(_read_escape, text)
    if _HALF.search(made):
        return made.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return made


def _read_escape(found: re.Match[str]) -> str:
    if found[3]:
        return _PLAIN.get(found[3], found[3])
    code = int(found[1] or found[2], 16)
    return chr(code) if code < 0x110000 else found[0]
