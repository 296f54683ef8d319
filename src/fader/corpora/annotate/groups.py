"""Names that end at one node of the trie, in groups of one form, with whom each group can mean.

Groups of a node are tried in the order of `spelling.Forms.order`, equal ones as their first entities stand in the
catalog, then as their first names do, aliases before the name. A group holds its candidates: the entities of all
names that apply wherever the group does, with their priors

    P(e | name) = (n(e) + w(e)) / sum

n(e) being how often the linked corpus means e by it (0 without one), w(e) = 1 for an entity's name and 1/2 for its
other names. Candidates are ordered by prior, then by the catalog; 64 are kept, and 64 groups of a node: those that
apply most widely, then the first in the catalog. Knows nothing of characters.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fader.arrays import BOOL, F32, F64, I32, I64, U64
from fader.corpora.annotate.spelling import ANY, CAPITALS, OWN, Forms
from fader.kernel import inline_kernel, kernel

MOST_GROUPS = 64
MOST_CANDIDATES = 64


class Groups(NamedTuple):
    """The groups of node v are `of_node[v]:of_node[v+1]`; the names of group g are `names[bounds[g]:bounds[g+1]]`."""

    of_node: I64
    bounds: I64
    names: I64
    dropped: int  # groups beyond the most

    @property
    def heads(self) -> I64:
        """A name of each group."""
        return self.names[self.bounds[:-1]]

    def common_capitals(self, mask: U64) -> U64:
        """Per group which tokens start with a capital in all of its names."""
        common: U64 = np.bitwise_and.reduceat(mask[self.names], self.bounds[:-1]) if self.names.size else mask[:0]
        return common


class Meanings(NamedTuple):
    """Per name the entity that it is one of, w of it, and how often the linked corpus means the entity by it."""

    owners: I32
    weights: F32
    counts: I64


class Candidates(NamedTuple):
    """The candidates of group g are `starts[g]:starts[g+1]`: their entities, and the logarithms of their priors."""

    starts: I64
    entity: I32
    prior: F32


class Sums(NamedTuple):
    """Scratch: per entity n(e) + w(e), good where `stamp` is the group's number + 1; the entities of the group."""

    value: F64
    stamp: I64
    found: I32


def make_groups(forms: Forms, node: I32, nodes: int, owners: I32, usable: BOOL) -> Groups:
    """Sort the names that are usable into groups."""
    names = np.flatnonzero(usable)
    names = names[np.lexsort((owners[names], forms.key[names], node[names]))]
    key, at = forms.key[names], node[names]
    opens = np.ones(names.size, dtype=np.bool_)
    opens[1:] = (key[1:] != key[:-1]) | (at[1:] != at[:-1])
    heads = names[opens]
    rank = _rank_groups(node[heads], Forms.order(forms.key[heads]), owners[heads], heads)
    rank_of_name = rank[np.cumsum(opens) - 1]
    order = np.argsort(rank_of_name, kind="stable")[int((rank_of_name < 0).sum()) :]  # without those dropped
    names, rank_of_name = names[order], rank_of_name[order]
    kept = int((rank >= 0).sum())
    bounds = np.searchsorted(rank_of_name, np.arange(kept + 1)).astype(np.int64)
    of_node = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(node[names[bounds[:-1]]], minlength=nodes), out=of_node[1:])
    return Groups(of_node, bounds, names, rank.size - kept)


def _rank_groups(node: I32, order: U64, owner: I32, name: I64) -> I64:
    """The place of each group among all, by node, order, entity and name; -1 for those beyond the most of a node."""
    widest = np.lexsort((name, owner, ~order, node))
    of_widest = node[widest]
    dropped = np.arange(widest.size) - np.searchsorted(of_widest, of_widest) >= MOST_GROUPS
    rank = np.full(node.size, -1, dtype=np.int64)
    tried = np.lexsort((name, owner, order, node))
    tried = tried[~np.isin(tried, widest[dropped])] if dropped.any() else tried
    rank[tried] = np.arange(tried.size)
    return rank


