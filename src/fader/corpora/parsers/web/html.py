"""HTML to text, with the place in the text of every byte of the page.

    read(b"<p>Ada &amp; Co<br>of <b>Port</b>Vell")      text "Ada & Co\\nof PortVell"; byte 25, the P, is character 12

- Tags, comments, declarations, scripts and styles are no text; attributes neither. Text is what is outside of these,
  whatever element it is in: words in the head, in `title` and `textarea` too, and tags there are tags.
- Elements that are blocks, and `br`, break the line; cells of tables are apart by a blank; all other white space is one
  blank, and in `pre` a line end stays one. No-break spaces are blanks; soft hyphens, byte order marks and NULs vanish.
- Entities are decoded, as browsers do it, with those that old TREC collections have of their own (`htmlentities`).
- Broken pages: a comment without an end ends at the next `>`; a script without one takes the rest; a `<` that no name
  follows is text; so is one before an address, as in `<ada@example.org>`, unlike in browsers. A quotation mark without
  its other half is none.

A page is UTF-8 here (`charset` decodes). One compiled pass over the bytes. Knows nothing of where pages come from.

Why no library: FACC1's annotations are offsets in bytes of the page, and no library says where a byte ends up in the
text. With places this reads 95 MB a second; selectolax 115, resiliparse 55 and lxml 53 without them.
"""

from __future__ import annotations

import codecs
import html
import re
from typing import NamedTuple

import numpy as np

from fader.arrays import I32
from fader.corpora.parsers.web.htmlentities import ENTITIES, decode_entity, hash_byte, hash_of, look_up, make_table
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
_SLOTS = 512  # of the table of elements
_QUOTES, _COMMENTS, _TAGS, _NESTED = 0, 1, 2, 3  # what is trusted to have an end: see `_read`
_LOOKS = re.compile(
    rb"<(?:!doctype\s+html|/?(?:html|head|body|title|meta|table|div|p|a|br|h[1-6]|pre|font|center|ul|ol|li|b|i|em|strong"
    rb"|img|script|style|td|tr|span|hr|blockquote|form)(?=[\s/>]))",
    re.IGNORECASE,
)
_SNIFFED = 1 << 16  # bytes in which a tag makes a document a page
_AROUND = b"\0\t\n\v\f\r "
_C1 = re.compile(rb"\xc2[\x80-\x9f]")
_WINDOWS = {
    code: found for code in range(0x80, 0xA0) if (found := bytes([code]).decode("windows-1252", "ignore")) != ""
}  # what these control characters mean on the web


class HtmlPage(NamedTuple):
    """A text; `at` has for each byte of the source the character it became, or -1."""

    text: str
    title: str
    at: I32

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """The characters `[start, end)` of the text that the bytes became; None where none of them is text."""
        if 0 <= start < end <= len(self.at) and self.at[start] >= 0 and self.at[end - 1] >= 0:
            return int(self.at[start]), int(self.at[end - 1]) + 1
        found = self.at[max(start, 0) : max(end, 0)]
        shown = found[found >= 0]
        return (int(shown[0]), int(shown[-1]) + 1) if len(shown) else None


def read(source: bytes, begin: int = 0) -> HtmlPage:
    """A page in UTF-8 as text. What is before `begin`, such as headers, is left out; offsets count it."""
    at = np.full(len(source) + 1, -1, np.int32)
    out = np.empty(2 * (len(source) - begin) + 8, np.uint8)  # what an entity stands for may be longer than its name
    data = np.frombuffer(source, np.uint8)
    size, title_start, title_end = _read(data, begin, _HASHES, _CLASSES, ENTITIES, out, at)
    text = _decode_text(out[:size].tobytes())
    return HtmlPage(text, text[title_start:title_end].strip() if title_end > title_start >= 0 else "", at[:-1])


