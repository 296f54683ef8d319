"""The kernels of the fused path: documents in windows, their mentions, distances, scores, values per entity.

    rank_windows   windows of documents, one after the other, until the work for one call is done; then the best slots
    take_pairs     the scores and mentions of some slots, slot by slot
    locate_rows    documents, distances and sides of the rows that are shown

A window is a range of documents. Which of its documents match is a bit set, combined word by word; the mentions of
those that mention the type lie together in the type's list, so that nothing is searched for. Each literal then gives
every mention a *code*: 0 where it is absent, its distance + 1 otherwise, and `cap + 1` more to the right where sides
count. Scores are sums of terms (`features.fused`); of an entity's mentions in a document the first best one counts,
or each; a pair of entity and document, or mention, adds to the entity's value at once, in the order of documents.

All bounds are the caller's: `ranker.py` checks them. Knows nothing of strings, segments or objects.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fader.features.cellmaps.staircase import cover, unite
from fader.fused.lanes import LANES, LONG, fetch_early, number_lanes, order_of, put_codes, put_nearest, unpack_rows
from fader.kernel import bare_inner_kernel, bare_kernel, inline_kernel

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

WINDOW = 16_384  # documents of a window at most
FAR = np.int32((1 << 31) - 1)
LEAST = np.int64(-(1 << 63))
# Columns of a literal's description, and of a forbidden one's.
DOCUMENT, DOCUMENTS, AT, POSITION, LENGTH, REQUIRED, NEAR = range(7)
# Columns of a term's description; what FIRST and SECOND mean is the kind's own.
KIND, NUMBERS, INTEGERS, FIRST, SECOND, THIRD = range(6)
DISTANCE_TABLE, STAIRCASE, DOCUMENT_SUM, ENTITY_COLUMN, MENTION_COLUMN, ADDEND, DOCUMENT_COLUMN = range(7)
COUNT, SUM, MAX, MIN, LOGSUM, KEEP = range(6)
NO_TRANSFORM, SOFTPLUS, LOG1P, POWER = range(4)
K1, B, LN2 = 1.2, 0.75, math.log(2.0)
COSINE, BM25, JACCARD, DIRICHLET, CONSTANT = range(5)  # as `features.noprox.NAMES` has them
FEW = 8  # occurrences in a document that are compared one by one
MANY = 8  # mentions in a document from which on all occurrences are
MEMO_BITS = 12
ITEM = (1 << 32) - 1  # the bits of an item in a hit


class Lists(NamedTuple):
    """The arena and where the lists of a query are in it."""

    integers: I32
    words: U64
    literals: I64  # (literals, columns above)
    forbidden: I64
    bits: int
    rank: int
    at: int
    start: int
    end: int
    slot: int
    packed: int
    has_long: bool


class Program(NamedTuple):
    """How contexts are scored and values accumulated."""

    terms: I64  # (terms, columns above); those of the choice come first
    choice: int  # terms that choose a document's mention, where these are not the score itself
    numbers: F64
    integers: I32
    entity: F64  # a value per slot
    mention: F64  # a value per mention of the type
    document: F64  # a value per document of `chosen`
    cap: int  # the largest code
    signed: bool
    overlap: bool
    window: int  # -1: none
    by_mention: bool
    kind: int
    transform: int
    parameter: float
    has_staircase: bool
    reads_counts: bool  # whether a term reads how often documents have literals


class Documents(NamedTuple):
    """Values of all documents; `chosen` limits the query to some of them, ascending (-1 alone: all that match)."""

    length: I32
    distinct: I64
    square: I64
    chosen: I32


class Scratch(NamedTuple):
    """Room that is used again: of a window, and a place per slot, 0 where nothing was added."""

    pointer: I64
    ahead: I64
    match: U64
    other: U64
    where: NDArray[np.uint16]  # of a document of the window its item
    item: I32  # (documents, 2): document and place among the chosen documents
    offset: I32
    first: I32  # of a document of the window where its rows are in the type's list
    start: I32  # the rows of the window, one after the other: start, end, slot word and place in the type's list
    end: I32
    slot: I32
    row: I32
    once: I64  # of documents that have a literal once, where its occurrence is << 32 | item
    often: I64  # of those that have it several times, place in the list of its documents << 32 | item
    counts: I32
    code: I32
    score: F64
    sum: F64
    value: F64
    document: F64
    column: F64
    divisor: F64
    pair_slot: I32
    pair_row: I32
    pair_score: F64
    key: U64  # of each row, the columns of its literals as one number
    memo_key: U64
    memo_value: F64
    place: I32
    staircase: I32
    near: I64
    literal: I64
    total: F64  # (slots, 2): what is accumulated, and how many pairs
    kept: F64  # (slots, 2): the last pair that is kept, and the sum of exponentials
    touched: I32
    best: I64  # the best slots, best first, and how many pairs each has, (2, MOST_BEST)
    best_value: F64
    state: I64


# What `state` holds between calls.
NEXT, TOUCHED, PAIRS, CONTEXTS, MATCHED, NEXT_CHOSEN, ROWS, BEST, CANDIDATES = range(9)
# Columns of `total`, and of `kept`.
VALUE, HOW_MANY = range(2)
LAST, EXPONENTIALS = range(2)


class Pairs(NamedTuple):
    """The pairs that are kept: slot, score, the mention that stands for each, and the pair of the slot before it."""

    slot: I32
    score: F64
    row: I32
    before: I32


@inline_kernel
def count_bits(x: np.uint64) -> np.uint64:
    """How many bits of a word are set; compilers know the pattern."""
    U = np.uint64
    x = x - ((x >> U(1)) & U(0x5555555555555555))
    x = (x & U(0x3333333333333333)) + ((x >> U(2)) & U(0x3333333333333333))
    x = (x + (x >> U(4))) & U(0x0F0F0F0F0F0F0F0F)
    return (x * U(0x0101010101010101)) >> U(56)


@inline_kernel
def find_from(values: I32, low: int, end: int, key: int) -> int:
    """The first of ascending values [low, end) that is not below the key, found in steps that double."""
    if low >= end or values[low] >= key:
        return low
    step = 1
    while low + step < end and values[low + step] < key:
        low += step
        step *= 2
    high = min(end, low + step)
    low += 1
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@inline_kernel
def _set_bits(integers: I32, begin: int, end: int, first: int, bits: U64) -> None:
    """Set the bits of some documents, counted from the window's first."""
    U = np.uintp
    for i in range(begin, end):
        d = U(integers[U(i)] - first)
        bits[d >> U(6)] |= np.uint64(1) << np.uint64(d & U(63))


