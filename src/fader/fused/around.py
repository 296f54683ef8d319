"""Scores that read all occurrences of the literals around a mention: the `Around` terms of `features.fused`.

They are found before windows are ranked, for every mention of the type in the documents that match, into a column by
mention. The frame is one and the same: documents in order, where each literal's occurrences are, then the rows. What
a row is worth is said by the kernels of the systems that have these scores, which the table calls too. Knows nothing of
storage, nor of which entities win.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.allowance import claim, claimed
from fader.contexts.quota import ContextQuota
from fader.features.fused import Around, Covering, NearShares, Propagation
from fader.fused.kernels import (
    AT,
    DOCUMENT,
    DOCUMENTS,
    LENGTH,
    POSITION,
    Lists,
    count_mentions,
    find_from,
    find_rows,
)
from fader.kernel import inner_kernel, kernel
from fader.rank.system import PairCounts
from fader.systems.entityengine import find_strength
from fader.systems.plm import log_at_mention
from fader.systems.shared.covering import WEIGHT, OwnLiterals, Search, find_window
from fader.systems.shared.kernels import add_decays, add_mass, share_of_window
from fader.systems.shared.likelihood import log_of_literal

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
PAIR_WEIGHT = 64  # a pair takes so many times longer than an element of an array: all mentions of its document


@inner_kernel
def _find_literals(lists: Lists, document: int, pointer: I64, own: OwnLiterals) -> None:
    """Where the occurrences of every literal in a document are; `pointer` is where the search goes on."""
    integers, literals = lists.integers, lists.literals
    for t in range(literals.shape[0]):
        base = literals[t, DOCUMENT]
        i = find_from(integers, base + pointer[t], base + literals[t, DOCUMENTS], document)
        pointer[t] = i - base
        own.begin[t], own.end[t], own.distance[t] = 0, 0, -1
        if pointer[t] < literals[t, DOCUMENTS] and integers[i] == document:
            at = literals[t, AT] + pointer[t]
            own.begin[t] = literals[t, POSITION] + integers[at]
            own.end[t] = literals[t, POSITION] + integers[at + 1]
            own.distance[t] = 1


@inner_kernel
def _read_literals(lists: Lists, room: I64) -> OwnLiterals:
    for t in range(lists.literals.shape[0]):
        room[2, t] = lists.literals[t, LENGTH]
    return OwnLiterals(room[0], room[1], room[2], room[3])


@kernel
def _propagate(lists: Lists, number: I32, length: I32, pointer: I64, term: Any, out: F64) -> None:
    """ln of the query's likelihood at every mention of some documents."""
    decay, mass, reach, mu, share, known = term
    own = _read_literals(lists, np.empty((4, pointer.size), np.int64))
    for d in number:
        begin, end = find_rows(lists, d)
        if begin == end:
            continue
        _find_literals(lists, d, pointer, own)
        for row in range(begin, end):
            s, e = np.int64(lists.integers[lists.start + row]), np.int64(lists.integers[lists.end + row])
            whole, value = add_mass(s, e, np.int64(length[d]), decay, mass), 0.0
            for t in known:
                count = add_decays(lists.integers, own.begin[t], own.end[t], s, e, decay, reach)
                value += log_at_mention(count, whole, mu, share[t])
            out[row] = value


@kernel
def _cover(lists: Lists, number: I32, pointer: I64, perplexity: F64, order: float, cap: float, out: F64) -> None:
    """s_x of every mention of some documents."""
    integers = lists.integers
    own = _read_literals(lists, np.empty((4, pointer.size), np.int64))
    room = np.empty((4, pointer.size), np.int64)
    search = Search(room[0], room[1], room[2], room[3])
    for d in number:
        begin, end = find_rows(lists, d)
        if begin == end:
            continue
        _find_literals(lists, d, pointer, own)
        for row in range(begin, end):
            s, e = np.int64(integers[lists.start + row]), np.int64(integers[lists.end + row])
            for t in range(pointer.size):
                if own.distance[t] >= 0:
                    i = find_from(integers, own.begin[t], own.end[t], s - own.length[t] + 1)
                    own.distance[t] = 0 if i < own.end[t] and integers[i] < e else 1
            first, size, held = find_window(integers, s, e, own, search)
            out[row] = find_strength(integers, s, e, own, perplexity, order, first, size, held) * cap


