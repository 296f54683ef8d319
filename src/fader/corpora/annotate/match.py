"""Finds the names of a dictionary in the tokens of texts: every span, or those that an overlap policy keeps.

At each token the trie is walked as far as it goes; a node's first group that applies decides (see dictionary.py,
spelling.py). Then,
from the left to the right and at one token the longest first, a span is kept by the policy:

- longest: it does not overlap one that is kept already;
- nested: it does not cross one that is kept already, so that a span inside another is kept too;
- all: always.

Knows nothing of which entity is meant.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fader.arrays import I32, I64, U8, U64
from fader.corpora.annotate import scan
from fader.corpora.annotate.dictionary import MOST_TOKENS, Dictionary
from fader.corpora.annotate.scan import Runs, Scanner, Tokens, case_code, gap_class
from fader.corpora.annotate.spelling import CAPITALS, GAP_END, OWN, count_cases
from fader.corpora.annotate.trie import CAPITAL, DEEP, MARKS, NAMED, edge_key, may_go_on, slot_of
from fader.errors import UsageError, did_you_mean, quote
from fader.kernel import inline_kernel, kernel

LONGEST, NESTED, ALL = 0, 1, 2
POLICIES = {"longest": LONGEST, "nested": NESTED, "all": ALL}


def policy_number(name: str) -> int:
    """The number of an overlap policy."""
    if name not in POLICIES:
        hint = did_you_mean(name, POLICIES) or f"; known: {', '.join(POLICIES)}"
        raise UsageError(f"there is no overlap policy {quote(name)}{hint}")
    return POLICIES[name]


class Matches(NamedTuple):
    """Spans of tokens that are names, in the order of texts; `ends` has per text the end of its spans."""

    token: I32
    length: I32
    group: I32
    ends: I64


class Matcher:
    """A dictionary and a scanner; not for several threads at once."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.scanner = Scanner()
        self._vocabulary = self.scanner.vocabulary
        self._term_of_run = np.zeros(0, dtype=np.int32)
        self._room = 1 << 12

    def scan(self, encoded: list[bytes]) -> tuple[Tokens, I32]:
        """The tokens of texts, and their terms' numbers in the dictionary (-1: none)."""
        tokens = self.scanner.scan(encoded)
        if self.scanner.vocabulary is not self._vocabulary:
            self._vocabulary, self._term_of_run = self.scanner.vocabulary, self._term_of_run[:0]
        new = self.dictionary.terms.numbers(self.scanner.take_new())
        if new.size:
            self._term_of_run = np.concatenate([self._term_of_run, new])
        return tokens, self._term_of_run[tokens.raw]

    def match(self, tokens: Tokens, term: I32, policy: int = LONGEST) -> Matches:
        """The spans of a batch."""
        d = self.dictionary
        ends, look = np.zeros(tokens.ends.size, dtype=np.int64), np.empty(term.size, dtype=np.uint8)
        _find_beginnings(term, tokens.gap, d.term_root, d.edge_filter, look)
        while True:
            token, length, group = (np.empty(self._room, dtype=np.int32) for _ in range(3))
            out = Matches(token, length, group, ends)
            count = _match(tokens, self.scanner.runs, scan.GAP_CLASSES, term, look, d, policy, out)
            if count <= self._room:
                return Matches(token[:count], length[:count], group[:count], ends)
            self._room = count + count // 4


@inline_kernel
def _fits(tokens: Tokens, runs: Runs, classes: U8, names: Dictionary, t: int, length: int, hard: bool, g: int) -> Any:
    """Whether the tokens from t on have an OWN group's case, and in their HARD gaps what the group has."""
    buf, at, size, gap, gap_bytes = tokens.buf, tokens.at, tokens.size, tokens.gap, names.gap_bytes
    fits = True
    if names.group_rule[g] == OWN:
        for j in range(length):
            if case_code(tokens, runs, t + j) != names.case_codes[names.group_case[g] + j]:
                fits = False
                break
    if fits and hard:
        place = names.group_gaps[g]
        fits = place >= 0
        j = 1
        while fits and j < length:
            if (gap[t + j] & scan.KINDS) == scan.HARD:
                i, b = at[t + j - 1] + abs(size[t + j - 1]), at[t + j]
                while i < b and fits:
                    c, width = gap_class(buf, i, classes)
                    if c not in (scan.SPACE, scan.LINE):
                        for k in range(width):
                            if gap_bytes[place] != buf[i + k]:
                                fits = False
                                break
                            place += 1
                    i += width
                fits = fits and gap_bytes[place] == GAP_END
            if fits:
                while gap_bytes[place] != GAP_END:
                    place += 1
                place += 1
            j += 1
    return fits