@bare_inner_kernel
def _match_window(lists: Lists, scratch: Scratch, first: int, last: int) -> None:
    """Set the bits of the documents [first, last) that match, and find where each literal's documents end."""
    integers, literals, forbidden = lists.integers, lists.literals, lists.forbidden
    match, other, pointer, ahead = scratch.match, scratch.other, scratch.pointer, scratch.ahead
    words = (last - first + 63) >> 6
    for w in range(words):
        match[w] = np.uint64(0)
    required = 0
    for t in range(literals.shape[0]):
        required += literals[t, REQUIRED]
    combined = False
    for t in range(literals.shape[0]):
        base = literals[t, DOCUMENT]
        begin = base + pointer[t]
        end = find_from(integers, begin, base + literals[t, DOCUMENTS], last)
        ahead[t] = end - base
        if required > 0 and literals[t, REQUIRED] == 0:
            continue
        if required > 0 and combined:
            for w in range(words):
                other[w] = np.uint64(0)
            _set_bits(integers, begin, end, first, other)
            for w in range(words):
                match[w] &= other[w]
        else:
            _set_bits(integers, begin, end, first, match)
        combined = True
    for f in range(forbidden.shape[0]):
        base, p = forbidden[f, DOCUMENT], literals.shape[0] + f
        begin = base + pointer[p]
        end = find_from(integers, begin, base + forbidden[f, DOCUMENTS], last)
        pointer[p] = end - base
        for i in range(begin, end):
            d = np.uintp(integers[np.uintp(i)] - first)
            match[d >> np.uintp(6)] &= ~(np.uint64(1) << np.uint64(d & np.uintp(63)))


@bare_kernel
def match_documents(lists: Lists, begin: int, end: int, n: int, scratch: Scratch, found: I32, counts: I32) -> int:
    """Of the documents [begin, end) those that match, ascending, and how often each has every literal.

    They are put behind the n of the documents before; returns how many there are then.
    """
    U = np.uintp
    literals, integers = lists.literals, lists.integers
    for first in range(begin, end, WINDOW):
        last = min(end, first + WINDOW)
        _match_window(lists, scratch, first, last)
        before = n
        for w in range((last - first + 63) >> 6):
            word = scratch.match[U(w)]
            while word != np.uint64(0):
                low = word & (~word + np.uint64(1))
                word ^= low
                d = (w << 6) + np.int64(count_bits(low - np.uint64(1)))
                scratch.where[d] = np.uint16(n - before)
                found[n] = first + d
                n += 1
        for t in range(literals.shape[0]):
            for i in range(scratch.pointer[t], scratch.ahead[t]):
                place = U(integers[literals[t, DOCUMENT] + i] - first)
                if n > before and (scratch.match[place >> U(6)] >> np.uint64(place & U(63))) & np.uint64(1):
                    at = literals[t, AT] + i
                    counts[t, before + np.int64(scratch.where[place])] = integers[at + 1] - integers[at]
            scratch.pointer[t] = scratch.ahead[t]
    return n


@bare_inner_kernel
def find_rows(lists: Lists, document: int) -> Any:
    """The rows of the type in a document: begin and end, equal where it does not mention the type."""
    word, bit = lists.words[lists.bits + (document >> 6)], np.uint64(1) << np.uint64(document & 63)
    if word & bit == np.uint64(0):
        return np.int64(0), np.int64(0)
    before = np.int64(count_bits(word & (bit - np.uint64(1))))
    r = lists.at + np.int64(lists.integers[lists.rank + (document >> 6)]) + before
    return np.int64(lists.integers[r]), np.int64(lists.integers[r + 1])


