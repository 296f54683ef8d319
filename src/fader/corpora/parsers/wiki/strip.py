"""The bulk of a page's bytes taken away, compiled: XML's escapes, comments, references; templates; marks of lines.

The first are half of a long article and nothing of them is text, so they go first, on bytes, in linear passes. The
rules are those of `markup`; `tests/corpora/wiki_oracle.py` has them as plain Python. Knows nothing of links.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fader.arrays import I64, U8
from fader.kernel import inline_kernel, kernel

MOST_OPEN = 1000  # templates within templates; deeper ones are taken as one
SHOWN = 300  # bytes of the start of a template that are kept

_AMP, _LT, _GT, _BANG, _DASH, _SLASH, _OPEN, _CLOSE, _CR, _LF = (ord(c) for c in "&<>!-/{}\r\n")
_EQUALS, _STAR, _HASH = (ord(c) for c in "=*#")
_TAB, _BLANK, _BRACKET, _BRACKET_END, _COMMA, _SEMICOLON, _COLON, _STOP = (ord(c) for c in "\t (),;:.")


@inline_kernel
def _is(buf: U8, i: int, n: int, word: U8) -> Any:
    """Whether a word stands at byte i."""
    if i + word.size > n:
        return False
    k = 0
    while k < word.size and buf[i + k] == word[k]:
        k += 1
    return k == word.size


def _word(text: bytes) -> U8:
    return np.frombuffer(text, dtype=np.uint8)


_LESS, _GREATER, _QUOTE, _AMPERSAND = _word(b"&lt;"), _word(b"&gt;"), _word(b"&quot;"), _word(b"&amp;")
_COMMENT, _COMMENT_END, _COMMENT_END_ESCAPED = _word(b"!--"), _word(b"-->"), _word(b"--&gt;")
_EN_DASH = _word("–".encode())
_REF, _REF_END = _word(b"<ref"), _word(b"</ref")


@kernel
def _unescape(buf: U8, out: U8) -> int:
    """XML's escapes and carriage returns undone, comments left out, a line end put before all; the bytes written.

    A comment that is not closed goes to the end.
    """
    n, o, i = buf.size, 1, 0
    out[0] = _LF
    while i < n:
        c = buf[i]
        i += 1
        if c == _AMP:
            if _is(buf, i - 1, n, _LESS):
                c, i = np.uint8(_LT), i + 3
            elif _is(buf, i - 1, n, _GREATER):
                c, i = np.uint8(_GT), i + 3
            elif _is(buf, i - 1, n, _QUOTE):
                c, i = np.uint8(34), i + 5
            elif _is(buf, i - 1, n, _AMPERSAND):
                i += 4
        elif c == _CR:
            if i < n and buf[i] == _LF:
                continue
            c = np.uint8(_LF)
        if c == _LT and i < n and buf[i] == _BANG and _is(buf, i, n, _COMMENT):
            i += 3
            while i < n and not (buf[i] == _DASH and _ends_comment(buf, i, n)):
                i += 1
            i += 3 if i + 2 < n and buf[i + 2] == _GT else 6
            continue
        out[o] = c
        o += 1
    return o


@inline_kernel
def _ends_comment(buf: U8, i: int, n: int) -> Any:
    """Whether `-->` stands at byte i, its last character escaped or not."""
    return _is(buf, i, n, _COMMENT_END) or _is(buf, i, n, _COMMENT_END_ESCAPED)


@kernel
def _remove_references(buf: U8, n: int) -> int:
    """`<ref>` and what is in it taken out in place; one that is not closed before the next loses its tag alone."""
    o, i = 0, 0
    while i < n:
        if buf[i] == _LT and _is(buf, i, n, _REF) and i + 4 < n:
            c = buf[i + 4]
            if c in (_GT, _SLASH) or c <= 32:
                i = _find_end(buf, i + 4, n)
                continue
        buf[o] = buf[i]
        o += 1
        i += 1
    return o


@inline_kernel
def _find_end(buf: U8, i: int, n: int) -> Any:
    """The byte behind a reference whose tag goes on at byte i."""
    end = i
    while end < n and buf[end] != _GT and buf[end] != _LT:
        end += 1
    if end >= n or buf[end] == _LT:
        return i
    if buf[end - 1] == _SLASH:
        return end + 1
    j = end
    while j < n:
        if buf[j] == _LT:
            if _is(buf, j, n, _REF_END):
                j += 5
                while j < n and buf[j] != _GT and buf[j] != _LT:
                    j += 1
                return j + 1 if j < n and buf[j] == _GT else j
            if _is(buf, j, n, _REF):
                break
        j += 1
    return end + 1


@kernel
def _remove_templates(buf: U8, out: U8, opened: I64, begins: I64, spans: I64) -> Any:
    """Templates and parameters left out, double braces that match nothing too; returns bytes written, and spans.

    A run of braces opens or closes a level for each two; an odd one is the third brace of a parameter. `spans` gets
    where each outermost template begins and ends, in order.
    """
    n, o, i, depth, found = buf.size, 0, 0, 0, 0
    while i < n:
        c = buf[i]
        if c in (_OPEN, _CLOSE) and i + 1 < n and buf[i + 1] == c:
            j = i
            while j < n and buf[j] == c:
                j += 1
            for _ in range((j - i) // 2):
                if c == _OPEN:
                    if depth < opened.size:
                        opened[depth] = o
                        begins[depth] = j
                        depth += 1
                elif depth > 0:
                    depth -= 1
                    o = opened[depth]
                    while found > 0 and spans[found - 1, 0] >= begins[depth]:
                        found -= 1
                    if found < spans.shape[0]:
                        spans[found, 0] = begins[depth]
                        spans[found, 1] = i
                        found += 1
            i = j
            continue
        out[o] = c
        o += 1
        i += 1
    return o, found


@kernel
def _remove_line_marks(buf: U8, out: U8) -> int:
    """The marks of headings, lists, indents and rules left out; returns the bytes written.

    A heading is followed by an empty line. What is before the first line end is no line of its own.
    """
    n, o, i = buf.size, 0, 0
    while i < n:
        begin, own = o, i > 0
        while i < n and buf[i] != _LF:
            out[o] = buf[i]
            o += 1
            i += 1
        if own and o > begin:
            o = _clean_line(out, begin, o)
        if i < n:
            out[o] = _LF
            o += 1
            i += 1
    return o


@inline_kernel
def _clean_line(out: U8, begin: int, end: int) -> Any:
    """A line without its marks, in place; where it ends then."""
    a, b, heading = begin, end, False
    while b > a and (out[b - 1] == _BLANK or out[b - 1] == _TAB):
        b -= 1
    if b - a > 1 and out[a] == _EQUALS and out[b - 1] == _EQUALS:
        k, most = 1, min((b - a) // 2, 6)
        while k < most and out[a + k] == _EQUALS and out[b - 1 - k] == _EQUALS:
            k += 1
        a, b, heading = a + k, b - k, True
        while a < b and (out[a] == _BLANK or out[a] == _TAB):
            a += 1
        while a < b and (out[b - 1] == _BLANK or out[b - 1] == _TAB):
            b -= 1
    if a < b and out[a] == _DASH:
        j = a
        while j < b and out[j] == _DASH:
            j += 1
        a = j if j - a > 3 else a
    else:
        while a < b and (out[a] in (_STAR, _HASH, _COLON, _SEMICOLON)):
            a += 1
        while a < b and (out[a] == _BLANK or out[a] == _TAB):
            a += 1
    for j in range(a, b):
        out[begin + j - a] = out[j]
    end = begin + b - a
    if heading:
        out[end] = _LF
        end += 1
    return end


@kernel
def _close_up(buf: U8, out: U8) -> int:
    """Blanks, empty parentheses, empty lines and repeated commas left out; returns the bytes written."""
    n, o, i, lines = buf.size, 0, 0, 2
    while i < n:
        c = buf[i]
        i += 1
        if c > _SEMICOLON:  # nearly all
            out[o] = c
            o += 1
            lines = 0
            continue
        if c == _LF:
            if o > 0 and out[o - 1] == _BLANK:
                o -= 1
            if lines < 2:
                out[o] = c
                o += 1
            lines += 1
            continue
        if c == _TAB:
            c = np.uint8(_BLANK)
        if c == _BLANK:
            if lines == 0 and out[o - 1] != _BLANK:
                out[o] = c
                o += 1
            continue
        if c == _BRACKET:
            j, only_small = i, True
            while j < n and (buf[j] in (_BLANK, _TAB, _COMMA, _SEMICOLON, _COLON) or _is(buf, j, n, _EN_DASH)):
                only_small = only_small and buf[j] != _EN_DASH[0]
                j += 3 if buf[j] == _EN_DASH[0] else 1
            if j < n and buf[j] == _BRACKET_END:
                i = j + 1
                continue
            if only_small:
                i = j
        elif o > 0 and out[o - 1] == _BLANK:
            ends = c == _STOP and (i >= n or buf[i] <= _BLANK)
            if ends or c in (_COMMA, _SEMICOLON, _BRACKET_END):
                o -= 1
        if c == _COMMA and o > 0 and out[o - 1] == _COMMA:
            continue
        out[o] = c
        o += 1
        lines = 0
    while o > 0 and out[o - 1] <= _BLANK:
        o -= 1
    return o


def remove_line_marks(text: bytes) -> bytes:
    """A text without the marks of headings, lists, indents and rules."""
    source = np.frombuffer(text, dtype=np.uint8)
    out = np.empty(source.size, dtype=np.uint8)
    return out[: _remove_line_marks(source, out)].tobytes()


def close_up(text: bytes) -> bytes:
    """A text without the blanks, empty parentheses and empty lines that removals have left."""
    source = np.frombuffer(text, dtype=np.uint8)
    out = np.empty(source.size, dtype=np.uint8)
    return out[: _close_up(source, out)].tobytes()


def remove_comments(body: bytes, escaped: bool) -> bytes:
    """A page without comments and references, after a line end; `escaped`: as XML has it."""
    source = np.frombuffer(body if escaped else body.replace(b"&", b"&amp;"), dtype=np.uint8)
    out = np.empty(source.size + 1, dtype=np.uint8)
    n = _unescape(source, out)
    n = _remove_references(out, n)
    return out[:n].tobytes()


def remove_templates(text: bytes) -> tuple[bytes, list[bytes]]:
    """A page without templates, and the start of each outermost one."""
    if b"{{" not in text and b"}}" not in text:
        return text, []
    source = np.frombuffer(text, dtype=np.uint8)
    out = np.empty(source.size, dtype=np.uint8)
    opened, begins = np.empty(MOST_OPEN, dtype=np.int64), np.empty(MOST_OPEN, dtype=np.int64)
    spans = np.empty((text.count(b"}}") + 1, 2), dtype=np.int64)
    n, found = _remove_templates(source, out, opened, begins, spans)
    starts = [text[begin : min(begin + SHOWN, end)] for begin, end in spans[:found].tolist()]
    return out[:n].tobytes(), starts
