"""HTML to text, with the place in the text of every byte of the page.

    read(b"<p>Ada &amp; Co<br>of <b>Port</b>Vell")      text "Ada & Co\nof PortVell"; byte 25, the P, is character 12

- Tags, comments, declarations, scripts and styles are no text; attributes neither. Of the head only the title has text.
- Elements that are blocks, and `br`, break the line; cells of tables are apart by a blank; all other white space is one
  blank, and in `pre` a line end stays one. No-break spaces are blanks, soft hyphens vanish.
- Entities are decoded, as browsers do it, with those that old TREC collections have of their own.
- Broken pages: a comment without an end ends at the next `>`; a script without one takes the rest; a `<` that no name
  follows is text; so is one before an address, as in `<ada@example.org>`, unlike in browsers. A quotation mark without
  its other half is none.

A page is UTF-8 here (`charset` decodes). One compiled pass over the bytes. Knows nothing of where pages come from.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from html.entities import html5
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fader.kernel import kernel

_BREAK, _BLANK, _DROPPED, _TITLE, _PRE = 1, 2, 3, 4, 5  # what an element does
_ELEMENTS = {
    _BREAK: "address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header hr html isindex legend li main menu nav "
    "noframes ol optgroup option p section select summary table tbody tfoot thead tr ul",
    _BLANK: "td th",
    _DROPPED: "script style",
    _TITLE: "title",
    _PRE: "pre listing xmp plaintext textarea",
}
_SLOTS, _NAMES = 512, 1 << 13  # of the tables of elements and of entities
_OWN = {"blank;": " ", "hyph;": "-", "sp;": " ", "rsquo": "’", "lsquo": "‘"}
_LONGEST, _UNENDED = 32, 6  # letters of an entity's name, of one that needs no semicolon
_LOOKS = re.compile(
    rb"<(?:!doctype\s+html|/?(?:html|head|body|title|meta|table|div|p|a|br|h[1-6]|pre|font|center|ul|ol|li|b|i|em|strong"
    rb"|img|script|style|td|tr|span|hr|blockquote|form)(?=[\s/>]))",
    re.IGNORECASE,
)
_SNIFFED = 1 << 16  # bytes in which a tag makes a document a page
_C1 = re.compile("[\x80-\x9f]")
_WINDOWS = {
    code: found for code in range(0x80, 0xA0) if (found := bytes([code]).decode("windows-1252", "ignore")) != ""
}  # what these control characters mean on the web


class Page(NamedTuple):
    """A text; `at` has for each byte of the source the character it became, or -1."""

    text: str
    title: str
    at: NDArray[np.int32]

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """The characters `[start, end)` of the text that the bytes became; None where none of them is text."""
        if 0 <= start < end <= len(self.at) and self.at[start] >= 0 and self.at[end - 1] >= 0:
            return int(self.at[start]), int(self.at[end - 1]) + 1
        found = self.at[max(start, 0) : max(end, 0)]
        shown = found[found >= 0]
        return (int(shown[0]), int(shown[-1]) + 1) if len(shown) else None


def read(source: bytes, begin: int = 0) -> Page:
    """A page in UTF-8 as text. What is before `begin`, such as headers, is left out; offsets count it."""
    at = np.full(len(source) + 1, -1, np.int32)
    out = np.empty(2 * (len(source) - begin) + 8, np.uint8)  # what an entity stands for may be longer than its name
    size, title_start, title_end = _read(
        np.frombuffer(source, np.uint8), begin, _HASHES, _CLASSES, _ENTITIES, _FIRST, _MEANT, out, at
    )
    text = _windows(out[:size].tobytes().decode("utf-8", "replace"))
    return Page(text, text[title_start:title_end].strip() if title_end > title_start >= 0 else "", at[:-1])


def plain(source: bytes, begin: int = 0) -> Page:
    """A plain text in UTF-8: every character as it is, white space at either end aside."""
    at = np.full(len(source), -1, np.int32)
    end = len(source.rstrip())
    begin = min(end, len(source) - len(source[begin:].lstrip()))
    codes = np.frombuffer(source, np.uint8)[begin:end]
    at[begin:end] = np.cumsum((codes & 0xC0) != 0x80, dtype=np.int32) - 1
    return Page(_windows(source[begin:end].decode("utf-8", "replace")), "", at)


def looks_like_html(source: bytes, begin: int = 0) -> bool:
    """Whether a tag of a page is near the beginning."""
    return _LOOKS.search(source, begin, begin + _SNIFFED) is not None


def unescaped(text: str) -> str:
    """The text with its entities decoded."""
    return html.unescape(text) if "&" in text else text


def _windows(text: str) -> str:
    """Control characters that stand for those of windows-1252 replaced, character for character."""
    return text.translate(_WINDOWS) if not text.isascii() and _C1.search(text) else text


def _hash(name: str) -> int:
    value = 0
    for c in name.encode():
        value = (value * 131 + c) % (1 << 32)
    return value


def _table(rows: Mapping[str, int], slots: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Hashes of names, each in its slot or the next free one, and their values."""
    hashes, values = np.full(slots, -1, np.int64), np.zeros(slots, np.int64)
    for name, value in rows.items():
        slot = _hash(name) % slots
        while hashes[slot] >= 0:
            slot = (slot + 1) % slots
        hashes[slot], values[slot] = _hash(name), value
    return hashes, values


