"""Corpus lines in JSON straight to columns, by a kernel on bytes, as `documents.py` would read them.

The kernel takes the lines that corpora are made of: the known fields once each and in any order, strings of valid
UTF-8, escapes in texts, whole numbers and decimal fractions of few digits, other fields only where they are a plain
string or number. Every other line is *odd*: faulty, over a limit or just unusual. It is left to `documents.py`,
which alone says what such a line means. Knows nothing of tokens, nor of which entities exist.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fader.corpus.tokenise import load_word
from fader.kernel import inline_kernel, kernel
from fader.limits import Limits

U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

LEAST_MENTION = 29  # bytes of the shortest object with "start", "end" and "entity"
MOST_DIGITS = 15  # integers of so many digits are exact as floats
WHOLE_DIGITS = 9
POWERS = 10.0 ** np.arange(MOST_DIGITS + 1)
HIGH, ONES, BLANKS = 0x8080808080808080, 0x0101010101010101, 0x2020202020202020
QUOTES, SLASHES = 0x2222222222222222, 0x5C5C5C5C5C5C5C5C
TAB, NEWLINE, RETURN, BLANK, QUOTE, COMMA, COLON, BACKSLASH = 9, 10, 13, 32, 34, 44, 58, 92
OPEN_LIST, CLOSE_LIST, OPEN, CLOSE = 91, 93, 123, 125


def _word(name: bytes) -> int:
    return int.from_bytes(name[:8], "little")


# Keys by their first and last eight bytes; shorter keys are one word.
ID, TEXT, CONTENTS, MENTIONS, ENTITIES = map(_word, (b"id", b"text", b"contents", b"mentions", b"entities"))
TITLE, URL, PRIOR, START, END, ENTITY = map(_word, (b"title", b"url", b"prior", b"start", b"end", b"entity"))
START_POS, END_POS, CONFIDENCE = map(_word, (b"start_pos", b"end_pos", b"confidence"))
WIKIDATA, WIKIPEDIA = _word(b"wikidata_id"), _word(b"wikipedia_id")
LAST_START_POS, LAST_CONFIDENCE = _word(b"tart_pos"), _word(b"nfidence")
LAST_WIKIDATA, LAST_WIKIPEDIA = _word(b"idata_id"), _word(b"pedia_id")


# Columns of `Lines.head` and of `Lines.mention`.
LINE, CHARACTERS, ID_AT, TITLE_AT, URL_AT, HEAD = 0, 1, 2, 4, 6, 8
STARTS, ENDS, NAME_AT, ROW = 0, 1, 2, 4


class Lines(NamedTuple):
    """The documents of a block of lines: spans are bytes of the block, texts UTF-8 laid end to end.

    `head` has for each document its line, the characters of its text, and the spans of id, title and url; `mention`
    for each mention its start, its end and the span of its entity. Mentions of document d are the rows
    [mentions_at[d], mentions_at[d+1]). `odd` are the line and the span of each odd line.
    """

    head: I32
    prior: F64
    text: U8
    ends: I64
    mentions_at: I64
    mention: I32
    confidence: F64
    odd: I32
    lines: int


class Bounds(NamedTuple):
    """Beyond these a line is odd."""

    line_bytes: int
    document_characters: int
    document_mentions: int
    id_characters: int
    name_characters: int


def parse_lines(block: bytes, words: U64, limits: Limits, objects: int) -> Lines:
    """Parse whole lines, each with its end, given also padded; one that may have over `objects` braces is odd."""
    size, buf = len(block), words.view(np.uint8)
    lines, mentions = block.count(b"\n"), size // LEAST_MENTION + 1
    head, odd = np.zeros((lines, HEAD), dtype=np.int32), np.empty((lines, 3), dtype=np.int32)
    prior, ends, at = np.ones(lines), np.empty(lines, dtype=np.int64), np.zeros(lines + 1, dtype=np.int64)
    text, mention, confidence = (
        np.empty(size, dtype=np.uint8),
        np.empty((mentions, ROW), dtype=np.int32),
        np.empty(mentions),
    )
    bounds = Bounds(
        min(limits.line_bytes, 2 * objects),
        limits.document_characters,
        limits.document_mentions,
        limits.id_characters,
        limits.name_characters,
    )
    d, m, t, n = _parse(buf, words, size, bounds, head, prior, text, ends, at, mention, confidence, odd, POWERS)
    return Lines(head[:d], prior[:d], text[:t], ends[:d], at[: d + 1], mention[:m], confidence[:m], odd[:n], lines)


@inline_kernel
def _skip_blanks(buf: U8, i: int) -> Any:
    while buf[i] == BLANK or buf[i] == TAB or buf[i] == RETURN:
        i += 1
    return i


@inline_kernel
def _specials(word: np.uint64) -> np.uint64:
    """The top bits of the bytes that are a quote, a backslash, a control character or not ASCII; the lowest is right.

    Of bytes below 128, b - 1 has the top bit only if b is 0, and only then borrows from the bytes above.
    """
    ones = np.uint64(ONES)
    equal = ((word ^ np.uint64(QUOTES)) - ones) | ((word ^ np.uint64(SLASHES)) - ones)
    return (word | (word - np.uint64(BLANKS)) | equal) & np.uint64(HIGH)


@kernel
def _find_special(words: U64, i: int) -> Any:
    """The first byte from i on that is a quote, a backslash, a control character or not ASCII."""
    U, ones = np.uintp, np.uint64(ONES)
    p = U(i)
    found = _specials(load_word(words, i))
    if found == 0:
        p = (p + U(8)) & ~U(7)
        found = _specials(words[p >> U(3)])
        while found == 0:
            p += U(8)
            found = _specials(words[p >> U(3)])
    below = (found & (~found + np.uint64(1))) - np.uint64(1)  # all bits below the lowest
    return np.int64(p) + np.int64(((below & ones) * ones) >> np.uint64(56)) - 1


@kernel
def utf8_width(buf: U8, i: int) -> Any:
    """The bytes of the character that is not ASCII and begins at i; 0 where they are no UTF-8."""
    b, c = buf[i], buf[i + 1]
    if b < 0xC2 or b > 0xF4 or c & 0xC0 != 0x80:
        return 0
    if b < 0xE0:
        return 2
    if buf[i + 2] & 0xC0 != 0x80 or (b == 0xE0 and c < 0xA0) or (b == 0xED and c > 0x9F):
        return 0
    if b < 0xF0:
        return 3
    if buf[i + 3] & 0xC0 != 0x80 or (b == 0xF0 and c < 0x90) or (b == 0xF4 and c > 0x8F):
        return 0
    return 4


@kernel
def _end_string(buf: U8, words: U64, i: int) -> Any:
    """The closing quote of a string without escapes that begins at i, and its characters; -1 where it is another."""
    characters = np.int64(0)
    while True:
        j = _find_special(words, i)
        characters += j - i
        if buf[j] == QUOTE:
            return j, characters
        width = utf8_width(buf, j) if buf[j] >= 128 else 0
        if width == 0:
            return np.int64(-1), characters
        characters += 1
        i = j + width


@kernel
def _hexadecimal(buf: U8, i: int) -> Any:
    """The number that the four digits from i on make; -1 if they are not digits."""
    value = np.int64(0)
    for j in range(i, i + 4):
        c = np.int64(buf[j])
        if 48 <= c <= 57:
            digit = c - 48
        elif 97 <= c | 32 <= 102:
            digit = (c | 32) - 87
        else:
            return np.int64(-1)
        value = 16 * value + digit
    return value


@kernel
def _unescape(buf: U8, i: int) -> Any:
    """The code point of the escape that begins at the backslash i, and the place behind it; -1 where it is odd."""
    c = buf[i + 1]
    if c in (QUOTE, BACKSLASH, 47):
        return np.int64(c), i + 2
    if c == 98:
        return np.int64(8), i + 2
    if c == 102:
        return np.int64(12), i + 2
    if c == 110:
        return np.int64(10), i + 2
    if c == 114:
        return np.int64(13), i + 2
    if c == 116:
        return np.int64(9), i + 2
    if c != 117:
        return np.int64(-1), i
    point = _hexadecimal(buf, i + 2)
    if point < 0xD800 or point > 0xDFFF:
        return point, i + 6
    if point > 0xDBFF or buf[i + 6] != BACKSLASH or buf[i + 7] != 117:
        return np.int64(-1), i
    low = _hexadecimal(buf, i + 8)
    if low < 0xDC00 or low > 0xDFFF:
        return np.int64(-1), i
    return 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00), i + 12


@kernel
def _put_point(out: U8, o: int, point: int) -> int:
    """Write a code point as UTF-8."""
    if point < 0x80:
        out[o] = point
        return o + 1
    if point < 0x800:
        out[o] = 0xC0 | (point >> 6)
        out[o + 1] = 0x80 | (point & 0x3F)
        return o + 2
    if point < 0x10000:
        out[o] = 0xE0 | (point >> 12)
        out[o + 1] = 0x80 | ((point >> 6) & 0x3F)
        out[o + 2] = 0x80 | (point & 0x3F)
        return o + 3
    out[o] = 0xF0 | (point >> 18)
    out[o + 1] = 0x80 | ((point >> 12) & 0x3F)
    out[o + 2] = 0x80 | ((point >> 6) & 0x3F)
    out[o + 3] = 0x80 | (point & 0x3F)
    return o + 4


@kernel
def _copy_string(buf: U8, words: U64, i: int, out: U8, o: int) -> Any:
    """Copy a string to `out[o:]`, escapes undone: where it ended (-1: it is odd) here and there, and its characters."""
    characters = np.int64(0)
    while True:
        j = _find_special(words, i)
        for k in range(j - i):
            out[o + k] = buf[i + k]
        characters += j - i
        o += j - i
        i = j
        c = buf[i]
        if c == QUOTE:
            return i, o, characters
        if c == BACKSLASH:
            point, i = _unescape(buf, i)
            if point < 0:
                return np.int64(-1), o, characters
            o = _put_point(out, o, point)
        else:
            width = utf8_width(buf, i) if c >= 128 else 0
            if width == 0:
                return np.int64(-1), o, characters
            for k in range(width):
                out[o + k] = buf[i + k]
            o += width
            i += width
        characters += 1


@kernel
def _whole_number(buf: U8, i: int) -> Any:
    """The whole number of few digits at i, and the place behind it; -1 where there is another thing."""
    value, j = np.int64(0), i
    while j < i + WHOLE_DIGITS and 48 <= buf[j] <= 57:
        value = 10 * value + np.int64(buf[j] - 48)
        j += 1
    if j == i or (buf[i] == 48 and j > i + 1):
        return np.int64(-1), i
    return value, j


@kernel
def _decimal(buf: U8, i: int, powers: F64) -> Any:
    """The number at i, no sign, no exponent, so few digits that it is exact to the last bit; -1 for another thing."""
    value, j, digits, point = np.int64(0), i, 0, -1
    while digits <= MOST_DIGITS:
        if 48 <= buf[j] <= 57:
            value = 10 * value + np.int64(buf[j] - 48)
            digits += 1
        elif buf[j] == 46 and point < 0 and digits > 0:
            point = digits
        else:
            break
        j += 1
    leading = digits if point < 0 else point
    if digits == 0 or digits > MOST_DIGITS or point == digits or (buf[i] == 48 and leading > 1):
        return -1.0, i
    return (float(value) if point < 0 else value / powers[digits - point]), j


@kernel
def _skip_value(buf: U8, words: U64, i: int, powers: F64) -> Any:
    """The place behind a string or number that means nothing here; -1 for any other value."""
    if buf[i] == QUOTE:
        end, _characters = _end_string(buf, words, i + 1)
        return end + 1 if end >= 0 else np.int64(-1)
    value, j = _decimal(buf, i, powers)
    return j if value >= 0.0 else np.int64(-1)


@inline_kernel
def _key(buf: U8, words: U64, i: int) -> Any:
    """A key at i: its first and its last eight bytes, its length, and where its value begins; -1 where it is odd."""
    first, last, length, at = np.uint64(0), np.uint64(0), np.int64(0), np.int64(-1)
    if buf[i] == QUOTE:
        end = _find_special(words, i + 1)
        length = end - i - 1
        colon = _skip_blanks(buf, end + 1)
        if buf[end] == QUOTE and length > 0 and buf[colon] == COLON:
            first = load_word(words, i + 1)
            if length < 8:
                first &= (np.uint64(1) << np.uint64(8 * length)) - np.uint64(1)
            else:
                last = load_word(words, end - 8)
            at = _skip_blanks(buf, colon + 1)
    return first, last, length, at


@kernel
def _parse_mention(buf: U8, words: U64, i: int, m: int, mention: I32, confidences: F64, powers: F64) -> Any:
    """Parse the mention whose first key is at i into row m; the place behind it, -1 where it is odd."""
    start, end, confidence, rank = np.int64(-1), np.int64(-1), -1.0, 0
    while True:
        first, last, length, i = _key(buf, words, i)
        if i < 0:
            return np.int64(-1)
        own = 0
        if (length == 5 and first == START) or (length == 9 and first == START_POS and last == LAST_START_POS):
            if start >= 0:
                return np.int64(-1)
            start, i = _whole_number(buf, i)
            if start < 0:
                return np.int64(-1)
        elif (length == 3 and first == END) or (length == 7 and first == END_POS):
            if end >= 0:
                return np.int64(-1)
            end, i = _whole_number(buf, i)
            if end < 0:
                return np.int64(-1)
        elif length == 10 and first == CONFIDENCE and last == LAST_CONFIDENCE:
            if confidence >= 0.0:
                return np.int64(-1)
            confidence, i = _decimal(buf, i, powers)
            if confidence < 0.0:
                return np.int64(-1)
        elif length == 6 and first == ENTITY:
            own = 4
        elif length == 11 and first == WIKIDATA and last == LAST_WIKIDATA:
            own = 2
        elif length == 12 and first == WIKIPEDIA and last == LAST_WIKIPEDIA:
            own = 1
        else:
            i = _skip_value(buf, words, i, powers)
            if i < 0:
                return np.int64(-1)
        if own:  # of several names that with the highest rank holds
            if rank & own or buf[i] != QUOTE:
                return np.int64(-1)
            close, _characters = _end_string(buf, words, i + 1)
            if close <= i + 1:
                return np.int64(-1)
            if own > rank:
                mention[m, NAME_AT], mention[m, NAME_AT + 1] = i + 1, close
            rank |= own
            i = close + 1
        i = _skip_blanks(buf, i)
        if buf[i] == CLOSE:
            break
        if buf[i] != COMMA:
            return np.int64(-1)
        i = _skip_blanks(buf, i + 1)
    if start < 0 or end < 0 or rank == 0:
        return np.int64(-1)
    mention[m, STARTS], mention[m, ENDS] = start, end
    confidences[m] = 1.0 if confidence < 0.0 else confidence
    return i + 1


@kernel
def _parse_mentions(buf: U8, words: U64, i: int, m: int, mention: I32, confidences: F64, powers: F64) -> Any:
    """Parse the list at i into rows from m on: the place behind it, -1 where it is odd, and the rows then."""
    if buf[i] != OPEN_LIST:
        return np.int64(-1), m
    i = _skip_blanks(buf, i + 1)
    if buf[i] == CLOSE_LIST:
        return i + 1, m
    while True:
        if buf[i] != OPEN or m >= confidences.size:
            return np.int64(-1), m
        i = _parse_mention(buf, words, _skip_blanks(buf, i + 1), m, mention, confidences, powers)
        if i < 0:
            return i, m
        m += 1
        i = _skip_blanks(buf, i)
        if buf[i] == CLOSE_LIST:
            return i + 1, m
        if buf[i] != COMMA:
            return np.int64(-1), m
        i = _skip_blanks(buf, i + 1)


@kernel
def _parse_document(
    buf: U8,
    words: U64,
    i: int,
    m: int,
    o: int,
    bounds: Any,
    head: I32,
    prior: F64,
    text: U8,
    mention: I32,
    confidences: F64,
    powers: F64,
) -> Any:
    """Parse the object at i into one row of heads and priors.

    Returns the place behind it, -1 where it is odd, and how many mentions and bytes of text there are then.
    """
    odd = np.int64(-1)
    seen, first_mention = 0, m
    prior[0], head[TITLE_AT], head[TITLE_AT + 1], head[URL_AT], head[URL_AT + 1] = 1.0, 0, 0, 0, 0
    while True:
        first, _last, length, i = _key(buf, words, i)
        if i < 0:
            return odd, m, o
        field = 0
        if length == 2 and first == ID:
            field = 1
            if buf[i] == QUOTE:
                close, characters = _end_string(buf, words, i + 1)
                if close <= i + 1 or characters > bounds.id_characters:
                    return odd, m, o
                head[ID_AT], head[ID_AT + 1] = i + 1, close
                i = close + 1
            else:
                begin = i
                number, i = _whole_number(buf, i)
                if number < 0 or i - begin > bounds.id_characters:
                    return odd, m, o
                head[ID_AT], head[ID_AT + 1] = begin, i
        elif (length == 4 and first == TEXT) or (length == 8 and first == CONTENTS):
            field = 2
            if buf[i] != QUOTE or seen & field:
                return odd, m, o
            close, o, characters = _copy_string(buf, words, i + 1, text, o)
            if close < 0 or characters > bounds.document_characters:
                return odd, m, o
            head[CHARACTERS] = characters
            i = close + 1
        elif length == 8 and first in (MENTIONS, ENTITIES):
            field = 4
            if seen & field:
                return odd, m, o
            i, m = _parse_mentions(buf, words, i, m, mention, confidences, powers)
            if i < 0 or m - first_mention > bounds.document_mentions:
                return odd, m, o
        elif (length == 5 and first == TITLE) or (length == 3 and first == URL):
            field = 8 if length == 5 else 16
            if buf[i] != QUOTE:
                return odd, m, o
            close, characters = _end_string(buf, words, i + 1)
            if close < 0 or characters > bounds.name_characters:
                return odd, m, o
            at = TITLE_AT if length == 5 else URL_AT
            head[at], head[at + 1] = i + 1, close
            i = close + 1
        elif length == 5 and first == PRIOR:
            field = 32
            prior[0], i = _decimal(buf, i, powers)
            if prior[0] < 0.0:
                return odd, m, o
        else:
            i = _skip_value(buf, words, i, powers)
            if i < 0:
                return odd, m, o
        if seen & field:
            return odd, m, o
        seen |= field
        i = _skip_blanks(buf, i)
        if buf[i] == CLOSE:
            break
        if buf[i] != COMMA:
            return odd, m, o
        i = _skip_blanks(buf, i + 1)
    if seen & 3 != 3:
        return odd, m, o
    return i + 1, m, o


@kernel
def _parse(
    buf: U8,
    words: U64,
    size: int,
    bounds: Any,
    head: I32,
    prior: F64,
    text: U8,
    ends: I64,
    mentions_at: I64,
    mention: I32,
    confidences: F64,
    odd: I32,
    powers: F64,
) -> Any:
    """Parse all lines; returns how many documents, mentions, bytes of text and odd lines there are."""
    d, m, o, n = 0, 0, 0, 0
    i: Any = 0
    for line in range(ends.size):
        begin = i
        at, rows, used = np.int64(-1), m, o
        i = _skip_blanks(buf, i)
        if buf[i] == NEWLINE:
            i += 1
            continue
        if buf[i] == OPEN:
            at, rows, used = _parse_document(
                buf,
                words,
                _skip_blanks(buf, i + 1),
                m,
                o,
                bounds,
                head[d],
                prior[d:],
                text,
                mention,
                confidences,
                powers,
            )
            if at >= 0:
                at = _skip_blanks(buf, at)
        if at >= 0 and buf[at] == NEWLINE and at - begin <= bounds.line_bytes:
            i, m, o = at, rows, used
            head[d, LINE] = line
            ends[d] = o
            d += 1
            mentions_at[d] = m
        else:
            while i < size and buf[i] != NEWLINE:
                i += 1
            odd[n, 0], odd[n, 1], odd[n, 2] = line, begin, i
            n += 1
        i += 1
    return d, m, o, n
