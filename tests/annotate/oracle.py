"""The rules of docs/annotating.md as a slow program on strings, which imports nothing of Fader.

`annotate(names, common, text, policy)` gives spans with the set of entities that could be meant, for catalogs without a
linked corpus. Choosing among them is tested elsewhere.
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
    return c.isspace() or c in "\u200b\u2060\ufeff"


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


class Name(NamedTuple):
    entity: str
    tokens: list[Token]
    gaps: list[str]  # squeezed where hard, else empty
    rule: str


def prepared(catalog: list[tuple[str, str]], common: set[str]) -> list[Name]:
    """Names with their rules."""
    found = []
    for entity, text in catalog:
        parts = tokens(text)
        if 0 < len(parts) <= MOST:
            found.append((entity, text, parts))
    lettered = [(t, p) for _e, t, p in found if not all(c.isascii() and c.isdigit() for k in p for c in k.run)]
    plain = [not any(c.isupper() or c.istitle() for k in p for c in k.run) for _t, p in lettered]
    blind = bool(plain) and sum(plain) / len(plain) >= 0.25
    return [Name(entity, parts, _gaps(text, parts), _rule(parts, common, blind)) for entity, text, parts in found]


def _gaps(text: str, parts: list[Token]) -> list[str]:
    out = []
    for a, b in pairwise(parts):
        gap = text[a.end : b.start]
        out.append("" if gap_kind(gap, a.end - a.start) == "soft" else squeezed(gap))
    return out


def _rule(parts: list[Token], common: set[str], blind: bool) -> str:
    uppers = sum(c.isupper() or c.istitle() for t in parts for c in t.run)
    lowers = any(c.islower() for t in parts for c in t.run)
    if not uppers and blind:
        return "any"
    if sum(t.end - t.start for t in parts) <= 3 or (uppers >= 2 and not lowers):
        return "own"
    if all(t.folded in common for t in parts) and any(capital(t.run) for t in parts):
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
        return all(capital(t.run) for t, n in zip(span, name.tokens, strict=True) if capital(n.run))
    return True


Found = tuple[int, int, frozenset[str]]


def annotate(names: list[Name], text: str, policy: str) -> list[Found]:
    """Spans in characters with the entities of all names that apply."""
    words = tokens(text)
    spans: list[tuple[int, int]] = []
    found: list[Found] = []
    for i in range(len(words)):
        for j in range(min(len(words), i + MOST), i, -1):
            entities = frozenset(n.entity for n in names if applies(n, text, words[i:j]))
            if not entities:
                continue
            if policy == "longest" and any(i < b and a < j for a, b in spans):
                continue
            if policy == "nested" and any(a < i < b < j or i < a < j < b for a, b in spans):
                continue
            spans.append((i, j))
            found.append((words[i].start, words[j - 1].end, entities))
    return found
