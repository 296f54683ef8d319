"""The steps of a second stage: learned columns of some contexts, each times its weight.

Everything is read where the lists of the query are: occurrences of literals, the other mentions of a document. Values
of documents are found when the first context asks for them. The formulas are those of `features` and `entityfeatures`,
whose kernels are called where a formula is more than a sum. Each step runs over all contexts, so that the many arrays
are handed over once. Bounds are the caller's. Knows no model by name.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fader.entityfeatures.frequency import add_frequency
from fader.features.adjacency import GAP
from fader.features.adjacency import NEAR as ADJACENT
from fader.features.cellmaps.staircase import cover
from fader.features.occurring import find_first
from fader.features.positional import add_likelihoods, begin_likelihoods, end_likelihoods
from fader.features.shares import add_shares
from fader.features.windows import weigh_window
from fader.fused.kernels import (
    BM25,
    CONSTANT,
    COSINE,
    DIRICHLET,
    FAR,
    JACCARD,
    K1,
    LENGTH,
    LN2,
    B,
    Documents,
    Lists,
    find_nearest,
)
from fader.fused.secondkernels import (
    ADJACENCY,
    ADJACENT_KNOWN,
    BM25_IDF,
    CANDIDATES_KNOWN,
    COMPETITION,
    CONFIDENCE,
    COVERAGE,
    COVERED,
    ENTITY,
    F64,
    FREQUENCY,
    I32,
    IDF,
    INTEGERS,
    KIND,
    NOPROX,
    NOPROX_KNOWN,
    NUMBERS,
    PART,
    POSITIONAL,
    RARITY,
    RATIO,
    SHARE,
    SHARES,
    SIZE,
    SORTED_KNOWN,
    WINDOW_IDF,
    WINDOWS,
    Chosen,
    Recipe,
    vote,
)
from fader.kernel import inner_kernel, kernel
from fader.sorting import sort_part

FEW = 64  # mentions of a document that are counted one by one; more are sorted


@inner_kernel
def _weigh_entities(recipe: Recipe, step: Any, df: I32, room: Chosen) -> None:
    """The weighted columns of every candidate."""
    for c in range(df.size):
        n = 0
        for k in range(recipe.integers[step[INTEGERS]]):
            kind = recipe.integers[step[INTEGERS] + 1 + k]
            if kind == FREQUENCY:
                add_frequency(df[c], room.contexts[c], room.documents[c], recipe.collection, room.column[n:])
                n += 4
            else:
                for i in range(room.sums.shape[1]):
                    room.column[n + i] = room.sums[c, i]
                n += room.sums.shape[1]
        room.entity[c] = _weigh(recipe.numbers, step[NUMBERS], step[SIZE], room.column)


@inner_kernel
def _weigh(numbers: F64, at: int, size: int, column: F64) -> Any:
    """Some columns, each by its scale and times its weight."""
    value = 0.0
    for i in range(size):
        value += column[i] / numbers[at + size + i] * numbers[at + i]
    return value


@inner_kernel
def _add_documents(documents: Documents, number: I32, recipe: Recipe, step: Any, room: Chosen, out: F64) -> None:
    """Add the weighted columns of NoProx, as `features.noprox` has them; those of a document are found once."""
    literal, at, first, last = recipe.literal, step[NUMBERS], room.first, room.last
    literals, known, noprox = literal.shape[1], room.known, room.noprox
    for x in range(out.size):
        j = room.where[x]
        if not known[j, NOPROX_KNOWN]:
            d, present, value = number[j], 0, 0.0
            for t in range(literals):
                present += last[t, j] > first[t, j]
            root = math.sqrt(max(np.int64(1), documents.square[d]) * recipe.squares)
            by = K1 * (1 - B + B * documents.length[d] / recipe.average)
            other = recipe.total + LN2 * max(np.int64(0), documents.distinct[d] - present)
            for i in range(step[SIZE]):
                kind = recipe.integers[step[INTEGERS] + i]
                column = 1.0 if kind == CONSTANT else 0.0
                for t in range(literals):
                    tf = last[t, j] - first[t, j]
                    if tf == 0:
                        continue
                    if kind == COSINE:
                        column += tf * literal[IDF, t] / root
                    elif kind == BM25:
                        column += literal[BM25_IDF, t] * tf / (tf + by)
                    elif kind == JACCARD:
                        column += literal[IDF, t] / other
                    elif kind == DIRICHLET:
                        column += math.log1p(tf * literal[RATIO, t])
                value += column * recipe.numbers[at + i]
            noprox[j], known[j, NOPROX_KNOWN] = value, True
        out[x] += noprox[j]


@inner_kernel
def _add_coverage(recipe: Recipe, step: Any, room: Chosen, out: F64) -> None:
    """Add the value of the cells of coverage that every row fires."""
    integers, numbers, literals = recipe.integers, recipe.numbers, recipe.literal.shape[1]
    at, distance, side, place = step[INTEGERS], room.distance, room.side, room.place
    columns, copies, cells, shares = integers[at], integers[at + 1], integers[at + 2], integers[at + 3]
    half, values, to_shares = step[SIZE] // copies, step[NUMBERS], step[NUMBERS] + cells + 1
    corners, edges = room.corners[: max(0, 2 * literals - 1)], numbers[to_shares : to_shares + shares]
    perplexity, near, literal, own = recipe.literal[COVERED], room.near, room.literal, place[:literals]
    for x in range(out.size):
        for t in range(literals):
            code = min(np.int64(distance[t, x]) + 1, half - 1)
            if copies > 1 and side[t, x] > 0:
                code += half
            place[t] = integers[at + 4 + code]
        for k in range(corners.size):
            corners[k] = cells
        cover(own, perplexity, edges, columns, copies, cells, near, literal, corners)
        value = 0.0
        for k in range(corners.size):
            value += (1.0 if k < literals else -1.0) * numbers[values + corners[k]]
        out[x] += value


@inner_kernel
def _find_distances(lists: Lists, recipe: Recipe, room: Chosen, count: int) -> None:
    """Distance and side of every literal for every row; -1 and 0 where it is absent."""
    integers, distance, side = lists.integers, room.distance, room.side
    for t in range(lists.literals.shape[0]):
        length = lists.literals[t, LENGTH]
        for x in range(count):
            distance[t, x], side[t, x] = -1, 0
            a, b = room.first[t, room.where[x]], room.last[t, room.where[x]]
            if a == b:
                continue
            d, right = find_nearest(integers, a, b, room.token[x], room.token_end[x], length, recipe.overlap)
            if d != FAR:
                distance[t, x] = d
                if d > 0:
                    side[t, x] = 1 if right else -1


@inner_kernel
def _is_adjacent(integers: I32, length: int, first: int, last: int, i: int, end: int) -> bool:
    """Whether one of the occurrences [first, last) of a literal has one of the next literal, [i, end), behind it."""
    for p in range(first, last):
        behind = np.int64(integers[p]) + length
        i = find_first(integers, i, end, behind)
        if i == end:
            return False
        if integers[i] <= behind + GAP:
            return True
    return False


@inner_kernel
def _add_adjacent(lists: Lists, recipe: Recipe, step: Any, room: Chosen, out: F64) -> None:
    """Add the columns of adjacency; `adjacent[j]` has that of a document, found once."""
    integers, share, column, first, last = lists.integers, recipe.literal[SHARE], room.column, room.first, room.last
    for x in range(out.size):
        j, start, end = room.where[x], room.token[x], room.token_end[x]
        column[0] = 0.0
        if not room.known[j, ADJACENT_KNOWN]:
            value = 0.0
            for t in range(share.size - 1):
                length, a, b = lists.literals[t, LENGTH], first[t, j], last[t, j]
                if _is_adjacent(integers, length, a, b, first[t + 1, j], last[t + 1, j]):
                    value += share[t] + share[t + 1]
            room.adjacent[j], room.known[j, ADJACENT_KNOWN] = value, True
        column[1] = room.adjacent[j]
        for t in range(share.size - 1 if column[1] > 0.0 else 0):
            length, a = lists.literals[t, LENGTH], find_first(integers, first[t, j], last[t, j], start - ADJACENT)
            b = find_first(integers, a, last[t, j], end + ADJACENT)
            if _is_adjacent(integers, length, a, b, first[t + 1, j], last[t + 1, j]):
                column[0] += share[t] + share[t + 1]
        out[x] += _weigh(recipe.numbers, step[NUMBERS], step[SIZE], column)


@inner_kernel
def _sort_starts(lists: Lists, room: Chosen, used: int, j: int) -> Any:
    """Sort where the mentions of a document begin, unless that was done; how much of `sorted` is used then."""
    if room.known[j, SORTED_KNOWN]:
        return used
    begin, n = lists.start + room.begin[j], room.end[j] - room.begin[j]
    for i in range(n):
        room.sorted[used + i] = lists.integers[begin + i]
    sort_part(room.sorted, used, used + n)
    room.sorted_at[j], room.known[j, SORTED_KNOWN] = used, True
    return used + n


@inner_kernel
def _count_between(integers: I32, begin: int, end: int, low: int, high: int) -> Any:
    """How many of some numbers are in [low, high)."""
    U = np.uintp
    count, least, most = 0, np.int32(low), np.int32(high)
    for i in range(begin, end):
        count += (integers[U(i)] >= least) & (integers[U(i)] < most)
    return count


@inner_kernel
def _add_competition(lists: Lists, recipe: Recipe, step: Any, room: Chosen, out: F64) -> None:
    """Add the columns of competition."""
    integers, column, share, used = lists.integers, room.column, recipe.literal[SHARE], 0
    for x in range(out.size):
        column[0] = column[1] = 0.0
        j, begin, n = room.where[x], lists.start + room.begin[room.where[x]], room.end[room.where[x]]
        n -= room.begin[j]
        for t in range(share.size):
            near, others = np.int64(room.distance[t, x]), 0
            if near < 0:
                continue
            if near > 0:
                token = room.token[x] - near if room.side[t, x] < 0 else room.token_end[x] + near - 1
                low, high = token - near + 1, token + near
                if n <= FEW:
                    others = _count_between(integers, begin, begin + n, low, high)
                else:
                    used = _sort_starts(lists, room, used, j)
                    a = find_first(room.sorted, room.sorted_at[j], room.sorted_at[j] + n, low)
                    others = find_first(room.sorted, a, room.sorted_at[j] + n, high) - a
            if others == 0:
                column[0] += share[t]
            column[1] += share[t] / (1.0 + others)
        out[x] += _weigh(recipe.numbers, step[NUMBERS], step[SIZE], column)


@inner_kernel
def _add_mentions(
    lists: Lists, documents: Documents, number: I32, recipe: Recipe, step: Any, room: Chosen, out: F64
) -> None:
    """Add the columns of `features.mention`; the mentions of an entity in a document lie together."""
    integers, column, starts, slots = lists.integers, room.column, lists.start, lists.slot
    for x in range(out.size):
        j, row, start, end = room.where[x], np.int64(room.taken[0, x]), room.token[x], room.token_end[x]
        own = integers[slots + row] >> 1
        if not room.known[j, CANDIDATES_KNOWN]:
            total = 0
            for i in range(slots + room.begin[j], slots + room.end[j]):
                total += integers[i] & 1  # the last mention of an entity
            room.candidates[j], room.known[j, CANDIDATES_KNOWN] = math.log(max(total, 1)), True
            room.lengths[j] = math.log(max(documents.length[number[j]], 1)) / 7
        first, last = row, row + 1
        while first > room.begin[j] and integers[slots + first - 1] >> 1 == own:
            first -= 1
        while last < room.end[j] and integers[slots + last] >> 1 == own:
            last += 1
        column[0] = math.log1p(start) / 7
        column[1] = min(end - start, 5) / 5
        column[2] = room.lengths[j]
        column[3] = room.candidates[j]
        column[4] = math.log(max(int(last - first), 1))
        column[5] = 1.0 if start == integers[starts + first] else 0.0
        out[x] += _weigh(recipe.numbers, step[NUMBERS], step[SIZE], column)


@inner_kernel
def _add_shares(recipe: Recipe, step: Any, room: Chosen, out: F64) -> None:
    """Add the columns of `features.shares`."""
    column, share, part, first, last = room.column, recipe.literal[SHARE], recipe.literal[PART], room.first, room.last
    for x in range(out.size):
        j = room.where[x]
        for i in range(6):
            column[i] = 0.0
        for t in range(share.size):
            is_left, is_there = room.side[t, x] < 0, last[t, j] > first[t, j]
            add_shares(np.int64(room.distance[t, x]), is_left, is_there, share[t], part[t], column)
        if not recipe.requires:
            column[4], column[5] = 0.5, 1.0
        out[x] += _weigh(recipe.numbers, step[NUMBERS], step[SIZE], column)


@inner_kernel
def _add_windows(lists: Lists, recipe: Recipe, step: Any, room: Chosen, out: F64) -> None:
    """Add the columns of `features.windows`."""
    integers, column, idf = lists.integers, room.column, recipe.literal[WINDOW_IDF]
    for x in range(out.size):
        j, start, end = room.where[x], room.token[x], room.token_end[x]
        for k in range(step[SIZE]):
            width, value = np.int64(recipe.integers[step[INTEGERS] + k]), 0.0
            for t in range(idf.size):
                a, b = room.first[t, j], room.last[t, j]
                if a < b:
                    value += weigh_window(integers, a, b, start - width, end + width, idf[t])
            column[k] = value
        out[x] += _weigh(recipe.numbers, step[NUMBERS], step[SIZE], column)


@inner_kernel
def _add_likelihoods(
    lists: Lists, documents: Documents, number: I32, recipe: Recipe, step: Any, room: Chosen, out: F64
) -> None:
    """Add the columns of `features.positional`."""
    decays, rarity, integers, column = recipe.decays, recipe.literal[RARITY], lists.integers, room.column
    for x in range(out.size):
        j, start, end = room.where[x], room.token[x], room.token_end[x]
        begin_likelihoods(start, end, np.int64(documents.length[number[j]]), decays, room.work)
        for t in range(rarity.size):
            if rarity[t] > 0:
                a, b = room.first[t, j], room.last[t, j]
                add_likelihoods(integers, a, b, start, end, rarity[t], decays, room.work)
        end_likelihoods(decays, room.work, column)
        out[x] += _weigh(recipe.numbers, step[NUMBERS], step[SIZE], column)


@kernel
def score_rows(
    lists: Lists, documents: Documents, number: I32, recipe: Recipe, df: I32, confidence: F64, room: Chosen, out: F64
) -> None:
    """Score the rows that were taken: the sum of all steps in their order."""
    for j in range(number.size):
        for k in range(room.known.shape[1]):
            room.known[j, k] = False
    if recipe.reads_ranks:
        vote(documents, number, recipe, df.size, room)
    _find_distances(lists, recipe, room, out.size)
    for x in range(out.size):
        out[x] = 0.0
    for i in range(recipe.steps.shape[0]):
        step = recipe.steps[i]
        kind = step[KIND]
        if kind == NOPROX:
            _add_documents(documents, number, recipe, step, room, out)
        elif kind == COVERAGE:
            _add_coverage(recipe, step, room, out)
        elif kind == CONFIDENCE:
            for x in range(out.size):
                out[x] += confidence[x] * recipe.numbers[step[NUMBERS]]
        elif kind == ENTITY:
            _weigh_entities(recipe, step, df, room)
            for x in range(out.size):
                out[x] += room.entity[room.owner[x]]
        elif kind == SHARES:
            _add_shares(recipe, step, room, out)
        elif kind == WINDOWS:
            _add_windows(lists, recipe, step, room, out)
        elif kind == POSITIONAL:
            _add_likelihoods(lists, documents, number, recipe, step, room, out)
        elif kind == ADJACENCY:
            _add_adjacent(lists, recipe, step, room, out)
        elif kind == COMPETITION:
            _add_competition(lists, recipe, step, room, out)
        else:
            _add_mentions(lists, documents, number, recipe, step, room, out)
