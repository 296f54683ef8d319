"""What the spelling of a name says: in which case it matches, its kind, what must stand between its words.

- OWN: a name matches where every token has its own case. Names of at most three characters; names all in capitals (two
  at least); names of which every token is a common word, and one is all in capitals (two at least): "The WHO"; every
  spelling that a linked corpus attests.
- CAPITALS: where each token that starts with a capital in the name does so in the text, and the text is not *mixed*: a
  token all in capitals (two at least) beside small letters, which means something else. Other names of which every
  token is a common word, and which have a capital.
- ANY: in any case. All other names.

A name with a token all in capitals is not of the kind of common words. A name without capitals says nothing of case
where a quarter of the catalog's names are written so: such names are ANY.
Knows nothing of entities.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fader.arrays import BOOL, I32, I64, U8, U64
from fader.corpora.annotate import scan
from fader.corpora.annotate.scan import Runs, Scanner, Tokens, case_code, gap_class
from fader.kernel import inline_kernel, kernel

OWN, CAPITALS, ANY = 0, 1, 2
SHORT = 3
LOWER_SHARE = 0.25
GAP_END = 255  # ends the characters of a gap; no byte of UTF-8

# How often a span that reads like a name is one, by the kind of name, where no linked corpus tells. Round numbers.
SEVERAL, SEVERAL_COMMON, ONE, ONE_COMMON, FEW_CHARACTERS, NO_LETTERS = range(6)
LINK = np.array([0.9, 0.7, 0.8, 0.4, 0.6, 0.3], dtype=np.float32)


class Forms(NamedTuple):
    """Per name. Names of one node and one key are a group; groups are tried by their keys' `order`."""

    rule: U8
    mask: U64  # which tokens start with a capital
    kind: U8
    gaps: U64  # a hash of its HARD gaps, 0 for none
    mixed: U8
    key: U64

    @staticmethod
    def order(key: U64) -> U64:
        """Rule, then many capitals before few, then names without HARD gaps before others."""
        return key >> np.uint64(54)


def find_forms(
    scanner: Scanner, tokens: Tokens, starts: I64, term: I32, common: U8, usable: BOOL, attested: BOOL
) -> Forms:
    """Find the forms of names, whose tokens are `starts[i]:starts[i+1]`; `common` says which terms are common words."""
    rule, kind, mixed, plain = (np.zeros(usable.size, dtype=np.uint8) for _ in range(4))
    mask, gaps, key = (np.zeros(usable.size, dtype=np.uint64) for _ in range(3))
    forms = Forms(rule, mask, kind, gaps, mixed, key)
    _look(tokens, scanner.runs, starts, term, common, usable, forms, plain, scan.GAP_CLASSES)
    named = ~attested & (forms.kind != NO_LETTERS) & usable
    if named.any() and plain[named].mean() >= LOWER_SHARE:
        forms.rule[(plain == 1) & ~attested] = ANY
    forms.rule[attested] = OWN
    _fill_keys(tokens, scanner.runs, starts, forms)
    return forms


def collect_cases(scanner: Scanner, tokens: Tokens, starts: I64, heads: I64, rule: U8) -> tuple[I64, U64]:
    """Where the case codes of each OWN name among `heads` are (-1: it is none), and the codes."""
    own = rule == OWN
    lengths = np.where(own, starts[heads + 1] - starts[heads], 0)
    at = np.where(own, np.cumsum(lengths) - lengths, -1)
    codes = np.zeros(int(lengths.sum()), dtype=np.uint64)
    _fill_cases(tokens, scanner.runs, starts, heads, at, codes)
    return at, codes


def collect_gaps(tokens: Tokens, starts: I64, heads: I64, gaps: U64) -> tuple[I64, U8]:
    """Where the characters of the HARD gaps of each name among `heads` are (-1: it has none), and the characters."""
    at = np.full(heads.size, -1, dtype=np.int64)
    some = heads[gaps != 0]
    last = starts[some + 1] - 1
    spans = tokens.at[last] - tokens.at[starts[some]] + (last - starts[some])  # bytes, and an end for each gap
    out = np.zeros(int(spans.sum()), dtype=np.uint8)
    used = _fill_gaps(tokens, starts, heads, gaps, scan.GAP_CLASSES, at, out)
    return at, out[:used].copy()