@bare_kernel
def count_mentions(lists: Lists, documents: I32) -> int:
    """How many mentions of the type some documents have."""
    total = 0
    for d in documents:
        begin, end = find_rows(lists, d)
        total += end - begin
    return total


@bare_inner_kernel
def _choose_window(lists: Lists, documents: int, rows: int, first: int) -> int:
    """The end of the window from `first` on: as wide as the mentions of its documents have room."""
    integers = lists.integers
    last = min(documents, first + WINDOW)
    begin = integers[lists.at + integers[lists.rank + (first >> 6)]]
    while last - first > 64:
        if integers[lists.at + integers[lists.rank + ((last + 63) >> 6)]] - begin <= rows:
            break
        last = first + max(64, ((last - first) >> 1) & ~63)
    return last


@bare_inner_kernel
def _choose_documents(chosen: I32, scratch: Scratch, first: int, last: int) -> None:
    """Leave the bits of the chosen documents alone."""
    words = (last - first + 63) >> 6
    for w in range(words):
        scratch.other[w] = np.uint64(0)
    begin = scratch.state[NEXT_CHOSEN]
    end = find_from(chosen, begin, chosen.size, last)
    _set_bits(chosen, begin, end, first, scratch.other)
    for w in range(words):
        scratch.match[w] &= scratch.other[w]


@bare_inner_kernel
def _take_mentions(lists: Lists, scratch: Scratch, chosen: I32, first: int, last: int) -> Any:
    """The documents of the window that match and mention the type, and their rows, copied; how many of both."""
    U = np.uintp
    one = np.uint64(1)
    integers, words = lists.integers, lists.words
    match, where, item, offset, begin = scratch.match, scratch.where, scratch.item, scratch.offset, scratch.first
    y, n = U(0), U(0)
    some = chosen.size > 0 and chosen[0] >= 0
    place = scratch.state[NEXT_CHOSEN]
    for w in range((last - first + 63) >> 6):
        mentioned = words[U(lists.bits + (first >> 6) + w)]
        word = match[U(w)]
        if not some:
            word &= mentioned
        elif word == np.uint64(0):
            continue
        match[U(w)] = word & mentioned
        rank = U(lists.at) + U(integers[U(lists.rank + (first >> 6) + w)])
        while word != np.uint64(0):
            low = word & (~word + one)
            word ^= low
            d = (U(w) << U(6)) + U(count_bits(low - one))
            if some:
                place += 1
                if mentioned & low == np.uint64(0):
                    continue
            r = rank + U(count_bits(mentioned & (low - one)))
            row = integers[r]
            fetch_early(words, U(lists.packed) + U(row))
            where[d] = np.uint16(y)
            item[y, U(0)] = np.int32(U(first) + d)
            item[y, U(1)] = np.int32(place - 1)
            offset[y] = np.int32(n)
            begin[y] = row
            n += U(integers[r + U(1)] - row)
            y += U(1)
    offset[y] = np.int32(n)
    scratch.state[NEXT_CHOSEN] = place
    items, rows = np.int64(y), np.int64(n)
    for i in range(items):
        _copy_rows(lists, scratch, begin[U(i)], U(offset[U(i)]), U(offset[U(i + 1)]))
    if lists.has_long:
        for x in range(rows):
            if scratch.end[x] - scratch.start[x] == LONG:
                scratch.end[x] = integers[lists.end + scratch.row[x]]
    return items, rows


@inline_kernel
def _copy_rows(lists: Lists, scratch: Scratch, row: np.int32, to: np.uintp, end: np.uintp) -> None:
    """Copy a document's rows in whole lanes: what is written behind them is written over by the next document's."""
    U = np.uintp
    at = U(lists.packed) + U(row)
    while to < end:
        unpack_rows(lists.words, at, scratch.start, scratch.end, scratch.slot, to)
        number_lanes(row, scratch.row, to)
        row += np.int32(LANES)
        at += U(LANES)
        to += U(LANES)


@inline_kernel
def find_nearest(integers: I32, begin: int, end: int, start: int, stop: int, length: int, overlap: bool) -> Any:
    """The distance of the nearest occurrence and whether it is to the right; FAR where there is none.

    Occurrences begin at `integers[begin:end]`, counted in the document like the mention [start, stop).
    """
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if integers[middle] < start - length + 1:
            low = middle + 1
        else:
            high = middle
    left = np.int32(start - integers[low - 1] - length + 1) if low > begin else FAR
    if not overlap:
        while low < end and integers[low] < stop:
            low += 1
    right = np.int32(max(0, integers[low] - stop + 1)) if low < end else FAR
    return min(left, right), right < left and right > 0


@bare_kernel
def find_all_codes(lists: Lists, literal: I64, first_document: int, behind: int, to_code: int) -> None:
    """The code of a literal at every mention of the type, for literals so common that queries share this work.

    In those of its documents that stand from `first_document` on and before `behind`.
    """
    U = np.uintp
    integers, far, length = lists.integers, np.int32(1 << 30), np.int32(literal[LENGTH])
    for i in range(first_document, behind):
        first, last = find_rows(lists, integers[literal[DOCUMENT] + i])
        begin = U(literal[POSITION] + integers[literal[AT] + i])
        end = U(literal[POSITION] + integers[literal[AT] + i + 1])
        for row in range(first, last, LANES):
            start, stop, to, left = U(lists.start + row), U(lists.end + row), U(to_code + row), np.int32(last - row)
            put_nearest(integers, start, integers, stop, integers, begin, end, length, integers, to, far, left)


