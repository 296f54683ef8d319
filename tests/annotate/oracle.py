"""The rules of docs/annotating.md as a slow program on strings, which imports nothing of Fader.

`annotate(names, common, text, policy)` gives spans with the set of entities that could be meant, for catalogs without a
linked corpus. choosing.py has which of them is meant.
"""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import NamedTuple

MOST = 64


class Token(NamedTuple):
    start: int
    end: int
    run: str  # NFC
    folded: str


def tokens(text: str) -> list[Token]:
    found, start = [], None
    for i, c in enumerate(text + "\n"):
        inside = i < len(text) and unicodedata.category(c)[0] in "LMN"
        if inside and start is None:
            start = i
        if not inside and start is not None:
            run = unicodedata.normalize("NFC", text[start:i])
            found.append(Token(start, i, run, unicodedata.normalize("NFC", run.casefold())))
            start = None
    return found


def is_space(c: str) -> bool:
    """Spaces, line ends, and what is not seen but soft hyphens, tags and marks of other scripts."""
    return c.isspace() or (unicodedata.category(c) == "Cf" and (c in "\u061c\ufeff" or "\u2000" <= c <= "\u22ff"))


def gap_kind(gap: str, before: int) -> str:
    """soft, hard or break; `before` is how many characters the token before the gap has."""
    if sum(c in "\n\x0b\x0c\x85\u2028\u2029" for c in gap) > 1:
        return "break"
    if all(map(is_space, gap)):
        return "break" if len(gap) > 8 else "soft"
    if len(gap) > 8:
        return "hard"
    for i, c in enumerate(gap):
        if is_space(c) or c in "-'`_/&+\xad\xb7\u2010\u2011\u2012\u2013\u2018\u2019\u2212":
            continue
        if c == "." and (before <= 3 or i == len(gap) - 1):
            continue
        return "hard"
    return "soft"


def squeezed(gap: str) -> str:
    return "".join(c for c in gap if not is_space(c))


def capital(run: str) -> bool:
    return run[0].isupper() or run[0].istitle()


def shouts(run: str) -> bool:
    """All in capitals, two at least."""
    return sum(c.isupper() or c.istitle() for c in run) > 1 and not any(map(str.islower, run))


def mixed(parts: list[Token]) -> bool:
    """One word is all in capitals, another has a small letter."""
    return any(shouts(t.run) for t in parts) and any(c.islower() for t in parts for c in t.run)


class Name(NamedTuple):
    entity: str
    tokens: list[Token]
    gaps: list[str]  # squeezed where hard, else empty
    rule: str
    hard: tuple[tuple[bool, str], ...]  # per gap whether it is hard, and its characters then


def prepared(catalog: list[tuple[str, str]], common: set[str]) -> list[Name | None]:
    """Names with their rules; None for one that cannot be used."""
    every = [tokens(text) for _entity, text in catalog]
    usable = [parts for parts in every if 0 < len(parts) <= MOST]
    lettered = [p for p in usable if not all(c.isascii() and c.isdigit() for t in p for c in t.run)]
    plain = [not any(c.isupper() or c.istitle() for t in p for c in t.run) for p in lettered]
    blind = bool(plain) and sum(plain) / len(plain) >= 0.25
    out: list[Name | None] = []
    for (entity, text), parts in zip(catalog, every, strict=True):
        if 0 < len(parts) <= MOST:
            hard = tuple(_gaps(text, parts))
            out.append(Name(entity, parts, [gap for _hard, gap in hard], _rule(parts, common, blind), hard))
        else:
            out.append(None)
    return out


def _gaps(text: str, parts: list[Token]) -> list[tuple[bool, str]]:
    out = []
    for a, b in pairwise(parts):
        gap = text[a.end : b.start]
        hard = gap_kind(gap, a.end - a.start) != "soft"
        out.append((hard, squeezed(gap) if hard else ""))
    return out


def _rule(parts: list[Token], common: set[str], blind: bool) -> str:
    uppers = sum(c.isupper() or c.istitle() for t in parts for c in t.run)
    lowers = any(c.islower() for t in parts for c in t.run)
    if not uppers and blind:
        return "any"
    if sum(t.end - t.start for t in parts) <= 3 or (uppers >= 2 and not lowers):
        return "own"
    all_common = all(t.folded in common for t in parts)
    if all_common and any(shouts(t.run) for t in parts):
        return "own"
    if all_common and any(capital(t.run) for t in parts):
        return "capitals"
    return "any"


def applies(name: Name, text: str, span: list[Token]) -> bool:
    if [t.folded for t in name.tokens] != [t.folded for t in span]:
        return False
    for a, b, own in zip(span, span[1:], name.gaps, strict=False):
        gap = text[a.end : b.start]
        kind = gap_kind(gap, a.end - a.start)
        if kind == "break" or (kind == "hard" and squeezed(gap) != own):
            return False
    if name.rule == "own":
        return all(t.run == n.run for t, n in zip(span, name.tokens, strict=True))
    if name.rule == "capitals":
        has = all(capital(t.run) for t, n in zip(span, name.tokens, strict=True) if capital(n.run))
        return has and not mixed(span)
    return True


Found = tuple[int, int, frozenset[str]]


def annotate(names: list[Name | None], text: str, policy: str) -> list[Found]:
    """Spans in characters with the entities of all names that apply."""
    words = tokens(text)
    spans: list[tuple[int, int]] = []
    found: list[Found] = []
    for i in range(len(words)):
        for j in range(min(len(words), i + MOST), i, -1):
            entities = frozenset(n.entity for n in names if n and applies(n, text, words[i:j]))
            if not entities:
                continue
            if policy == "longest" and any(i < b and a < j for a, b in spans):
                continue
            if policy == "nested" and any(a < i < b < j or i < a < j < b for a, b in spans):
                continue
            spans.append((i, j))
            found.append((words[i].start, words[j - 1].end, entities))
    return found