def _meanings() -> tuple[dict[str, int], NDArray[np.uint8]]:
    """For the name of an entity the place of what it stands for: a length and the bytes."""
    places, meant = {}, bytearray()
    for name, text in {**html5, **_OWN}.items():
        found = text.replace("\xa0", " ").replace("\xad", "").encode()
        places[name] = len(meant)
        meant += bytes([len(found)]) + found
    return places, np.frombuffer(bytes(meant), np.uint8)


_HASHES, _CLASSES = _table({name: kind for kind, names in _ELEMENTS.items() for name in names.split()}, _SLOTS)
_PLACES, _MEANT = _meanings()
_ENTITIES, _FIRST = _table(_PLACES, _NAMES)


@kernel
def _is_letter(c):  # type: ignore[no-untyped-def]
    return 97 <= (c | 32) <= 122


@kernel
def _find(source, at, byte):  # type: ignore[no-untyped-def]
    """The first place from `at` on of a byte, or the length."""
    n = len(source)
    while at < n and source[at] != byte:
        at += 1
    return at


@kernel
def _name(source, at):  # type: ignore[no-untyped-def]
    """End and hash of the name of a tag; the hash is -1 where it is an address."""
    n, value, start = len(source), 0, at
    while at < n:
        c = int(source[at])
        if c <= 32 or c == 62 or (c == 47 and not (at > start and source[at - 1] == 58)):  # white space, >, /
            break
        if c == 64 or (c == 47 and source[at - 1] == 58):  # an @, or the first / of ://
            return at, -1
        if 65 <= c <= 90:
            c += 32
        value = (value * 131 + c) % (1 << 32)
        at += 1
    return at, value


@kernel
def _looked_up(value, hashes, values):  # type: ignore[no-untyped-def]
    """The value of a hash in a table, or -1."""
    slot = value % len(hashes)
    while hashes[slot] >= 0:
        if hashes[slot] == value:
            return values[slot]
        slot = (slot + 1) % len(hashes)
    return -1


@kernel
def _number(source, at):  # type: ignore[no-untyped-def]
    """The end and the code of a number behind `&#`; the end is -1 where there is none."""
    n, base, code = len(source), 10, 0
    if at < n and (source[at] | 32) == 120:
        base, at = 16, at + 1
    first = at
    while at < n and at - first < 8:
        c = int(source[at]) | 32
        digit = c - 48 if 48 <= c <= 57 else (c - 87 if base == 16 and 97 <= c <= 102 else -1)
        if digit < 0 or not (source[at] >= 48):
            break
        code = code * base + digit
        at += 1
    if at == first:
        return -1, 0
    if code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        code = 0xFFFD
    return at + (at < n and source[at] == 59), code


@kernel
def _named(source, at, entities, first):  # type: ignore[no-untyped-def]
    """The end of an entity's name and the place of its meaning; -1 where it is none. `at` is behind the `&`."""
    n, start, value = len(source), at, 0
    end, found = -1, -1
    while at < n and at - start < _LONGEST:
        c = int(source[at])
        if not (_is_letter(c) or 48 <= c <= 57):
            break
        value = (value * 131 + c) % (1 << 32)
        at += 1
        if 2 <= at - start <= _UNENDED:
            place = _looked_up(value, entities, first)
            if place >= 0:
                end, found = at, place
    if at < n and source[at] == 59:
        place = _looked_up((value * 131 + 59) % (1 << 32), entities, first)
        if place >= 0:
            end, found = at + 1, place
    return end, found


@kernel
def _encoded(code, out):  # type: ignore[no-untyped-def]
    """Write a character as UTF-8 behind its length."""
    if code == 0xA0 or code < 0x80:
        out[0], out[1] = 1, 32 if code == 0xA0 else code
    elif code == 0xAD:
        out[0] = 0
    elif code < 0x800:
        out[0], out[1], out[2] = 2, 0xC0 | code >> 6, 0x80 | code & 63
    elif code < 0x10000:
        out[0], out[1], out[2], out[3] = 3, 0xE0 | code >> 12, 0x80 | code >> 6 & 63, 0x80 | code & 63
    else:
        out[0], out[1], out[2] = 4, 0xF0 | code >> 18, 0x80 | code >> 12 & 63
        out[3], out[4] = 0x80 | code >> 6 & 63, 0x80 | code & 63