@inline_kernel
def _put_codes(
    scratch: Scratch, a: np.uintp, own: np.uintp, count: int, p: np.int32, length: np.int32, cap: np.int32
) -> None:
    """The codes of a document's mentions for its one occurrence, in whole lanes: behind them the code of absence.

    Those of the next document are written later. Nothing is read back: that would wait for the store.
    """
    U, two = np.uintp, np.int32(2)
    start, end, code = scratch.start, scratch.end, scratch.code
    before, behind = np.int32(p + length - two), np.int32(p + two)
    x, end_of = a, a + U(count)
    while x < end_of:
        put_codes(start, end, x, code, own + x, before, behind, cap, np.int32(end_of - x))
        x += U(LANES)


@bare_inner_kernel
def _find_codes(lists: Lists, program: Program, scratch: Scratch, first: int, items: int, rows: int) -> None:
    """For every literal its counts in the documents of the window and its codes at their mentions."""
    U = np.uintp
    integers, literals = lists.integers, lists.literals
    match, where, offset, once, often = scratch.match, scratch.where, scratch.offset, scratch.once, scratch.often
    start, stop, code = scratch.start, scratch.end, scratch.code
    cap = np.int32(program.cap)
    wanted = program.cap > 0 or program.window >= 0
    simple = program.overlap and not program.signed and program.window < 0
    for t in range(literals.shape[0]):
        base, to_at, to_position = U(literals[t, DOCUMENT]), U(literals[t, AT]), U(literals[t, POSITION])
        length = np.int32(literals[t, LENGTH])
        own = U(t * (rows + LANES))
        shared = simple and literals[t, NEAR] >= 0
        if wanted and shared:
            for x in range(rows):
                code[own + U(x)] = min(cap, integers[U(literals[t, NEAR]) + U(scratch.row[U(x)])])
        else:
            for x in range(rows):
                code[own + U(x)] = 0
        if shared and not program.reads_counts:
            continue
        c, m = U(0), U(0)
        for i in range(scratch.pointer[t], scratch.ahead[t]):
            d = U(integers[base + U(i)] - first)
            o = integers[to_at + U(i)]
            is_in = U((match[d >> U(6)] >> np.uint64(d & U(63))) & np.uint64(1))
            is_one = U(integers[to_at + U(i + 1)] - o == 1)
            item = np.int64(where[d])
            once[c] = (np.int64(o) << 32) | item
            often[m] = (np.int64(i) << 32) | item
            c += is_in & is_one
            m += is_in & (is_one ^ U(1))
        if program.reads_counts:
            _count(scratch, integers, to_at, t * items, items, c, m)
        if not wanted or shared:
            continue
        for h in range(np.int64(c)):
            hit = once[U(h)]
            y = U(hit & ITEM)
            a, count = U(offset[y]), np.int64(offset[y + U(1)] - offset[y])
            place = to_position + U(hit >> 32)
            if simple:
                _put_codes(scratch, a, own, count, integers[place], length, cap)
            else:
                _find_nearest(program, integers, scratch, np.int64(place), np.int64(place) + 1, length, a, own, count)
        for h in range(np.int64(m)):
            hit = often[U(h)]
            y, j = U(hit & ITEM), U(hit >> 32)
            a, count = U(offset[y]), np.int64(offset[y + U(1)] - offset[y])
            o, end = to_position + U(integers[to_at + j]), to_position + U(integers[to_at + j + U(1)])
            if simple and (count >= MANY or end - o <= U(FEW)):
                for x in range(0, count, LANES):
                    at, left = a + U(x), np.int32(count - x)
                    put_nearest(start, at, stop, at, integers, o, end, length, code, own + at, cap, left)
            else:
                _find_nearest(program, integers, scratch, np.int64(o), np.int64(end), length, a, own, count)


@inline_kernel
def _count(scratch: Scratch, integers: I32, to_at: np.uintp, own: int, items: int, c: np.uintp, m: np.uintp) -> None:
    """How often the documents of the window have a literal."""
    U = np.uintp
    counts, once, often = scratch.counts, scratch.once, scratch.often
    for y in range(items):
        counts[U(own + y)] = 0
    for h in range(np.int64(c)):
        counts[U(own) + U(once[U(h)] & ITEM)] = 1
    for h in range(np.int64(m)):
        at = to_at + U(often[U(h)] >> 32)
        counts[U(own) + U(often[U(h)] & ITEM)] = integers[at + U(1)] - integers[at]