def read_plain(source: bytes, begin: int = 0) -> HtmlPage:
    """A plain text in UTF-8: every character as it is, NULs and white space at either end aside."""
    at = np.full(len(source), -1, np.int32)
    end = len(source.rstrip(_AROUND))
    begin = min(end, len(source) - len(source[begin:].removeprefix(codecs.BOM_UTF8).lstrip(_AROUND)))
    codes = np.frombuffer(source, np.uint8)[begin:end]
    kept = codes != 0
    at[begin:end] = np.where(kept, np.cumsum(kept & ((codes & 0xC0) != 0x80), dtype=np.int32) - 1, -1)
    return HtmlPage(_decode_text(codes[kept].tobytes()), "", at)


def looks_like_html(source: bytes, begin: int = 0) -> bool:
    """Whether a tag of a page is near the beginning."""
    return _LOOKS.search(source, begin, begin + _SNIFFED) is not None


def unescape(text: str) -> str:
    """The text with its entities decoded."""
    return html.unescape(text) if "&" in text else text


def _decode_text(data: bytes) -> str:
    """The text, with control characters that stand for those of windows-1252 replaced, character for character."""
    text = data.decode("utf-8", "replace")
    return text.translate(_WINDOWS) if _C1.search(data) else text


_SCRIPT = hash_of("script")
_HASHES, _CLASSES = make_table({name: kind for kind, names in _ELEMENTS.items() for name in names.split()}, _SLOTS)


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
def _read_name(source, at):  # type: ignore[no-untyped-def]
    """End and hash of the name of a tag; the hash is -1 where it is an address. No < is in an address."""
    n, value, start, address = len(source), 0, at, True
    while at < n:
        c = int(source[at])
        colon = at > start and source[at - 1] == 58
        if c <= 32 or c == 62 or (c == 47 and not (colon and address)):  # white space, >, /
            break
        if address and (c == 64 or (c == 47 and colon)):  # an @, or the first / of ://
            return at, -1
        if c == 60:
            address = False
        if 65 <= c <= 90:
            c += 32
        value = hash_byte(value, c)
        at += 1
    return at, value


@kernel
def _find_tag_end(source, at, quotes):  # type: ignore[no-untyped-def]
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
def _find_comment_end(source, at):  # type: ignore[no-untyped-def]
    """The place behind the `-->`, or `--!>`, of a comment whose text begins at `at`, or -1."""
    n, start = len(source), at
    if at < n and source[at] == 62:  # <!-->
        return at + 1
    if at + 1 < n and source[at] == 45 and source[at + 1] == 62:  # <!--->
        return at + 2
    at += 2
    while at < n:
        at = _find(source, at, 62)
        last = at - 1 if source[at - 1] != 33 else at - 2  # before the > or !>
        if at < n and last > start and source[last] == 45 and source[last - 1] == 45:
            return at + 1
        at += 1
    return -1


@kernel
def _is_script(source, at):  # type: ignore[no-untyped-def]
    """Whether the name at a place is `script`."""
    if at + 6 >= len(source):
        return False
    value = 0
    for k in range(6):
        value = hash_byte(value, int(source[at + k]) | 32)
    return value == _SCRIPT and (source[at + 6] <= 32 or source[at + 6] == 62 or source[at + 6] == 47)


@kernel
def _find_dropped_end(source, at, value, trust):  # type: ignore[no-untyped-def]
    """The place of the end tag of a script or style, or the length.

    In a script, `<!-- <script> </script> -->` hides its tags; unless it never ends, which is tried once in a page.
    """
    n, first = len(source), -1
    nested = value == _SCRIPT and trust[_NESTED]
    hidden = inner = False
    while at < n:
        c = source[at]
        if c == 60 and at + 2 < n:
            if source[at + 1] == 47 and _read_name(source, at + 2)[1] == value:
                if not inner:
                    return at
                first = at if first < 0 else first
                inner = False
            elif nested and source[at + 1] == 33 and source[at + 2] == 45 and at + 3 < n and source[at + 3] == 45:
                hidden = True
                at += 1
            elif hidden and _is_script(source, at + 1):
                inner = True
        elif hidden and c == 62 and source[at - 1] == 45 and source[at - 2] == 45:
            hidden = inner = False
        at += 1
    trust[_NESTED] = first < 0
    return first if first >= 0 else n