@kernel
def _look(
    tokens: Tokens, runs: Runs, starts: I64, term: I32, common: U8, usable: BOOL, forms: Forms, plain: U8, classes: U8
) -> None:
    """Fill the forms of names, and in `plain` whether a name has no capital."""
    at, size, gap = tokens.at, tokens.size, tokens.gap
    for i in range(starts.size - 1):
        if not usable[i]:
            continue
        a, b = starts[i], starts[i + 1]
        uppers, lowers, characters, capitals, hard = 0, 0, 0, np.uint64(0), np.uint64(0)
        all_common, ascii_only, shouts = True, True, False
        for t in range(a, b):
            characters += tokens.last[t] - tokens.first[t]
            all_common = all_common and common[term[t]] != 0
            ascii_only = ascii_only and size[t] > 0
            if gap[t] & scan.CAPITALISED:
                capitals |= np.uint64(1) << np.uint64(t - a)
            more_uppers, more_lowers = count_cases(tokens, runs, t)
            uppers += more_uppers
            lowers += more_lowers
            shouts = shouts or (more_uppers > 1 and more_lowers == 0)
            if t > a and (gap[t] & scan.KINDS) != 0:
                hard ^= np.uint64(t - a + 1)
                hard = _hash_gap(tokens.buf, at[t - 1] + abs(size[t - 1]), at[t], classes, hard)
        forms.mask[i] = capitals
        forms.gaps[i] = hard
        plain[i] = 1 if uppers == 0 else 0
        forms.mixed[i] = 1 if shouts and lowers > 0 else 0
        if uppers + lowers == 0 and ascii_only:
            forms.kind[i] = NO_LETTERS
        elif characters <= SHORT:
            forms.kind[i] = FEW_CHARACTERS
        elif b - a == 1:
            forms.kind[i] = ONE_COMMON if all_common and not shouts else ONE
        else:
            forms.kind[i] = SEVERAL_COMMON if all_common and not shouts else SEVERAL
        if characters <= SHORT or (uppers >= 2 and lowers == 0) or (all_common and shouts):
            forms.rule[i] = OWN
        elif all_common and capitals != 0:
            forms.rule[i] = CAPITALS
        else:
            forms.rule[i] = ANY


@inline_kernel
def count_cases(tokens: Tokens, runs: Runs, t: int) -> Any:
    """Count the capitals and small letters of a token: none, one, or more."""
    uppers, lowers = 0, 0
    if tokens.size[t] < 0:
        flags = runs.flags[tokens.raw[t]]
        uppers += 1 if flags & scan.UPPER else 0
        uppers += 1 if flags & scan.UPPERS else 0
        lowers += 1 if flags & scan.LOWER else 0
    else:
        for j in range(tokens.size[t]):
            c = tokens.buf[tokens.at[t] + j]
            uppers += 1 if 65 <= c <= 90 else 0
            lowers += 1 if 97 <= c <= 122 else 0
    return uppers, lowers


@inline_kernel
def _hash_gap(buf: U8, i: int, b: int, classes: U8, h: np.uint64) -> Any:
    """A hash of the characters of a gap, spaces aside; never 0."""
    h = (h ^ np.uint64(0xCBF29CE484222325)) * np.uint64(0x100000001B3)
    while i < b:
        c, width = gap_class(buf, i, classes)
        if c not in (scan.SPACE, scan.LINE):
            for j in range(width):
                h = (h ^ np.uint64(buf[i + j])) * np.uint64(0x100000001B3)
        i += width
    return h | np.uint64(1)


@kernel
def _fill_keys(tokens: Tokens, runs: Runs, starts: I64, forms: Forms) -> None:
    """Fill the keys: what `Forms.order` gives, in ten bits, and a hash of the rest."""
    rule, mask = forms.rule, forms.mask
    for i in range(starts.size - 1):
        h = forms.gaps[i]
        wanted = 0
        if rule[i] == CAPITALS:
            h = (h ^ mask[i]) * np.uint64(0x9E3779B97F4A7C15)
            for j in range(64):
                wanted += 1 if (mask[i] >> np.uint64(j)) & np.uint64(1) else 0
        if rule[i] == OWN:
            for t in range(starts[i], starts[i + 1]):
                h = (h ^ case_code(tokens, runs, t)) * np.uint64(0x9E3779B97F4A7C15)
                h ^= h >> np.uint64(29)
        h *= np.uint64(0x9E3779B97F4A7C15)
        top = (np.uint64(rule[i]) << np.uint64(62)) | (np.uint64(64 - wanted) << np.uint64(55))
        top |= np.uint64(1 if forms.gaps[i] != 0 else 0) << np.uint64(54)
        forms.key[i] = top | (h >> np.uint64(10))


@kernel
def _fill_cases(tokens: Tokens, runs: Runs, starts: I64, heads: I64, case_at: I64, codes: U64) -> None:
    for g in range(heads.size):
        if case_at[g] >= 0:
            a = starts[heads[g]]
            for t in range(a, starts[heads[g] + 1]):
                codes[case_at[g] + t - a] = case_code(tokens, runs, t)


@kernel
def _fill_gaps(tokens: Tokens, starts: I64, heads: I64, gaps: U64, classes: U8, gaps_at: I64, out: U8) -> int:
    """Fill the characters of each gap, spaces aside and nothing where it is SOFT, each ended by GAP_END."""
    buf, at, size, gap = tokens.buf, tokens.at, tokens.size, tokens.gap
    n = 0
    for g in range(heads.size):
        if gaps[g] == 0:
            continue
        gaps_at[g] = n
        for t in range(starts[heads[g]] + 1, starts[heads[g] + 1]):
            if (gap[t] & scan.KINDS) != 0:
                i, b = at[t - 1] + abs(size[t - 1]), at[t]
                while i < b:
                    c, width = gap_class(buf, i, classes)
                    if c not in (scan.SPACE, scan.LINE):
                        for j in range(width):
                            out[n] = buf[i + j]
                            n += 1
                    i += width
            out[n] = GAP_END
            n += 1
    return n
