"""Entities of HTML: what a name or a number behind `&` stands for, in UTF-8, for compiled readers of pages.

    &amp;  &eacute  &#233;  &#xE9;     as browsers decode them: old names need no semicolon, numbers beyond Unicode and
                                       halves of surrogate pairs are U+FFFD
    &blank;  &hyph;  &sp;  &rsquo      those that old TREC collections have of their own

No-break spaces are blanks, soft hyphens nothing. Tables of names are open hash tables, which readers of tags use too
(`make_table`, `look_up`). Knows nothing of pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from html.entities import html5
from typing import NamedTuple

import numpy as np

from fader.arrays import I64, U8
from fader.kernel import kernel

_OWN = {"blank;": " ", "hyph;": "-", "sp;": " ", "rsquo": "’", "lsquo": "‘"}
_SLOTS = 1 << 13
_LONGEST, _UNENDED = 32, 6  # letters of an entity's name, of one that needs no semicolon
_REPLACEMENT = 0xFFFD


def hash_of(name: str) -> int:
    """The hash of a name, as `hash_byte` makes it byte by byte."""
    value = 0
    for c in name.encode():
        value = (value * 131 + c) % (1 << 32)
    return value


def make_table(rows: Mapping[str, int], slots: int) -> tuple[I64, I64]:
    """Hashes of names, each in its slot or the next free one, and their values."""
    hashes, values = np.full(slots, -1, np.int64), np.zeros(slots, np.int64)
    for name, value in rows.items():
        slot = hash_of(name) % slots
        while hashes[slot] >= 0:
            slot = (slot + 1) % slots
        hashes[slot], values[slot] = hash_of(name), value
    return hashes, values


def _list_meanings() -> tuple[dict[str, int], U8]:
    """For the name of an entity the place of what it stands for: a length and the bytes."""
    places, meant = {}, bytearray()
    for name, text in {**html5, **_OWN}.items():
        found = text.replace("\xa0", " ").replace("\xad", "").encode()
        places[name] = len(meant)
        meant += bytes([len(found)]) + found
    return places, np.frombuffer(bytes(meant), np.uint8)


class Entities(NamedTuple):
    """Hashes of names, the place of what each stands for, and there its length and its bytes."""

    names: I64
    places: I64
    meant: U8


_PLACES, _MEANT = _list_meanings()
ENTITIES = Entities(*make_table(_PLACES, _SLOTS), _MEANT)


@kernel
def hash_byte(value, byte):  # type: ignore[no-untyped-def]
    """The hash of a name that is longer by a byte."""
    return (value * 131 + byte) % (1 << 32)


@kernel
def look_up(value, hashes, values):  # type: ignore[no-untyped-def]
    """The value of a hash in a table, or -1."""
    slot = value % len(hashes)
    while hashes[slot] >= 0:
        if hashes[slot] == value:
            return values[slot]
        slot = (slot + 1) % len(hashes)
    return -1


@kernel
def decode_entity(source, at, entities, out):  # type: ignore[no-untyped-def]
    """The end of the entity whose `&` is at `at`, or -1; a length and the bytes it stands for are put into `out`."""
    if at + 1 < len(source) and source[at + 1] == 35:  # #
        end, code = _read_number(source, at + 2)
        _encode(code, out)
        return end
    end, place = _find_named(source, at + 1, entities.names, entities.places)
    if end >= 0:
        for k in range(entities.meant[place] + 1):
            out[k] = entities.meant[place + k]
    return end


@kernel
def _read_number(source, at):  # type: ignore[no-untyped-def]
    """The end and the code of a number behind `&#`; the end is -1 where there is none."""
    n, base, code = len(source), 10, 0
    if at < n and (source[at] | 32) == 120:  # x
        base, at = 16, at + 1
    first = at
    while at < n:
        c = int(source[at])
        digit = c - 48 if 48 <= c <= 57 else (c | 32) - 87 if base == 16 and 97 <= (c | 32) <= 102 else -1
        if digit < 0:
            break
        code = min(code * base + digit, 0x110000)
        at += 1
    if at == first:
        return -1, 0
    if code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        code = _REPLACEMENT
    return at + (at < n and source[at] == 59), code


@kernel
def _find_named(source, at, names, first):  # type: ignore[no-untyped-def]
    """The end of an entity's name and the place of its meaning; -1 where it is none. `at` is behind the `&`."""
    n, start, value = len(source), at, 0
    end, found = -1, -1
    while at < n and at - start < _LONGEST:
        c = int(source[at])
        if not (97 <= (c | 32) <= 122 or 48 <= c <= 57):
            break
        value = hash_byte(value, c)
        at += 1
        if 2 <= at - start <= _UNENDED:
            place = look_up(value, names, first)
            if place >= 0:
                end, found = at, place
    if at < n and source[at] == 59:
        place = look_up(hash_byte(value, 59), names, first)
        if place >= 0:
            end, found = at + 1, place
    return end, found


@kernel
def _encode(code, out):  # type: ignore[no-untyped-def]
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