@kernel
def _near(lists: Lists, number: I32, length: I32, pointer: I64, term: Any, out: F64) -> None:
    """ln of the query's likelihood near the mentions of every entity in some documents, for each of these mentions."""
    sizes, weight, of_whole, beta, share, known = term
    integers = lists.integers
    own = _read_literals(lists, np.empty((4, pointer.size), np.int64))
    for d in number:
        begin, end = find_rows(lists, d)
        if begin == end:
            continue
        _find_literals(lists, d, pointer, own)
        tokens, first = np.int64(length[d]), begin
        lam, whole = beta / (beta + np.float64(tokens)), of_whole / max(np.int64(1), tokens)
        while first < end:
            last = first
            while integers[lists.slot + last] & 1 == 0:
                last += 1
            last += 1
            value = 0.0
            for t in known:
                p, a, b = 0.0, own.begin[t], own.end[t]
                for row in range(first, last):
                    s, e = np.int64(integers[lists.start + row]), np.int64(integers[lists.end + row])
                    found = 0.0
                    for w in sizes:
                        found += share_of_window(integers, a, b, own.length[t], s, e, tokens, w, weight)
                    p += found
                p = p / (last - first)
                if of_whole > 0.0:
                    p += (b - a) * whole
                value += log_of_literal(p, lam, share[t])
            for row in range(first, last):
                out[row] = value
            first = last


def score_mentions(term: Around, lists: Lists, number: I32, length: I32, mentions: int, quota: ContextQuota) -> F64:
    """The score of every mention of the type in some documents, ascending; of others nothing is said.

    `length` has that of every document of the collection.
    """
    rows = int(count_mentions(lists, number))
    with claimed():
        quota.reserve(rows)
    claim(8 * mentions)
    out, pointer = np.empty(mentions), np.zeros(len(lists.literals), dtype=np.int64)
    per_document = 1 + WEIGHT * len(lists.literals) * rows // max(1, number.size)
    for a, b in budget.chunks(number.size, weight=per_document):
        some = number[a:b]
        match term:
            case Propagation(decay, mass, reach, mu, share, known):
                _propagate(lists, some, length, pointer, (decay, mass, reach, mu, share, known), out)
            case Covering(perplexity, order, cap):
                _cover(lists, some, pointer, perplexity, order, cap, out)
            case NearShares(sizes, weight, whole, beta, share, known):
                _near(lists, some, length, pointer, (sizes, weight, whole, beta, share, known), out)
    return out


@kernel
def _count_pairs(lists: Lists, rows: I32, number: I32, mentions: I64, named: I64, every: I64) -> None:
    integers = lists.integers
    for i in range(rows.size):
        begin, end = find_rows(lists, number[i])
        first, last = np.int64(rows[i]), np.int64(rows[i])
        while first > begin and integers[lists.slot + first - 1] & 1 == 0:
            first -= 1
        while integers[lists.slot + last] & 1 == 0:
            last += 1
        mentions[i], named[i], every[i] = last + 1 - first, 0, end - begin
        for row in range(begin, end):
            named[i] += integers[lists.slot + row] & 1  # the last mention of an entity


def count_pairs(lists: Lists, rows: I32, number: I32, at: I64, candidates: int) -> PairCounts:
    """The counts of the pairs that some mentions stand for; `number` has their documents."""
    mentions, named, every = np.empty((3, rows.size), dtype=np.int64)
    for a, b in budget.chunks(rows.size, weight=PAIR_WEIGHT):
        _count_pairs(lists, rows[a:b], number[a:b], mentions[a:b], named[a:b], every[a:b])
    return PairCounts(at, mentions, named, every, candidates)