@kernel
def _read_markup(source, i, trust):  # type: ignore[no-untyped-def]
    """The end of what the `<` at `i` opens, -1 if it is text; the hash of its name if it is a tag; if that closes."""
    n = len(source)
    if i + 1 >= n or not trust[_TAGS]:
        return -1, 0, False
    d = source[i + 1]
    closing = d == 47
    named = i + 1 + closing
    if named < n and _is_letter(source[named]):
        after, value = _read_name(source, named)
        if value < 0:
            return -1, 0, False
        end = _find_tag_end(source, after, trust[_QUOTES])
        if end < 0 and trust[_QUOTES]:
            trust[_QUOTES] = False
            end = _find_tag_end(source, after, False)
        trust[_TAGS] = end >= 0
        return end, value, closing
    if not (d == 33 or d == 63 or closing):  # ! and ?
        return -1, 0, False
    if d == 33 and i + 3 < n and source[i + 2] == 45 and source[i + 3] == 45 and trust[_COMMENTS]:
        end = _find_comment_end(source, i + 4)
        if end >= 0:
            return end, 0, False
        trust[_COMMENTS] = False
    end = _find(source, i, 62) + 1
    trust[_TAGS] = end <= n
    return end if end <= n else -1, 0, False


@kernel
def _put(byte, blank, size, chars, out):  # type: ignore[no-untyped-def]
    """Write a byte behind the white space that comes before it; bytes and characters of the text are then more."""
    if blank and size:
        out[size] = 10 if blank == 2 else 32
        size += 1
        chars += 1
    out[size] = byte
    return size + 1, chars + ((byte & 0xC0) != 0x80)


@kernel
def _read(source, begin, hashes, classes, entities, out, at):  # type: ignore[no-untyped-def]
    """Write the text to `out` and characters to `at`; gives bytes of text, first and last character of the title.

    `blank` is white space that comes before the next character, unless it is the first: 1 a blank, 2 a line end.
    `trust` says whether any quotation, comment, tag, nested script ends from here: each is looked for in vain but once.
    """
    n, i = len(source), begin
    character, trust = np.zeros(8, np.uint8), np.ones(4, np.bool_)
    size = chars = blank = pre = 0
    title_start = title_end = -1
    while i < n:
        c = source[i]
        if c == 60:  # <
            end, value, closing = _read_markup(source, i, trust)
            if end >= 0:
                kind = look_up(value, hashes, classes)
                i = end
                if kind == _BLANK:
                    blank = max(blank, 1)
                elif kind == _DROPPED:
                    i = end if closing else _find_dropped_end(source, end, value, trust)
                elif kind > 0:
                    blank = 2
                    if kind == _PRE:
                        pre = 0 if closing else 1
                    elif kind == _TITLE and not closing and title_start < 0:
                        title_start = chars + (size > 0)
                    elif kind == _TITLE and closing and title_end < 0:
                        title_end = chars
                continue
        elif c <= 32:
            if c > 0:
                blank = max(blank, 2 if pre and c == 10 else 1)
            i += 1
            continue
        elif c == 38:  # &
            end = decode_entity(source, i, entities, character)
            if end >= 0:
                for k in range(1, character[0] + 1):
                    if character[k] <= 32:
                        blank = max(blank, 1)
                        continue
                    size, chars = _put(character[k], blank, size, chars, out)
                    blank = 0
                    if at[i] < 0:
                        at[i:end] = chars - 1
                    at[end - 1] = chars - 1
                i = end
                continue
        elif c == 0xC2 and i + 1 < n and (source[i + 1] == 0xA0 or source[i + 1] == 0xAD):
            if source[i + 1] == 0xA0:
                blank = max(blank, 1)
            i += 2
            continue
        elif c == 0xEF and i + 2 < n and source[i + 1] == 0xBB and source[i + 2] == 0xBF:  # a byte order mark
            i += 3
            continue
        size, chars = _put(c, blank, size, chars, out)
        blank = 0
        at[i] = chars - 1
        i += 1
        while i < n and 38 < source[i] < 0x80 and source[i] != 60:  # most of a text: letters in a row
            out[size] = source[i]
            at[i] = chars
            size, chars, i = size + 1, chars + 1, i + 1
    return size, title_start, title_end
