"""HTTP responses as crawlers kept them: where the page begins, and the lines between its chunks.

A response may have several headers (`100 Continue`), none at all, or one that no empty line ends. A body that came in
chunks, and still has their lengths in it, keeps its size: lines of lengths become NULs, which are no text in a page, so
that offsets hold and a word across two chunks is whole. Knows nothing of pages.
"""

from __future__ import annotations

import re

_STATUS = re.compile(rb"HTTP/\d(?:\.\d)? +\d{3}")
_EMPTY_LINE = re.compile(rb"\r?\n\r?\n")
_TAG = re.compile(rb"\n[ \t]*(?=<[!?a-zA-Z])")
_CHUNKED = re.compile(rb"\ntransfer-encoding:[ \t]*chunked", re.IGNORECASE)
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
_LINE_END = re.compile(rb"\r?\n")


def find_page_begin(body: bytes) -> int:
    """The place behind the headers of a response; 0 where it has none."""
    begin = 0
    while _STATUS.match(body, begin):
        empty = _EMPTY_LINE.search(body, begin)
        end = empty.end() if empty else len(body)
        tag = _TAG.search(body, begin, end)
        if tag and not (empty and tag.end() == end):
            return tag.end()
        begin = end
    return begin


def blank_chunks(body: bytes) -> bytes:
    """The response with NULs in place of what is between its chunks, if there are any."""
    begin = find_page_begin(body)
    if not _CHUNKED.search(body, 0, begin):
        return body
    found = _find_between(body, begin)
    if not found:
        return body
    out = bytearray(body)
    for start, end in found:
        out[start:end] = bytes(end - start)
    return bytes(out)


def _find_between(body: bytes, at: int) -> list[tuple[int, int]]:
    """Spans of lengths and of line ends behind chunks; none where the first chunk does not end as it should."""
    found: list[tuple[int, int]] = []
    while at < len(body) and (length := _CHUNK.match(body, at)):
        size = int(length[1], 16)
        if size == 0:  # the last one; what follows are more headers
            return [*found, (at, len(body))]
        at = length.end() + size
        line_end = _LINE_END.match(body, at)
        if line_end is None:
            cut_short = len(body) <= at + 1
            return [*found, length.span(), (min(at, len(body)), len(body))] if cut_short else found
        found += [length.span(), line_end.span()]
        at = line_end.end()
    return found
