"""A page's bytes in UTF-8, read in all the ways in which offsets into it may have been counted; and which one is right.

    as the bytes suggest (`charset`), as the annotator says, windows-1252, UTF-8, ISO-8859-1, as the page declares,
    and with offsets into the bytes as they are

Of a page with mentions at offsets, the first reading in which most of them match counts. A mention matches if its text
is at its offsets, white space, case, tags and entities aside. Knows nothing of files of annotations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fader.corpora.parsers.web import charset, html
from fader.corpora.parsers.web.httpresponse import find_page_begin

_TAGS = re.compile(r"<[^>]*>")
_SURROGATE = re.compile("[\udc80-\udcff]")
_NOTHING = str.maketrans("", "", "\0\xad\ufeff")


class Reading(NamedTuple):
    """A body in UTF-8; where offsets count bytes as they were, `offsets` has their places in it."""

    data: bytes
    offsets: Any = None

    def place(self, offset: int) -> int:
        """The byte of the data that an offset means."""
        if self.offsets is None:
            return max(offset, 0)
        return int(self.offsets[min(max(offset, 0), len(self.offsets) - 1)])

    def text(self, start: int, end: int) -> str:
        """What is between two offsets."""
        return self.data[self.place(start) : self.place(end)].decode("utf-8", "replace")


def choose_reading(body: bytes, given: Sequence[tuple[str, int, int]], encoding: str) -> tuple[Reading, list[bool]]:
    """The first reading of a body in which most mentions match, and which do; `encoding` is what the annotator says.

    A mention is its text, and the offsets of its first character and behind its last.
    """
    chosen, matching, most = Reading(b""), list[bool](), -1
    for reading in list_readings(body, encoding):
        found = [is_same(reading.text(start, end), surface) for surface, start, end in given]
        if sum(found) > most:
            chosen, matching, most = reading, found, sum(found)
        if most == len(given):
            break
    return chosen, matching


def list_readings(body: bytes, encoding: str) -> Iterator[Reading]:
    """The body in UTF-8, in all the ways that offsets may have been counted, the likeliest first."""
    begin = find_page_begin(body)
    wide = charset.find_wide(body[begin:])
    if body.isascii() and b"\x1b" not in body and not wide:
        yield Reading(body)
        return
    if wide:  # headers are not
        text = body[:begin].decode("ascii", "replace") + body[begin:].decode(wide, "replace").lstrip("\ufeff")
        yield Reading(text.encode("utf-8", "replace"))
    text, guessed = charset.decode(body)
    for each in _decode_all(body, text, guessed, encoding):
        yield Reading(each.encode("utf-8", "replace"))
    if guessed == "utf-8" or charset.is_one_byte(guessed):
        yield _read_undecoded(body, guessed)


def _decode_all(body: bytes, text: str, guessed: str, encoding: str) -> Iterator[str]:
    """The text as it was guessed to be, and as it is in other encodings."""
    said, tried = charset.find_encoding(encoding), guessed
    if guessed != charset.FALLBACK:
        yield text
    elif said and charset.agrees(read := body.decode(said, "replace")):
        tried = said
        yield read
    names = (charset.find_encoding(charset.FALLBACK), "utf-8", "iso8859-1", said, charset.find_declared(body))
    for name in dict.fromkeys(filter(None, names)):
        if name != tried:
            yield body.decode(name, "replace")


def _read_undecoded(body: bytes, encoding: str) -> Reading:
    """A reading whose offsets count the bytes of the body, undecoded."""
    utf8 = encoding == "utf-8"
    text = body.decode(encoding, "surrogateescape" if utf8 else "replace")
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = 1 + (codes > 0x7F) + (codes > 0x7FF) + (codes > 0xFFFF)  # an escaped byte becomes U+FFFD: 3 bytes
    before = np.where((codes >= 0xDC80) & (codes <= 0xDCFF), 1, sizes) if utf8 else np.ones_like(sizes)
    ends = np.cumsum(sizes)
    offsets = np.append(np.repeat(ends - sizes, before), ends[-1:])
    return Reading(_SURROGATE.sub("\ufffd", text).encode(), offsets)


def is_same(found: str, surface: str) -> bool:
    """Whether a text of a page is that of a mention, white space, case, tags and entities aside."""
    return found == surface or _reduce(found) == _reduce(surface)


def _reduce(text: str) -> str:
    """Letters and signs alone: tags may stand where words are apart, or within a word."""
    return "".join(_TAGS.sub("", html.unescape(text)).translate(_NOTHING).casefold().split())
