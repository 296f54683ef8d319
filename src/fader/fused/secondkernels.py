"""The candidates of a second stage: the best contexts of each, the documents it is in, and their votes.

    choose_rows   from the pairs of the first ranking: the best contexts of every candidate, and who has which documents
    vote          the columns of `entityfeatures.votes`

Everything is read where the lists of the query are. Bounds are the caller's. Knows no model.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fader.entityfeatures.votes import add_vote, take_logarithms
from fader.features.positional import Decays
from fader.fused.kernels import (
    AT,
    DOCUMENT,
    DOCUMENTS,
    K1,
    POSITION,
    B,
    Documents,
    Lists,
    Pairs,
    count_bits,
    find_from,
)
from fader.kernel import inner_kernel, kernel

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

# Columns of a step's description.
KIND, NUMBERS, SIZE, INTEGERS = range(4)
NOPROX, COVERAGE, SHARES, WINDOWS, POSITIONAL, ADJACENCY, COMPETITION, MENTION, CONFIDENCE, ENTITY = range(10)
FREQUENCY, VOTES = range(2)
# Rows of `Recipe.literal`.
IDF, BM25_IDF, RATIO, WINDOW_IDF, SHARE, PART, RARITY, COVERED = range(8)
# Columns of `Room.known`: which values of a document are there.
NOPROX_KNOWN, CANDIDATES_KNOWN, ADJACENT_KNOWN, SORTED_KNOWN = range(4)
WIDEST = 32  # columns of a step at most


class Recipe(NamedTuple):
    """How contexts are scored: steps in order, and what they read of the query."""

    steps: I64  # (steps, columns above)
    numbers: F64  # of each step its weights, then its scales; coverage has values of cells and edges of shares
    integers: I32
    literal: F64  # (rows above, literals)
    decays: Decays
    squares: float  # sum of squared IDFs
    total: float  # sum of IDFs
    average: float  # length of documents
    collection: int  # documents
    requires: bool
    overlap: bool
    reads_ranks: bool


class Chosen(NamedTuple):
    """What is known of the candidates and of the documents that can count; room that is used again."""

    candidate: I32  # of a slot; -1 for all others
    first: I64  # (literals, documents): where the occurrences of a literal in a document begin and end in the arena
    last: I64
    begin: I64  # of a document, its first and its last mention of the type
    end: I64
    score: F64  # BM25
    order: I64  # documents, best first
    spare: I64
    held_at: I64  # of a document, where its candidates begin in `held`
    held: I32
    contexts: I64  # of a candidate
    documents: I64
    latest: I64
    voted: I64
    sums: F64  # (candidates, columns of votes)
    kept: I64  # contexts of each candidate
    row: I32  # (candidates, contexts): the best ones, ascending
    document: I32  # of the same, places of documents
    best: F64
    at: I64  # where the rows of each candidate begin when they are laid out one after the other
    taken: I32  # of these rows, mentions and documents
    where: I64  # places of documents, and of candidates
    owner: I64
    token: I64  # the first one, and one behind the last
    token_end: I64
    known: NDArray[np.bool_]  # (documents, kinds above)
    noprox: F64
    adjacent: F64
    candidates: F64  # logarithms
    lengths: F64
    sorted_at: I64
    sorted: I32
    distance: I32  # (literals, rows)
    side: I32
    place: I32
    near: I64
    literal: I64
    corners: I32
    column: F64
    work: F64  # of likelihoods
    entity: F64


@inner_kernel
def _locate_documents(lists: Lists, number: I32, room: Chosen) -> None:
    """Where the mentions of every document are, and the occurrences of every literal in it."""
    integers, literals = lists.integers, lists.literals
    for j in range(number.size):
        d = np.int64(number[j])
        word, bit = lists.words[lists.bits + (d >> 6)], np.uint64(1) << np.uint64(d & 63)
        room.begin[j] = room.end[j] = 0
        if word & bit:
            before = np.int64(count_bits(word & (bit - np.uint64(1))))
            r = lists.at + np.int64(integers[lists.rank + (d >> 6)]) + before
            room.begin[j], room.end[j] = integers[r], integers[r + 1]
    for t in range(literals.shape[0]):
        base, place = literals[t, DOCUMENT], literals[t, POSITION]
        end, i = base + literals[t, DOCUMENTS], base
        for j in range(number.size):
            i = find_from(integers, i, end, number[j])
            room.first[t, j] = room.last[t, j] = 0
            if i < end and integers[i] == number[j]:
                at = literals[t, AT] + i - base
                room.first[t, j], room.last[t, j] = place + integers[at], place + integers[at + 1]


@inner_kernel
def _keep_best(best: F64, rows: I32, documents: I32, n: int, most: int, score: float, row: int, document: int) -> Any:
    """Enter a context among the n best of a candidate, of equal scores behind those before it; how many there are."""
    if n == most:
        if score <= best[n - 1]:
            return n
        n -= 1
    i = n
    while i > 0 and best[i - 1] < score:
        best[i], rows[i], documents[i] = best[i - 1], rows[i - 1], documents[i - 1]
        i -= 1
    best[i], rows[i], documents[i] = score, row, document
    return n + 1


@inner_kernel
def _sort_rows(rows: I32, documents: I32, count: int) -> None:
    """Put the best contexts of a candidate in the order of their rows."""
    for k in range(1, count):
        row, document, i = rows[k], documents[k], k
        while i > 0 and rows[i - 1] > row:
            rows[i], documents[i] = rows[i - 1], documents[i - 1]
            i -= 1
        rows[i], documents[i] = row, document


@inner_kernel
def _take_rows(lists: Lists, room: Chosen, candidates: int, number: I32) -> None:
    """Lay out the best contexts, candidate after candidate."""
    x = 0
    for c in range(candidates):
        for m in range(room.kept[c]):
            row, j = room.row[c, m], room.document[c, m]
            room.taken[0, x], room.taken[1, x] = row, number[j]
            room.where[x], room.owner[x] = j, c
            room.token[x], room.token_end[x] = lists.integers[lists.start + row], lists.integers[lists.end + row]
            x += 1
        room.at[c + 1] = x


@kernel
def choose_rows(lists: Lists, pairs: Pairs, count: int, number: I32, slots: I32, most: int, room: Chosen) -> int:
    """Find the best contexts of the candidates in `slots`, ascending, and who holds which documents; how many rows.

    The first `count` pairs are all mentions of the type in the documents `number`, in order.
    """
    U = np.uintp
    for c in range(slots.size):
        room.candidate[slots[c]] = c
        room.kept[c] = room.contexts[c] = room.documents[c] = 0
        room.latest[c] = -1
    _locate_documents(lists, number, room)
    j, held, end = -1, 0, -1
    for p in range(count):
        row = np.int64(pairs.row[U(p)])
        while row >= end:
            j += 1
            room.held_at[j] = held
            end = int(room.end[j])
        c = int(room.candidate[U(pairs.slot[U(p)])])
        if c < 0:
            continue
        room.contexts[c] += 1
        if room.latest[c] != j:
            room.latest[c] = j
            room.documents[c] += 1
            room.held[held] = c
            held += 1
        n, score = room.kept[c], pairs.score[U(p)]
        if n < most or score > room.best[c, n - 1]:
            room.kept[c] = _keep_best(room.best[c], room.row[c], room.document[c], n, most, score, row, j)
    for rest in range(j + 1, number.size + 1):
        room.held_at[rest] = held
    for c in range(slots.size):
        room.candidate[slots[c]] = -1
        _sort_rows(room.row[c], room.document[c], room.kept[c])
    _take_rows(lists, room, slots.size, number)
    return int(room.at[slots.size])


@inner_kernel
def _rank_documents(documents: Documents, number: I32, recipe: Recipe, room: Chosen) -> None:
    """BM25 of all documents, and their order: the best first, of equal ones the first."""
    n, score, order, spare = number.size, room.score, room.order, room.spare
    for j in range(n):
        by, value = K1 * (1 - B + B * documents.length[number[j]] / recipe.average), 0.0
        for t in range(recipe.literal.shape[1]):
            tf = room.last[t, j] - room.first[t, j]
            if tf > 0:
                value += recipe.literal[BM25_IDF, t] * tf / (tf + by)
        score[j], order[j] = value, j
    width, swapped = 1, False
    while width < n:  # merges runs of so many, from one array to the other
        for low in range(0, n, 2 * width):
            middle, high = min(n, low + width), min(n, low + 2 * width)
            a, b = low, middle
            for k in range(low, high):
                if b == high or (a < middle and score[order[a]] >= score[order[b]]):
                    spare[k] = order[a]
                    a += 1
                else:
                    spare[k] = order[b]
                    b += 1
        order, spare = spare, order
        width *= 2
        swapped = not swapped
    if swapped:
        for k in range(n):
            room.order[k] = order[k]


@inner_kernel
def vote(documents: Documents, number: I32, recipe: Recipe, candidates: int, room: Chosen) -> None:
    """The columns of votes: documents vote from the best on."""
    _rank_documents(documents, number, recipe, room)
    for c in range(candidates):
        room.voted[c] = 0
        for i in range(room.sums.shape[1]):
            room.sums[c, i] = 0.0
    for r in range(number.size):
        j = room.order[r]
        for i in range(room.held_at[j], room.held_at[j + 1]):
            c = room.held[i]
            add_vote(r + 1, room.score[j], room.voted[c], room.sums[c])
            room.voted[c] += 1
    for c in range(candidates):
        take_logarithms(room.sums[c])