@bare_inner_kernel
def _find_nearest(
    program: Program,
    integers: I32,
    scratch: Scratch,
    begin: int,
    end: int,
    length: np.int32,
    a: np.uintp,
    own: np.uintp,
    count: int,
) -> None:
    """The codes of a document's mentions by bisection, with sides and windows."""
    U, cap = np.uintp, np.int32(program.cap)
    for x in range(count):
        s, e = scratch.start[a + U(x)], scratch.end[a + U(x)]
        d, right = find_nearest(integers, begin, end, s, e, length, program.overlap)
        if d == FAR or (program.window >= 0 and d > program.window):
            continue
        found = min(np.int32(d + np.int32(1)), cap) if program.cap > 0 else np.int32(1)
        scratch.code[own + a + U(x)] = found + cap + np.int32(1) if program.signed and right else found


@bare_inner_kernel
def _value_documents(
    program: Program, documents: Documents, scratch: Scratch, term: Any, literals: int, items: int
) -> None:
    """The weighted columns of NoProx for the documents of the window, into `scratch.document`.

    `features.noprox` has the formulas. Loops run over documents, so that divisions are done several at a time.
    """
    U = np.uintp
    numbers, at, counts, item = program.numbers, term[NUMBERS], scratch.counts, scratch.item
    column, by, value = scratch.column, scratch.divisor, scratch.document
    squares, total, average = numbers[at + 3 * literals], numbers[at + 3 * literals + 1], numbers[at + 3 * literals + 2]
    for y in range(items):
        value[U(y)] = 0.0
    for c in range(term[FIRST]):
        kind, weight = program.integers[term[INTEGERS] + c], numbers[at + 3 * literals + 3 + c]
        for y in range(items):
            column[U(y)] = 1.0 if kind == CONSTANT else 0.0
        if kind == COSINE and weight != 0.0:
            for y in range(items):
                by[U(y)] = math.sqrt(max(np.int64(1), documents.square[U(item[U(y), U(0)])]) * squares)
            for t in range(literals):
                idf = numbers[at + t]
                for y in range(items):
                    column[U(y)] += counts[U(t * items + y)] * idf / by[U(y)]
        elif kind == BM25 and weight != 0.0:
            for y in range(items):
                by[U(y)] = K1 * (1 - B + B * documents.length[U(item[U(y), U(0)])] / average)
            for t in range(literals):
                idf = numbers[at + literals + t]
                for y in range(items):
                    tf = counts[U(t * items + y)]
                    column[U(y)] += idf * tf / (tf + by[U(y)])
        elif kind == JACCARD and weight != 0.0:
            for y in range(items):
                present = 0
                for t in range(literals):
                    present += counts[U(t * items + y)] > 0
                other = documents.distinct[U(item[U(y), U(0)])] - present
                by[U(y)] = total + LN2 * max(np.int64(0), other)
            for t in range(literals):
                idf = numbers[at + t]
                for y in range(items):
                    column[U(y)] += (idf if counts[U(t * items + y)] > 0 else 0.0) / by[U(y)]
        elif kind == DIRICHLET and weight != 0.0:
            for t in range(literals):
                ratio = numbers[at + 2 * literals + t]
                for y in range(items):
                    tf = counts[U(t * items + y)]
                    if tf > 0:
                        column[U(y)] += math.log1p(tf * ratio)
        for y in range(items):
            value[U(y)] += column[U(y)] * weight


@bare_inner_kernel
def _add_staircase(program: Program, scratch: Scratch, term: Any, literals: int, rows: int, out: F64) -> None:
    """The cells that every context of the window fires, looked up by its columns where these were seen before."""
    U = np.uintp
    integers, code, key = program.integers, scratch.code, scratch.key
    to_place, remembered = U(term[INTEGERS] + 4), term[SECOND] > 0
    absent = np.uint64(integers[term[INTEGERS]] * integers[term[INTEGERS] + 1])
    for x in range(rows):
        key[U(x)] = np.uint64(0)
    for t in range(literals):
        own = U(t * (rows + LANES))
        for x in range(rows):
            place = np.uint64(integers[to_place + U(code[own + U(x)])])
            key[U(x)] = key[U(x)] * (absent + np.uint64(1)) + place
    memo_key, memo_value = scratch.memo_key, scratch.memo_value
    above = (np.uint64(term[THIRD]) << np.uint64(56)) + np.uint64(1)
    for x in range(rows):
        own_key = key[U(x)] + above
        slot = U((own_key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - MEMO_BITS))
        if not remembered or memo_key[slot] != own_key:
            memo_key[slot], memo_value[slot] = own_key, _value_staircase(program, scratch, term, literals, rows, x)
        out[U(x)] += memo_value[slot]


@bare_inner_kernel
def _value_staircase(program: Program, scratch: Scratch, term: Any, literals: int, rows: int, x: int) -> Any:
    """The value of the cells that a context fires."""
    integers, numbers = program.integers, program.numbers
    to_place, width = term[INTEGERS], term[FIRST]
    columns, copies, cells = integers[to_place], integers[to_place + 1], integers[to_place + 2]
    place = scratch.place
    for t in range(literals):
        place[t] = integers[to_place + 4 + scratch.code[t * (rows + LANES) + x]]
    out = scratch.staircase[: max(0, 2 * literals - 1)]
    for k in range(out.size):
        out[k] = cells
    at = term[NUMBERS]
    shares = integers[to_place + 3]
    values = numbers[at : at + cells + 1]
    if shares > 0:
        to_shares = at + cells + 1
        perplexity = numbers[to_shares + shares : to_shares + shares + literals]
        near, literal = scratch.near, scratch.literal
        edges = numbers[to_shares : to_shares + shares]
        cover(place[:literals], perplexity, edges, columns, copies, cells, near, literal, out)
    else:
        row = integers[to_place + 4 + width : to_place + 4 + width + literals]
        order = integers[to_place + 4 + width + literals : to_place + 4 + width + 2 * literals]
        unite(place[:literals], row, order, columns, copies, cells, out)
    value = 0.0
    for k in range(out.size):
        value += (1.0 if k < literals else -1.0) * values[out[k]]
    return value


