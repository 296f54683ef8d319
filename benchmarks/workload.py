"""Queries with a wanted number of contexts, found by counting contexts on the dataset's arrays.

A try draws the share of documents that shall match, then two to four literals whose frequencies add up to it,
then a type among those that give the wanted number of contexts with these documents. Literals are content
words (in at most 40% of the documents); some queries hold a two-word phrase, some a required word, a few a
forbidden one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.common import (
    FORBIDDEN,
    OPTIONAL,
    REQUIRED,
    Dataset,
    Literal,
    Query,
    query_text,
    read_queries,
    write_queries,
)

LARGE, SMALL = 100_000, 1_000  # contexts at scale 1.0
TOLERANCE = 0.2


@dataclass(frozen=True)
class Mix:
    """What queries look like."""

    phrase: float = 0.3
    required: float = 0.25
    forbidden: float = 0.05
    commonest: float = 0.4  # no literal in more than this share of the documents
    sizes: tuple[int, ...] = (2, 3, 4)


class Finder:
    """Searches queries on one dataset."""

    def __init__(self, data: Dataset, seed: int, mix: Mix | None = None) -> None:
        self.data, self.mix = data, mix or Mix()
        self.rng = np.random.default_rng([seed, 7])
        df = data.document_frequency
        usable = np.flatnonzero((df > 1) & (df <= self.mix.commonest * data.documents))
        self.words = usable[np.argsort(df[usable], kind="stable")]
        self.word_df = df[self.words]
        pairs = np.unique(data.collocations[:6_000], axis=0)
        found = {tuple(p): len(data.occurrences(tuple(p)).distinct) for p in pairs.tolist() if p[0] != p[1]}
        kept = sorted((n, p) for p, n in found.items() if n > 1)
        self.phrases = [p for _, p in kept]
        self.phrase_df = np.array([n for n, _ in kept])

    def _near(self, df: np.ndarray, wanted: float) -> int:
        """The number of an item whose document frequency is close to the wanted one."""
        low, high = np.searchsorted(df, [0.85 * wanted, 1.18 * wanted])
        low = max(0, min(int(low), len(df) - 40))  # at the ends, one of the last few
        return int(self.rng.integers(low, max(int(high), min(low + 40, len(df)))))

    def _word(self, wanted: float, kind: str = OPTIONAL) -> Literal:
        return Literal((int(self.words[self._near(self.word_df, wanted)]),), kind)

    def _phrase(self, wanted: float, kind: str = OPTIONAL) -> Literal:
        return Literal(self.phrases[self._near(self.phrase_df, wanted)], kind)

    def _literals(self, share: float) -> tuple[Literal, ...]:
        """Literals of which about `share` of the documents hold one."""
        rng, mix, documents = self.rng, self.mix, self.data.documents
        size = int(rng.choice(mix.sizes))
        required, forbidden = rng.random(2) < (mix.required, mix.forbidden)
        parts = -np.log1p(-share) * rng.dirichlet(np.full(size, 2.0))
        if required:  # this one decides which documents match
            parts[0] = share
        literals = [self._word(part * documents) for part in parts]
        if required:
            literals[0] = Literal(literals[0].terms, REQUIRED)
        if self.phrases and rng.random() < mix.phrase:
            literals[-1] = self._phrase(parts[-1] * documents)
        if forbidden and len(literals) > 2:
            literals[1] = Literal(literals[1].terms, FORBIDDEN)
        return tuple(literals[i] for i in rng.permutation(len(literals)))

    def _type(self, match: np.ndarray, target: int) -> tuple[int, int, int] | None:
        """A random type with about `target` contexts in these documents: (type, contexts, candidates)."""
        data = self.data
        offsets, entities = data.closure
        per_entity = np.bincount(data.mention_entity[match[data.mention_document]], minlength=len(data.entity_types))
        sums = np.concatenate(([0], np.cumsum(per_entity[entities])))
        contexts = sums[offsets[1:]] - sums[offsets[:-1]]
        good = np.flatnonzero(abs(contexts - target) <= TOLERANCE * target)
        if not len(good):
            return None
        type_ = int(self.rng.choice(good))
        members = entities[offsets[type_] : offsets[type_ + 1]]
        return type_, int(contexts[type_]), int((per_entity[members] > 0).sum())

    def shares(self, target: int) -> tuple[float, float]:
        """Between which shares of matching documents a target can be met by broad and by narrow types."""
        of_all = target / len(self.data.mention_start)
        return min(0.6, max(1.5 * of_all, 8e-4)), min(0.7, of_all / 1.5e-3)

    def tries(self, target: int, shares: tuple[float, float]) -> Iterator[Query]:
        low, high = np.log(shares)
        number = 0
        while True:
            literals = self._literals(float(np.exp(self.rng.uniform(low, max(low, high)))))
            if len({t.terms for t in literals}) < len(literals):
                continue
            match = self.data.matching(literals)
            found = self._type(match, target)
            if found is None:
                continue
            number += 1
            type_, contexts, candidates = found
            text = query_text(literals, self.data.words)
            yield Query(f"q{number}", text, type_, literals, contexts, int(match.sum()), candidates)

    def find(self, target: int, count: int, shares: tuple[float, float] | None = None) -> list[Query]:
        """`count` queries with about `target` contexts each."""
        tries = self.tries(target, shares or self.shares(target))
        return [next(tries) for _ in range(count)]


def standard_sets(folder: Path, count: int = 100, contexts: Sequence[int] | None = None) -> dict[str, list[Query]]:
    """The query sets `large` and `small` of a corpus, kept beside it; their sizes follow it unless given."""
    data = Dataset(folder)
    scale = min(1.0, data.documents / 200_000)
    sizes = contexts or (max(200, round(LARGE * scale)), max(20, round(SMALL * scale)))
    sets: dict[str, list[Query]] = {}
    finder: Finder | None = None
    for name, target in zip(("large", "small"), sizes, strict=True):
        path = folder / f"queries-{name}-{target}-{count}.jsonl"
        if not path.exists():
            finder = finder or Finder(data, seed=count)
            write_queries(path, finder.find(target, count))
        sets[name] = read_queries(path)
    return sets
