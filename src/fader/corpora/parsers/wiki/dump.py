"""Pages of a pages-articles dump, from pieces of its XML that end behind `</page>`.

    <page><title>Anarchism</title><ns>0</ns><id>12</id>[<redirect title="…" />]<revision>…<text …>…</text>…</page>

The text of an element never has `<`, so pages are found by looking for their marks, without a parser, and the end of a
text by looking for a single character, which is many times as fast as for a word. Of several revisions the last counts.
Schema: https://www.mediawiki.org/xml/export-0.11.xsd. Knows nothing of wikitext but how a redirect begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from fader.corpora.frame.faults import at
from fader.corpus.documents import Faults

END = b"</page>"
BROKEN = "pages that are not UTF-8"
INCOMPLETE = "pages without title or text"
_SPACE = re.compile(rb"<ns>(-?\d+)</ns>")
_NUMBER = re.compile(rb"<id>(\d+)</id>")
_REDIRECT = re.compile(rb'<redirect title="([^"]*)"')
_WRITTEN_REDIRECT = re.compile(r"\s*#[^\s\[#*:]+\s*:?\s*\[\[([^\]|\n]+)", re.IGNORECASE)
_CONTROL = re.compile(r"&#(\d+|x[0-9a-fA-F]+);")


class RawPage(NamedTuple):
    """A page as it is in the dump; `body` is its text, still as XML has it."""

    title: str
    space: int
    number: str
    redirect: str
    body: bytes
    place: int


def read_pages(payload: bytes, place: int, source: str, faults: Faults) -> Iterator[RawPage]:
    """The pages of a piece that begins at a byte of a dump; those that have no title or text are faults."""
    begin = payload.find(b"<page>")
    while begin >= 0:
        where, text = at(source, place + begin, "byte"), payload.find(b"<text", begin)
        end = payload.find(END, begin, text) if text >= 0 else payload.find(END, begin)
        if text >= 0 > end:
            end = payload.find(END, _find_mark(payload, text + 5))
        if end < 0:
            faults.add("pages cut short", f"{where}: a page without </page>; get a whole dump")
            return
        page = _read_page(payload, begin, end, place + begin)
        if page is None:
            faults.add(INCOMPLETE, f"{where}: a page needs <title> and <text>")
        elif "\ufffd" in page.title and b"\xef\xbf\xbd" not in payload[begin:end]:
            faults.add(BROKEN, f"{where}: a title that is not UTF-8; get a whole dump")
        else:
            yield page
        begin = payload.find(b"<page>", end)


def _find_mark(payload: bytes, begin: int) -> int:
    """The next `<`, or the end of the piece."""
    found = payload.find(b"<", begin)
    return found if found >= 0 else len(payload)


def _read_page(payload: bytes, begin: int, end: int, place: int) -> RawPage | None:
    title = payload.find(b"<title>", begin, end)
    title_end = payload.find(b"</title>", title, end)
    text = payload.find(b"<text", begin, end)
    if min(title, title_end, text) < 0:
        return None
    if payload.find(b"<text", _find_mark(payload, text + 5), end) >= 0:
        text = payload.rfind(b"<text", begin, end)
    opened = payload.find(b">", text, end)
    closed = payload.find(b"</text>", _find_mark(payload, text + 5), end)
    empty = payload[opened - 1 : opened] == b"/"
    if opened < 0 or (closed < 0 and not empty):
        return None
    space = _SPACE.search(payload, title_end, text)
    number = _NUMBER.search(payload, title_end, text)
    redirect = _REDIRECT.search(payload, title_end, text)
    return RawPage(
        unescape(payload[title + 7 : title_end].decode("utf-8", "replace")),
        int(space[1]) if space else 0,
        number[1].decode() if number else "",
        unescape(redirect[1].decode("utf-8", "replace")) if redirect else "",
        b"" if empty else payload[opened + 1 : closed],
        place,
    )


def check_text(page: RawPage, source: str, faults: Faults) -> bytes:
    """The text of a page as XML has it, in UTF-8; bytes that are not become U+FFFD, with a fault."""
    body = page.body
    if not body.isascii():
        try:
            body.decode("utf-8")
        except UnicodeDecodeError as error:
            where = f"{at(source, page.place, 'byte')}: page {page.title}"
            faults.add(BROKEN, f"{where}: its text is not UTF-8 at byte {error.start + 1}; get a whole dump")
            body = body.decode("utf-8", "replace").encode()
    if b"&#" in body or b"&apos;" in body:  # MediaWiki writes neither
        body = _CONTROL.sub(_decode_character, body.decode().replace("&apos;", "'")).encode()
    return body


def unescape(text: str) -> str:
    """XML's escapes undone."""
    if "&" not in text:
        return text
    if "&#" in text:
        text = _CONTROL.sub(_decode_character, text)
    if "&apos;" in text:
        text = text.replace("&apos;", "'")
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")


def _decode_character(match: re.Match[str]) -> str:
    digits = match[1]
    point = int(digits[1:], 16) if digits[0] == "x" else int(digits)
    # An ampersand must not open an escape; half a surrogate pair is no character.
    return chr(point) if point < 0x110000 and point not in (38, 60, 62) and not 0xD800 <= point < 0xE000 else match[0]


def find_redirect(page: RawPage) -> str:
    """The target of a redirect as written; empty where the page is none. Old dumps have it only in the text."""
    if page.redirect:
        return page.redirect
    if b"#" not in page.body[:20]:
        return ""
    found = _WRITTEN_REDIRECT.match(unescape(page.body[:1000].decode("utf-8", "replace")))
    return found[1] if found else ""