@inline_kernel
def _is_mixed(tokens: Tokens, runs: Runs, t: int, length: int) -> Any:
    """Whether of the tokens from t on one is all in capitals, two at least, and another has a small letter."""
    shouts, small = False, False
    for j in range(length):
        uppers, lowers = count_cases(tokens, runs, t + j)
        shouts = shouts or (uppers > 1 and lowers == 0)
        small = small or lowers > 0
    return shouts and small


@kernel
def _find_beginnings(term: I32, gap: U8, root: I32, edge_filter: U64, look: U8) -> None:
    """Find per token whether a name may begin there: the marks of its node, NAMED only where it has the capital that is
    needed, DEEP only where the next token may go on.

    A loop of its own, without branches, because its waits for memory overlap.
    """
    last = term.size - 1
    for t in range(term.size):
        state = np.int64(root[term[t]]) if term[t] >= 0 else 0
        following = np.int64(term[min(t + 1, last)])
        key = edge_key(state >> MARKS, following)
        more = np.int64(may_go_on(key, edge_filter)) & (state & DEEP)
        small = np.int64(gap[t] & scan.CAPITALISED == 0) & np.int64(state & CAPITAL != 0)
        look[t] = (state & NAMED & (small - 1)) | more


@kernel
def _match(
    tokens: Tokens, runs: Runs, classes: U8, term: I32, look: U8, names: Dictionary, policy: int, out: Matches
) -> int:
    """Fill the spans that there is room for; return how many there are."""
    gap, edges, edge_filter, rule, mask = tokens.gap, names.edges, names.edge_filter, names.group_rule, names.group_mask
    node_groups = names.node_groups
    nodes = np.empty(MOST_TOKENS + 1, dtype=np.int64)  # with their marks
    hard = np.empty(MOST_TOKENS + 1, dtype=np.bool_)
    stack = np.empty(2 * MOST_TOKENS + 2, dtype=np.int64)  # ends of kept spans around the token, the innermost on top
    n, t = 0, 0
    for d in range(tokens.ends.size):
        end = tokens.ends[d]
        height = 0
        while t < end:
            if look[t] == 0:
                t += 1
                continue
            state = np.int64(names.term_root[term[t]])
            nodes[1] = state
            hard[1] = False
            length = 1
            goes_on = look[t] & DEEP
            while goes_on and t + length < end and length < MOST_TOKENS:
                u = t + length
                kind = gap[u] & scan.KINDS
                if term[u] < 0 or kind == scan.BREAK:
                    break
                key = edge_key(state >> MARKS, np.int64(term[u]))
                if length > 1 and may_go_on(key, edge_filter) == 0:
                    break
                state = np.int64(edges[slot_of(key, edges), 1])
                if state == 0:
                    break
                goes_on = state & DEEP
                length += 1
                nodes[length] = state
                hard[length] = hard[length - 1] or kind == scan.HARD
            step, taken = 1, False
            while length > 0 and not taken:
                found = -1
                v = nodes[length] >> MARKS
                for g in range(node_groups[v], node_groups[v + 1] if nodes[length] & NAMED else 0):
                    fits = True
                    if rule[g] == CAPITALS:
                        for j in range(length):
                            wanted = (mask[g] >> np.uint64(j)) & np.uint64(1)
                            if wanted != np.uint64(0) and not gap[t + j] & scan.CAPITALISED:
                                fits = False
                                break
                        fits = fits and not (length > 1 and _is_mixed(tokens, runs, t, length))
                    if fits and (rule[g] == OWN or hard[length]):
                        fits = _fits(tokens, runs, classes, names, t, length, hard[length], g)
                    if fits:
                        found = g
                        break
                kept = found >= 0
                if kept and policy == NESTED:
                    while height > 0 and stack[height - 1] <= t:
                        height -= 1
                    kept = height == 0 or stack[height - 1] >= t + length
                    if kept:
                        stack[height] = t + length
                        height += 1
                if kept:
                    if n < out.token.size:
                        out.token[n] = t
                        out.length[n] = length
                        out.group[n] = found
                    n += 1
                    if policy == LONGEST:
                        step, taken = length, True
                length -= 1
            t += step
        out.ends[d] = n
    return n