@kernel
def _tag_end(source, at, quotes):  # type: ignore[no-untyped-def]
    """The place behind the `>` of a tag, or -1; values in quotation marks may hold a `>`."""
    n, value = len(source), False
    while at < n:
        c = source[at]
        if c == 62:
            return at + 1
        if quotes and value and (c == 34 or c == 39):
            close = _find(source, at + 1, c)
            if close == n:
                return -1
            at = close
        if c > 32:
            value = c == 61
        at += 1
    return -1


@kernel
def _comment_end(source, at):  # type: ignore[no-untyped-def]
    """The place behind the `-->` of a comment whose text begins at `at`, or -1."""
    n = len(source)
    if at < n and source[at] == 62:
        return at + 1
    at += 2
    while at < n:
        at = _find(source, at, 62)
        if at < n and source[at - 1] == 45 and source[at - 2] == 45:
            return at + 1
        at += 1
    return -1


@kernel
def _dropped_end(source, at, value):  # type: ignore[no-untyped-def]
    """The place of the end tag of a script or style, or the length."""
    n = len(source)
    while at < n:
        at = _find(source, at, 60)
        if at + 2 < n and source[at + 1] == 47 and _name(source, at + 2)[1] == value:
            return at
        at += 1
    return n


@kernel
def _read(source, begin, hashes, classes, entities, places, meant, out, at):  # type: ignore[no-untyped-def]
    """Write the text to `out` and characters to `at`; gives bytes of text, first and last character of the title.

    `blank` is white space that comes before the next character, unless it is the first: 1 a blank, 2 a line end.
    """
    n, i = len(source), begin
    character = np.zeros(5, np.uint8)
    size = chars = blank = pre = 0
    title_start = title_end = -1
    quotes = comments = tags = True  # whether quotation marks are trusted; whether any comment, any tag ends from here
    while i < n:
        c = source[i]
        if c == 60 and i + 1 < n:  # <
            d = source[i + 1]
            closing = d == 47
            if (d == 33 or d == 63 or (closing and not (i + 2 < n and _is_letter(source[i + 2])))) and tags:
                end = -1
                if d == 33 and i + 3 < n and source[i + 2] == 45 and source[i + 3] == 45 and comments:
                    end = _comment_end(source, i + 4)
                    comments = end >= 0
                if end < 0:
                    end = _find(source, i, 62) + 1
                if end <= n:
                    i = end
                    continue
                tags = False
            elif tags and (_is_letter(d) or closing):
                after, value = _name(source, i + 1 + closing)
                end = -1
                if value >= 0:
                    end = _tag_end(source, after, quotes)
                    if end < 0 and quotes:
                        quotes = False
                        end = _tag_end(source, after, quotes)
                    tags = end >= 0
                if end >= 0:
                    kind = _looked_up(value, hashes, classes)
                    i = end
                    if kind == 2:
                        blank = max(blank, 1)
                    elif kind == 3:
                        i = end if closing else _dropped_end(source, end, value)
                    elif kind > 0:
                        blank = 2
                        if kind == 5:
                            pre = 0 if closing else 1
                        elif kind == 4 and not closing and title_start < 0:
                            title_start = chars + (size > 0)
                        elif kind == 4 and closing and title_end < 0:
                            title_end = chars
                    continue
        elif c <= 32:
            blank = max(blank, 2 if pre and c == 10 else 1)
            i += 1
            continue
        elif c == 38:  # &
            place = 0
            if i + 1 < n and source[i + 1] == 35:
                end, code = _number(source, i + 2)
                _encoded(code, character)
            else:
                end, place = _named(source, i + 1, entities, places)
            if end >= 0:
                numeric = source[i + 1] == 35
                first = -1
                for k in range(character[0] if numeric else meant[place]):
                    r = character[k + 1] if numeric else meant[place + k + 1]
                    if r <= 32:
                        blank = max(blank, 1)
                        continue
                    if blank and size:
                        out[size] = 10 if blank == 2 else 32
                        size += 1
                        chars += 1
                    blank = 0
                    out[size] = r
                    size += 1
                    chars += (r & 0xC0) != 0x80
                    first = chars - 1 if first < 0 else first
                if first >= 0:
                    at[i:end] = first
                    at[end - 1] = chars - 1
                i = end
                continue
        elif c == 0xC2 and i + 1 < n and (source[i + 1] == 0xA0 or source[i + 1] == 0xAD):
            if source[i + 1] == 0xA0:
                blank = max(blank, 1)
            i += 2
            continue
        if blank:
            if size:
                out[size] = 10 if blank == 2 else 32
                size += 1
                chars += 1
            blank = 0
        out[size] = c
        size += 1
        chars += (c & 0xC0) != 0x80
        at[i] = chars - 1
        i += 1
    return size, title_start, title_end