@bare_inner_kernel
def _add_terms(
    lists: Lists,
    program: Program,
    documents: Documents,
    scratch: Scratch,
    begin: int,
    end: int,
    items: int,
    rows: int,
    out: F64,
) -> None:
    """The sum of the terms [begin, end) for every row of the window."""
    U = np.uintp
    literals, code, offset, item = lists.literals.shape[0], scratch.code, scratch.offset, scratch.item
    numbers = program.numbers
    if begin == end or program.terms[begin, KIND] != DISTANCE_TABLE:
        for x in range(rows):
            out[U(x)] = 0.0
    for i in range(begin, end):
        term = program.terms[i]
        kind = term[KIND]
        if kind == DISTANCE_TABLE:
            width, total = term[FIRST], scratch.sum
            table = U(term[NUMBERS] + 1)
            for x in range(rows):
                total[U(x)] = 0.0 + numbers[table + U(code[U(x)])]
            for t in range(1, literals):
                table, own = U(term[NUMBERS] + 1 + t * width), U(t * (rows + LANES))
                for x in range(rows):
                    total[U(x)] += numbers[table + U(code[own + U(x)])]
            scale = numbers[term[NUMBERS]]
            if i == begin:
                for x in range(rows):
                    out[U(x)] = 0.0 + total[U(x)] * scale
            else:
                for x in range(rows):
                    out[U(x)] += total[U(x)] * scale
        elif kind == STAIRCASE:
            _add_staircase(program, scratch, term, literals, rows, out)
        elif kind == ADDEND:
            for x in range(rows):
                out[x] += numbers[term[NUMBERS]]
        elif kind in (DOCUMENT_SUM, DOCUMENT_COLUMN):
            if kind == DOCUMENT_SUM:
                _value_documents(program, documents, scratch, term, literals, items)
            else:
                for y in range(items):
                    scratch.document[y] = program.document[item[y, 1]]
            spread = scratch.sum
            for y in range(items):
                value = scratch.document[U(y)]
                for lane in range(offset[U(y)], offset[U(y + 1)], LANES):
                    for x in range(LANES):
                        spread[U(lane + x)] = value
            for x in range(rows):
                out[U(x)] += spread[U(x)]
        elif kind == ENTITY_COLUMN:
            for x in range(rows):
                out[U(x)] += program.entity[U(scratch.slot[U(x)] >> np.int32(1))]
        else:
            weight = numbers[term[NUMBERS]]
            for x in range(rows):
                out[U(x)] += program.mention[U(scratch.row[U(x)])] * weight


@inline_kernel
def _transform(score: float, how: int, parameter: float) -> Any:
    """What a score adds to a sum; as `aggregate.softor` and `aggregate.softcount` have it."""
    if how == NO_TRANSFORM:
        return score
    if how == SOFTPLUS:
        return max(score, 0.0) + math.log1p(math.exp(-abs(score)))
    if how == LOG1P:
        return math.log1p(max(score, 0.0))
    return max(score, 0.0) ** parameter


@bare_inner_kernel
def _choose_mentions(lists: Lists, program: Program, scratch: Scratch, choice: F64, value: F64, rows: int) -> Any:
    """Of each entity's mentions in a document the first best one, or every one; pairs, and mentions left out."""
    U = np.uintp
    code, slot, row = scratch.code, scratch.slot, scratch.row
    pair_slot, pair_row, pair_score = scratch.pair_slot, scratch.pair_row, scratch.pair_score
    literals, every, windowed = lists.literals.shape[0], program.by_mention, program.window >= 0
    n, dropped = U(0), np.int64(0)
    best, best_at, is_new = 0.0, U(0), True
    for i in range(rows):
        x = U(i)
        word = slot[x]
        near = not windowed
        if windowed:
            for t in range(literals):
                near = near or code[U(t * (rows + LANES)) + x] > 0
        dropped += not near
        if near and (is_new or choice[x] > best):
            best, best_at, is_new = choice[x], x, False
        if not is_new and ((every and near) or word & np.int32(1)):
            pair_slot[n], pair_row[n], pair_score[n] = word >> np.int32(1), row[best_at], value[best_at]
            n += U(1)
            is_new = True
    return np.int64(n), dropped


