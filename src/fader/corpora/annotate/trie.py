"""A trie over term numbers in flat arrays: which names begin with a term, and which terms a name goes on with.

The node of a name's first term is `root[term]`. All other nodes are children: `edges` is a table with open addressing
of (node, term) to child, and `edge_filter` a bit for each edge's hash: most look-ups end there, in a small array. A
node's number stands above its marks: DEEP where names go on from it, NAMED where a name ends at it, and for a first
term CAPITAL where all that end there need a capital: most words "the" and "in" are passed by at a glance. Node 0
is nobody's, so that 0 says "none". Knows nothing of spellings.

Why no library: pyahocorasick finds names by characters at 3.7 MB a second in 771 MB of memory, which processes cannot
share (docs/annotating.md has the table); these arrays are mapped, and whole tokens are compared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fader.arrays import BOOL, I32, I64, U8, U64
from fader.kernel import inline_kernel, kernel

DEEP, NAMED, CAPITAL, MARKS = 1, 2, 4, 3  # the marks; how many bits they take


class Trie(NamedTuple):
    """See the head of the file; `node` has per name the node where it ends, without marks, -1 for none."""

    root: I32
    edges: U64
    edge_filter: U64
    node: I32
    nodes: int


def make_trie(term: I32, starts: I64, usable: BOOL, terms: int) -> Trie:
    """The trie of names; the terms of name i are `term[starts[i]:starts[i+1]]`."""
    most = int(np.where(usable, np.diff(starts) - 1, 0).sum())
    edges = np.zeros((_power_above(most + most // 2), 2), dtype=np.uint64)
    root = np.zeros(terms, dtype=np.int32)
    node = np.full(usable.size, -1, dtype=np.int32)
    marks = np.zeros(most + terms + 1, dtype=np.uint8)
    nodes, used = _insert(term, starts, usable, root, edges, node, marks)
    marks[node[node >= 0]] |= NAMED
    root[root > 0] = root[root > 0] << MARKS | marks[root[root > 0]]
    final = np.zeros((_power_above(used + used // 2), 2), dtype=np.uint64)  # names share beginnings: fewer than thought
    edge_filter = np.zeros(_power_above(used // 16), dtype=np.uint64)  # 4 to 8 bits an edge
    _finish(edges, marks, final, edge_filter)
    return Trie(root, final, edge_filter, node, nodes)


def mark_capitals(root: I32, needed: BOOL) -> None:
    """Set the mark CAPITAL of first terms; `needed` says per node whether all names that end there need one."""
    root[(root & NAMED != 0) & needed[root >> MARKS]] |= CAPITAL


def _power_above(size: int) -> int:
    """The power of two above a size, 16 at least."""
    return 1 << max(4, size.bit_length())


@inline_kernel
def edge_key(node: int, term: int) -> Any:
    """A node without its marks, and a term, as one number."""
    return (np.uint64(node) << np.uint64(32)) | np.uint64(term & 0xFFFFFFFF)


@kernel
def edge_hash(key: np.uint64) -> Any:
    """A hash of a node and a term."""
    h = key * np.uint64(0x9E3779B97F4A7C15)
    h ^= h >> np.uint64(29)
    h *= np.uint64(0xBF58476D1CE4E5B9)
    return h ^ (h >> np.uint64(32))


@inline_kernel
def may_go_on(key: np.uint64, edge_filter: U64) -> Any:
    """1 where there may be an edge, 0 where there is none."""
    bit = (edge_hash(key) >> np.uint64(20)) & np.uint64(64 * edge_filter.size - 1)
    return (edge_filter[bit >> np.uint64(6)] >> (bit & np.uint64(63))) & np.uint64(1)


@inline_kernel
def slot_of(key: np.uint64, edges: U64) -> Any:
    """The slot that holds an edge, or that is free for it: `edges[slot, 1]` is then 0."""
    mask = np.uint64(edges.shape[0] - 1)
    slot = edge_hash(key) & mask
    while edges[slot, 1] != 0 and edges[slot, 0] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def _insert(term: I32, starts: I64, usable: BOOL, root: I32, edges: U64, node: I32, marks: U8) -> Any:
    """Enter every name; returns the counts of nodes and edges."""
    nodes, used = 1, 0
    for i in range(starts.size - 1):
        if not usable[i]:
            continue
        a, b = starts[i], starts[i + 1]
        if root[term[a]] == 0:
            root[term[a]] = nodes
            nodes += 1
        here = np.int64(root[term[a]])
        for t in range(a + 1, b):
            marks[here] = DEEP
            key = edge_key(here, np.int64(term[t]))
            slot = slot_of(key, edges)
            if edges[slot, 1] == 0:
                edges[slot, 0] = key
                edges[slot, 1] = nodes
                nodes += 1
                used += 1
            here = np.int64(edges[slot, 1])
        node[i] = here
    return nodes, used


@kernel
def _finish(old: U64, marks: U8, edges: U64, edge_filter: U64) -> None:
    """Edges in a table of the right size, children with their marks, and the filter."""
    bits = np.uint64(64 * edge_filter.size - 1)
    for i in range(old.shape[0]):
        if old[i, 1] != 0:
            slot = slot_of(old[i, 0], edges)
            edges[slot, 0] = old[i, 0]
            edges[slot, 1] = (old[i, 1] << np.uint64(MARKS)) | np.uint64(marks[old[i, 1]])
            bit = (edge_hash(old[i, 0]) >> np.uint64(20)) & bits
            edge_filter[bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))