def find_capitals(groups: Groups, forms: Forms) -> BOOL:
    """Per node whether every name that ends there needs its first token to start with a capital."""
    heads = groups.heads
    wanted = (forms.rule[heads] != ANY) & (forms.mask[heads] & np.uint64(1) != 0)
    before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(wanted)])
    needed: BOOL = np.diff(before[groups.of_node]) == np.diff(groups.of_node)
    return needed


def find_candidates(
    groups: Groups, forms: Forms, owners: I32, weights: F32, counts: I64, entities: int
) -> tuple[Candidates, int]:
    """Find the candidates of each group; and how many were dropped."""
    heads = groups.heads
    per_node = np.diff(groups.of_node)
    names_of_node = groups.bounds[groups.of_node[1:]] - groups.bounds[groups.of_node[:-1]]
    room = int((per_node * np.minimum(names_of_node, MOST_CANDIDATES)).sum())
    entity, prior = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.float32)
    ends = np.zeros(heads.size + 1, dtype=np.int64)
    value, stamp = np.zeros(entities, dtype=np.float64), np.zeros(entities, dtype=np.int64)
    found = np.empty(int(names_of_node.max(initial=0)), dtype=np.int32)
    of_heads = Forms._make(column[heads] for column in forms)
    out = Candidates(ends, entity, prior)
    used, dropped = _join(groups, of_heads, Meanings(owners, weights, counts), Sums(value, stamp, found), out)
    return Candidates(ends, entity[:used].copy(), prior[:used].copy()), int(dropped)


@inline_kernel
def _also_applies(forms: Forms, h: int, g: int) -> Any:
    """Whether names of group h apply wherever those of g, of the same node, do."""
    rule, mask, gaps = forms.rule, forms.mask, forms.gaps
    if h == g:
        return True
    if rule[h] == OWN or (gaps[g] != 0 and gaps[h] != gaps[g]):
        return False
    if rule[h] == CAPITALS and forms.mixed[g] != 0:
        return False
    return rule[h] == ANY or (rule[g] != ANY and (mask[h] & ~mask[g]) == np.uint64(0))


@kernel
def _add_up(g0: int, g1: int, g: int, groups: Groups, forms: Forms, meanings: Meanings, sums: Sums) -> int:
    """Find n(e) + w(e) of group g's entities; return how many they are."""
    rule, bounds, names, owners = forms.rule, groups.bounds, groups.names, meanings.owners
    value, stamp = sums.value, sums.stamp
    n = 0
    for h in range(g0, g1):
        if not _also_applies(forms, h, g):
            continue
        for r in range(bounds[h], bounds[h + 1]):
            e = owners[names[r]]
            if stamp[e] != g + 1:
                stamp[e] = g + 1
                value[e] = 0.0
                sums.found[n] = e
                n += 1
            value[e] = max(value[e], np.float64(meanings.weights[names[r]]))
    for h in range(g0, g1):
        # what other spellings are used for counts where no spelling applies of its own
        if rule[h] == OWN and (h == g or rule[g] != OWN):
            for r in range(bounds[h], bounds[h + 1]):
                if stamp[owners[names[r]]] == g + 1:
                    value[owners[names[r]]] += meanings.counts[names[r]]
    return n


@kernel
def _join(groups: Groups, forms: Forms, meanings: Meanings, sums: Sums, out: Candidates) -> Any:
    """Fill the candidates; return how many there are, and how many were dropped."""
    of_node, value = groups.of_node, sums.value
    used, dropped = 0, 0
    for v in range(of_node.size - 1):
        for g in range(of_node[v], of_node[v + 1]):
            n = _add_up(of_node[v], of_node[v + 1], g, groups, forms, meanings, sums)
            best = sums.found[:n]
            if n > 1:
                best = np.sort(best)
                worth = np.empty(n)
                for k in range(n):
                    worth[k] = -value[best[k]]
                best = best[np.argsort(worth, kind="mergesort")]
            kept = min(n, MOST_CANDIDATES)
            dropped += n - kept
            total = 0.0
            for k in range(kept):
                total += value[best[k]]
            for k in range(kept):
                out.entity[used + k] = best[k]
                out.prior[used + k] = np.float32(np.log(value[best[k]] / total))
            used += kept
            out.starts[g + 1] = used
    return used, dropped