@bare_inner_kernel
def _choose_best_mentions(scratch: Scratch, score: F64, rows: int) -> Any:
    """The common case of `_choose_mentions`, one best mention per entity and document, without a branch on scores."""
    U = np.uintp
    slot, row = scratch.slot, scratch.row
    pair_slot, pair_row, pair_score = scratch.pair_slot, scratch.pair_row, scratch.pair_score
    n = U(0)
    best, best_at = LEAST, 0
    for x in range(rows):
        word, own = slot[U(x)], order_of(score[U(x)])
        best_at = x if own > best else best_at
        best = max(best, own)
        pair_slot[n], pair_row[n], pair_score[n] = word >> np.int32(1), row[U(best_at)], score[U(best_at)]
        is_last = word & np.int32(1)
        n += U(is_last)
        best = LEAST if is_last else best
    return np.int64(n)


@bare_inner_kernel
def _accumulate(program: Program, scratch: Scratch, pairs: Pairs, keep: bool, count: int) -> None:
    """Add the pairs of a window to the values of their entities, in their order."""
    U = np.uintp
    V, N = U(VALUE), U(HOW_MANY)
    state, total, touched = scratch.state, scratch.total, scratch.touched
    pair_slot, pair_score = scratch.pair_slot, scratch.pair_score
    kind, transform, parameter = program.kind, program.transform, program.parameter
    if keep:
        _keep(scratch, pairs, count)
    n = state[TOUCHED]
    if kind == SUM and transform == NO_TRANSFORM:
        for i in range(count):
            s = U(pair_slot[U(i)])
            before = total[s, N]
            touched[U(n)] = np.int32(s)
            n += np.int64(before == 0.0)
            total[s, N] = before + 1.0
            total[s, V] += pair_score[U(i)]
        count = 0
    for i in range(count):
        s, score = U(pair_slot[U(i)]), pair_score[U(i)]
        before = total[s, N]
        touched[U(n)] = np.int32(s)
        n += np.int64(before == 0.0)
        total[s, N] = before + 1.0
        if kind == SUM:
            total[s, V] += _transform(score, transform, parameter)
        elif before == 0.0:
            total[s, V], scratch.kept[s, U(EXPONENTIALS)] = score, 0.0
        elif kind == MIN:
            total[s, V] = min(total[s, V], score)
        else:
            total[s, V] = max(total[s, V], score)
    state[TOUCHED] = n


@bare_inner_kernel
def _keep(scratch: Scratch, pairs: Pairs, count: int) -> None:
    """Keep the pairs of a window, each linked to the one of its slot before it."""
    U, kept = np.uintp, scratch.kept
    at = U(scratch.state[PAIRS])
    for i in range(count):  # copies of slices take two seconds to compile
        s = U(scratch.pair_slot[U(i)])
        pairs.slot[at + U(i)] = np.int32(s)
        pairs.row[at + U(i)] = scratch.pair_row[U(i)]
        pairs.score[at + U(i)] = scratch.pair_score[U(i)]
        pairs.before[at + U(i)] = np.int32(kept[s, U(LAST)])
        kept[s, U(LAST)] = np.float64(at + U(i))
    scratch.state[PAIRS] += count


@bare_kernel
def rank_windows(
    lists: Lists,
    program: Program,
    documents: Documents,
    scratch: Scratch,
    pairs: Pairs,
    most: int,
    keep: bool,
    best: int,
) -> bool:
    """Rank window after window until the documents end, or `most` rows are done, or pairs to keep have no room.

    Returns whether documents are left; `state` says where to go on. At the end the `best` slots are chosen, and what
    was accumulated is forgotten; with 0 it stays.
    """
    state, chosen = scratch.state, documents.chosen
    some = chosen.size > 0 and chosen[0] >= 0
    room, done = scratch.score.size, np.int64(0)
    while state[NEXT] < documents.length.size:
        first = state[NEXT]
        last = _choose_window(lists, documents.length.size, room, first)
        if done > most or (keep and pairs.slot.size - state[PAIRS] < room):
            return True
        _match_window(lists, scratch, first, last)
        if some:
            _choose_documents(chosen, scratch, first, last)
        else:
            for w in range((last - first + 63) >> 6):
                state[MATCHED] += np.int64(count_bits(scratch.match[w]))
        items, rows = _take_mentions(lists, scratch, chosen, first, last)
        if items > 0:
            _find_codes(lists, program, scratch, first, items, rows)
            terms, none = np.int64(program.terms.shape[0]), np.int64(0)
            _add_terms(lists, program, documents, scratch, program.choice, terms, items, rows, scratch.score)
            choice, dropped = scratch.score, none
            if program.choice > 0:
                choice = scratch.value
                _add_terms(lists, program, documents, scratch, none, program.choice, items, rows, choice)
            if program.choice > 0 or program.by_mention or program.window >= 0:
                count, dropped = _choose_mentions(lists, program, scratch, choice, scratch.score, rows)
            else:
                count = _choose_best_mentions(scratch, choice, rows)
            _accumulate(program, scratch, pairs, keep, count)
            state[CONTEXTS] += rows - dropped
            state[ROWS] += rows
        for t in range(lists.literals.shape[0]):
            scratch.pointer[t] = scratch.ahead[t]
        state[NEXT] = last
        done += rows + 64
    if program.kind == LOGSUM:
        _sum_exponentials(pairs, scratch)
    if best > 0:
        _choose_best_slots(scratch, best)
        reset_slots(scratch)
    return False


