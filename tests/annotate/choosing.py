"""Whom a span means and how sure that is, as docs/annotating.md says it: a slow program that imports nothing of Fader.

A `Chooser` has entities, the catalog's rows (entity, surface, weight), common words, names of types per entity, and
linked texts (text, [(start, end, entity)]). `confidences(text)` gives for each span of the policy `longest` what every
candidate's confidence would be.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

from annotate import oracle
from annotate.oracle import Token, tokens

LINK = {"several": 0.9, "several common": 0.7, "one": 0.8, "one common": 0.4, "short": 0.6, "digits": 0.3}
WINDOW = 50
ORDER = {"own": 0, "capitals": 1, "any": 2}

Linked = list[tuple[str, list[tuple[int, int, str]]]]


class Row(NamedTuple):
    """A name with what it weighs and how often the linked corpus means its entity by it."""

    entity: int
    name: oracle.Name
    weight: float
    count: int

    @property
    def capitals(self) -> frozenset[int]:
        return frozenset(i for i, t in enumerate(self.name.tokens) if oracle.capital(t.run))

    @property
    def group(self) -> tuple[object, ...]:
        """What names of one group share."""
        runs = tuple(t.run for t in self.name.tokens) if self.name.rule == "own" else ()
        capitals = self.capitals if self.name.rule == "capitals" else frozenset()
        return (tuple(t.folded for t in self.name.tokens), self.name.rule, runs, capitals, self.gaps)

    @property
    def gaps(self) -> tuple[tuple[bool, str], ...]:
        """HARD gaps; none is the empty tuple."""
        return self.name.hard if any(hard for hard, _characters in self.name.hard) else ()


def also_applies(h: Row, g: Row) -> bool:
    """Whether a name of h's group applies wherever those of g's do."""
    if h.group == g.group:
        return True
    if h.name.rule == "own" or (g.gaps and h.gaps != g.gaps):
        return False
    if h.name.rule == "capitals" and oracle.mixed(g.name.tokens):
        return False
    return h.name.rule == "any" or (g.name.rule != "any" and h.capitals <= g.capitals)


class Chooser:
    def __init__(
        self, entities: list[str], catalog: list[tuple[str, str, float]], common: set[str],
        types: dict[str, list[str]], linked: Linked,
    ) -> None:  # fmt: skip
        self.entities, self.common, self.linked = entities, common, linked
        number = {e: i for i, e in enumerate(entities)}
        attested = Counter((text[a:b], e) for text, mentions in linked for a, b, e in mentions)
        names = oracle.prepared([(e, surface) for e, surface, _w in catalog], common)
        more = oracle.prepared([(e, surface) for surface, e in attested], common)
        self.rows = [Row(number[e], n, w, 0) for (e, _s, w), n in zip(catalog, names, strict=True) if n]
        self.rows += [
            Row(number[e], n._replace(rule="own"), 0.0, count)
            for ((_s, e), count), n in zip(attested.items(), more, strict=True)
            if n
        ]
        self.link: dict[tuple[object, ...], float] = {}
        self.profiles: dict[tuple[int, str], float] = {}
        if linked:
            self._learn_links()
        self._learn_words(catalog, types, number)

    def group_at(self, text: str, span: list[Token]) -> list[Row]:
        """The rows of the group that decides, its first entity's row first."""
        rows = [r for r in self.rows if oracle.applies(r.name, text, span)]
        if not rows:
            return []
        firsts = [min(x.entity for x in self.rows if x.group == r.group) for r in rows]

        def place(i: int) -> tuple[int, int, bool, int]:
            wanted = len(rows[i].capitals) if rows[i].name.rule == "capitals" else 0
            return ORDER[rows[i].name.rule], -wanted, bool(rows[i].gaps), firsts[i]

        group = rows[min(range(len(rows)), key=place)].group
        return sorted((r for r in self.rows if r.group == group), key=lambda r: r.entity)

    def priors(self, group: list[Row]) -> dict[int, float]:
        """P(e | name)."""
        head = group[0]
        node = [r for r in self.rows if r.group[0] == head.group[0]]
        value: dict[int, float] = {}
        for r in node:
            if also_applies(r, head):
                value[r.entity] = max(value.get(r.entity, 0.0), r.weight)
        for r in node:
            if r.name.rule == "own" and r.entity in value and (head.name.rule != "own" or r.group == head.group):
                value[r.entity] += r.count
        return {e: v / sum(value.values()) for e, v in value.items()}

    def _learn_links(self) -> None:
        seen, right, prior = Counter[object](), Counter[object](), {}
        for text, mentions in self.linked:
            gold = {(a, b) for a, b, _e in mentions}
            for start, end, group, _i, _j in self.spans(text):
                key = group[0].group
                seen[key] += 1
                right[key] += (start, end) in gold
                prior[key] = LINK[self.kind(group[0])]
        self.link = {key: (right[key] + 2 * prior[key]) / (n + 2) for key, n in seen.items()}  # type: ignore[misc]

    def _learn_words(
        self, catalog: list[tuple[str, str, float]], types: dict[str, list[str]], number: dict[str, int]
    ) -> None:
        groups = [self.priors([r, *(x for x in self.rows if x.group == r.group)]) for r in self.rows]
        shared = {e for candidates in groups if len(candidates) > 1 for e in candidates}
        words: dict[int, set[str]] = {e: set() for e in shared}
        for e in shared:
            texts = types.get(self.entities[e], []) + [s for x, s, _w in catalog if number[x] == e]
            words[e] = {t.folded for text in texts for t in tokens(text)}
        holders = Counter(t for held in words.values() for t in held)
        many = max(1, len(shared))
        for e, held in words.items():
            for t in held:
                self.profiles[e, t] = 2 * math.log((many + 1) / holders[t]) / math.log(many + 1)
        near, looked = Counter[tuple[int, str]](), Counter[int]()
        for text, mentions in self.linked:
            parts = tokens(text)
            for a, b, name in mentions:
                e = number[name]
                if e in shared:
                    looked[e] += 1
                    inside = [i for i, t in enumerate(parts) if t.end > a and t.start < b]
                    first = inside[0] if inside else sum(t.end <= a for t in parts)
                    near.update((e, t) for t in around(parts, first, first + len(inside)))
        total = sum(looked.values())
        share = Counter[str]()
        for (_e, t), c in near.items():
            share[t] += c
        for (e, t), c in near.items():
            p = share[t] / total
            weight = 0.5 * math.log((c + 2 * p) / (looked[e] + 2) / p)
            if c >= 2 and weight > 0:
                self.profiles[e, t] = max(self.profiles.get((e, t), 0.0), weight)

    def kind(self, row: Row) -> str:
        parts = row.name.tokens
        if all(c.isascii() and c.isdigit() for t in parts for c in t.run):
            return "digits"
        if sum(t.end - t.start for t in parts) <= 3:
            return "short"
        common = " common" if all(t.folded in self.common and not oracle.shouts(t.run) for t in parts) else ""
        return ("one" if len(parts) == 1 else "several") + common

    def spans(self, text: str) -> list[tuple[int, int, list[Row], int, int]]:
        """Start, end, deciding group, and which tokens: the longest from the left."""
        parts, found, i = tokens(text), list[tuple[int, int, list[Row], int, int]](), 0
        while i < len(parts):
            for j in range(min(len(parts), i + oracle.MOST), i, -1):
                if group := self.group_at(text, parts[i:j]):
                    found.append((parts[i].start, parts[j - 1].end, group, i, j))
                    i = j - 1
                    break
            i += 1
        return found

    def confidences(self, text: str) -> list[tuple[int, int, dict[str, float]]]:
        parts, out = tokens(text), list[tuple[int, int, dict[str, float]]]()
        for start, end, group, i, j in self.spans(text):
            near = around(parts, i, j)
            scores = {
                e: math.log(p) + sum(self.profiles.get((e, t), 0.0) for t in near)
                if len(self.priors(group)) > 1
                else 0.0
                for e, p in self.priors(group).items()
            }
            total = sum(map(math.exp, scores.values()))
            sure = self.sure(group, text, parts, i, j)
            out.append((start, end, {self.entities[e]: sure * math.exp(s) / total for e, s in scores.items()}))
        return out

    def sure(self, group: list[Row], text: str, parts: list[Token], i: int, j: int) -> float:
        """How often such a span is a mention."""
        head = group[0]
        if head.group in self.link:
            return self.link[head.group]
        kind = self.kind(head)
        value = LINK[kind]
        if kind.endswith("common") and starts_sentence(text, parts, i):
            value *= 0.5
        capitals = frozenset.intersection(*(row.capitals for row in group))
        if any(not oracle.capital(t.run) for k, t in enumerate(parts[i:j]) if k in capitals):
            value *= 0.75
        return value


def around(parts: list[Token], i: int, j: int) -> set[str]:
    """The words within 50 tokens of tokens i to j."""
    return {t.folded for t in parts[max(0, i - WINDOW) : i] + parts[j : j + WINDOW]}


def starts_sentence(text: str, parts: list[Token], i: int) -> bool:
    if i == 0:
        return True
    before = parts[i - 1]
    gap = text[before.end : parts[i].start]
    if any(c in "\n\x0b\x0c\x85\u2028\u2029" for c in gap):
        return True
    abbreviation = before.end - before.start <= 3
    for k, c in enumerate(gap):
        if (c in "!?:…‽。！？" or (c == "." and not abbreviation)) and any(map(oracle.is_space, gap[k:])):
            return True
    return False