@bare_inner_kernel
def _sum_exponentials(pairs: Pairs, scratch: Scratch) -> None:
    """ln sum exp of every touched slot, which holds its largest score; pairs are added in their order."""
    U = np.uintp
    total, kept = scratch.total, scratch.kept
    for i in range(scratch.state[PAIRS]):
        s = U(pairs.slot[U(i)])
        kept[s, U(EXPONENTIALS)] += math.exp(pairs.score[U(i)] - total[s, U(VALUE)])
    for i in range(scratch.state[TOUCHED]):
        s = U(scratch.touched[U(i)])
        total[s, U(VALUE)] += math.log(kept[s, U(EXPONENTIALS)])


@bare_inner_kernel
def _choose_best_slots(scratch: Scratch, most: int) -> None:
    """The slots of the largest values, of equal ones the larger slot first, each inserted among those before it."""
    U = np.uintp
    total, touched, best, value = scratch.total, scratch.touched, scratch.best, scratch.best_value
    n, least, least_slot = 0, -math.inf, np.int64(-1)
    for i in range(scratch.state[TOUCHED]):
        s = np.int64(touched[U(i)])
        v = total[U(s), U(VALUE)]
        if n == most and (v < least or (v == least and s < least_slot)):
            continue
        j = n if n < most else most - 1
        while j > 0 and (value[j - 1] < v or (value[j - 1] == v and best[0, j - 1] < s)):
            value[j], best[0, j] = value[j - 1], best[0, j - 1]
            j -= 1
        value[j], best[0, j] = v, s
        n = min(n + 1, most)
        least, least_slot = value[n - 1], best[0, n - 1]
    for j in range(n):
        best[1, j] = np.int64(total[best[0, j], HOW_MANY])
    scratch.state[BEST] = n


@bare_kernel
def reset_slots(scratch: Scratch) -> None:
    """Forget what was accumulated; the last pairs of slots stay."""
    for i in range(scratch.state[TOUCHED]):
        s = np.uintp(scratch.touched[i])
        scratch.total[s, np.uintp(VALUE)] = scratch.total[s, np.uintp(HOW_MANY)] = 0.0
    scratch.state[CANDIDATES] = scratch.state[TOUCHED]
    scratch.state[TOUCHED] = 0


@bare_kernel
def take_pairs(pairs: Pairs, kept: F64, wanted: I64, at: I64, score: F64, row: I32) -> None:
    """The scores and rows of the wanted slots, slot by slot: those of slot i go to [at[i], at[i + 1])."""
    for i in range(wanted.size):
        p = np.int64(kept[wanted[i], LAST])
        for put in range(at[i + 1] - 1, at[i] - 1, -1):
            score[put], row[put] = pairs.score[p], pairs.row[p]
            p = np.int64(pairs.before[p])


@bare_kernel
def locate_rows(
    lists: Lists,
    documents: int,
    rows: I32,
    overlap: bool,
    window: int,
    place: I32,
    distances: I32,
    sides: NDArray[np.int8],
) -> None:
    """Document, start and end of some mentions of the type, and distances and sides of every literal there."""
    integers, literals = lists.integers, lists.literals
    for x in range(rows.size):
        document, start, end = (
            _find_document(lists, rows[x], documents),
            integers[lists.start + rows[x]],
            integers[lists.end + rows[x]],
        )
        place[0, x], place[1, x], place[2, x] = document, start, end
        for t in range(literals.shape[0]):
            base, n = literals[t, DOCUMENT], literals[t, DOCUMENTS]
            i = find_from(integers, base, base + n, document) - base
            distances[t, x], sides[t, x] = -1, 0
            if i == n or integers[base + i] != document:
                continue
            at, p = literals[t, AT] + i, literals[t, POSITION]
            length = literals[t, LENGTH]
            d, right = find_nearest(integers, p + integers[at], p + integers[at + 1], start, end, length, overlap)
            if d == FAR or (window >= 0 and d > window):
                continue
            distances[t, x] = d
            if d > 0:
                sides[t, x] = 1 if right else -1


@bare_inner_kernel
def _find_document(lists: Lists, row: int, documents: int) -> Any:
    """The document of a mention of the type: by bisection among the documents that mention it."""
    integers = lists.integers
    low, high = 0, (documents + 63) >> 6  # the last word whose first document has its rows at or before the row
    while low + 1 < high:
        middle = (low + high) >> 1
        if integers[lists.at + integers[lists.rank + middle]] <= row:
            low = middle
        else:
            high = middle
    word, r = lists.words[lists.bits + low], integers[lists.rank + low]
    while integers[lists.at + r + 1] <= row:
        word ^= word & (~word + np.uint64(1))
        r += 1
    bit = word & (~word + np.uint64(1))
    return np.int32((low << 6) + np.int64(count_bits(bit - np.uint64(1))))


@bare_kernel
def find_documents(lists: Lists, rows: I32, documents: int, out: I32) -> None:
    """The documents of some mentions of the type."""
    for x in range(rows.size):
        out[x] = _find_document(lists, rows[x], documents)
