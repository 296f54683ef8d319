"""The same answer in Polars: a membership filter, then one nearest-neighbour `join_asof` per literal.

General layout: one frame of postings sorted by term and position, one series of distinct documents sorted by
term, one frame of mentions sorted by type and position; offsets per term and type, so that a query touches
nothing but slices. The (document, entity) pairs are numbered, so that grouping takes one key. The join key is
twice the middle of a span: for one literal the occurrence with the nearest middle is the one with the smallest
distance, since widths only shift all its distances alike. Phrases are found by a join of sorted slices, their
document frequencies counted from it.

Hand-laid layout: the slices of the queried types and words, the occurrences of the queried phrases and the
weights of the queries are found in advance.

Of the variants tried (eager and lazy, streaming, semi-joins, two-sided joins; phrases by semi-join, membership
or binary search; documents by membership or by a mask), this was the fastest or as fast.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from benchmarks.common import HAND_LAID, REQUIRED, Answer, Dataset, K, Literal, Peer, Query

Found = tuple[pl.DataFrame, pl.Series]  # a literal's occurrences, its distinct documents


class PolarsPeer(Peer):
    name = "Polars"

    def prepare(self, data: Dataset, queries: Sequence[Query]) -> None:
        whole = data.collection
        self.gap, self.documents = whole.gap, whole.documents
        self.posting_offsets, self.distinct_offsets = whole.term_offsets, whole.distinct_offsets
        key = 2 * whole.posting_place.astype(np.int64)
        self.postings = pl.DataFrame({"key": key, "document": whole.posting_document})
        self.distinct = pl.Series(whole.distinct)
        width = (whole.end - whole.start).astype(np.int64)
        columns = {
            "key": 2 * whole.start.astype(np.int64) + width - 1,
            "reach": width - 1,
            "document": whole.document,
            "entity": whole.entity,
            "pair": whole.pair,
        }
        mentions = whole.by_type(whole.entity)
        self.type_offsets = mentions.offsets
        self.mentions = pl.DataFrame({name: values[mentions.rows] for name, values in columns.items()})
        self.types: dict[int, pl.DataFrame] = {}
        self.literals: dict[tuple[int, ...], Found] = {}
        self.weights: dict[Query, list[float]] = {}
        if self.layout == HAND_LAID:
            self.types = {q.type: self._type(q.type) for q in queries}
            self.literals = {t.terms: self._find(t.terms) for q in queries for t in q.literals}
            self.weights = {q: data.weights(q.counted) for q in queries}

    def _type(self, type_: int) -> pl.DataFrame:
        low, high = self.type_offsets[type_], self.type_offsets[type_ + 1]
        return self.mentions.slice(low, high - low)

    def _word(self, term: int) -> pl.DataFrame:
        low, high = self.posting_offsets[term], self.posting_offsets[term + 1]
        return self.postings.slice(low, high - low)

    def _find(self, terms: tuple[int, ...]) -> Found:
        if len(terms) == 1:
            low, high = self.distinct_offsets[terms[0]], self.distinct_offsets[terms[0] + 1]
            return self._word(terms[0]).select("key"), self.distinct.slice(low, high - low)
        found = self._word(terms[0]).lazy().set_sorted("key")
        for shift, term in enumerate(terms[1:], 1):
            ahead = self._word(term).lazy().select(pl.col("key") - 2 * shift).set_sorted("key")
            found = found.join(ahead, on="key", maintain_order="left").set_sorted("key")
        frame = found.select(pl.col("key") + len(terms) - 1, "document").collect()
        return frame.select("key"), frame["document"].set_sorted().unique()

    def _weights(self, literals: Sequence[Literal], found: dict[Literal, Found]) -> list[float]:
        df = [len(found[t][1]) for t in literals]
        idf = [math.log(1 + self.documents / n) if n else 0.0 for n in df]
        return [x / sum(idf) for x in idf]

    def _contexts(self, query: Query, found: dict[Literal, Found]) -> pl.LazyFrame:
        """The type's mentions in matching documents."""
        required = [t for t in query.counted if t.kind == REQUIRED]
        groups = [[t] for t in required] or [query.counted]
        document, match = pl.col("document"), pl.lit(True)
        for group in groups:
            inside = pl.concat([found[t][1] for t in group])
            match = match & document.is_in(inside.implode())
        for literal in query.forbidden:
            match = match & ~document.is_in(found[literal][1].implode())
        rows = self.types[query.type] if query.type in self.types else self._type(query.type)
        return rows.lazy().filter(match).set_sorted("key")

    def answer(self, query: Query) -> Answer:
        found = {t: self.literals.get(t.terms) or self._find(t.terms) for t in query.literals}
        weights = self.weights.get(query) or self._weights(query.counted, found)
        rows, score = self._contexts(query, found), pl.lit(0.0)
        for i, (literal, weight) in enumerate(zip(query.counted, weights, strict=True)):
            nearest = found[literal][0].lazy().set_sorted("key").with_columns(pl.col("key").alias(f"at{i}"))
            rows = rows.join_asof(nearest, on="key", strategy="nearest")
            apart = (pl.col("key") - pl.col(f"at{i}")).abs() - pl.col("reach") - (len(literal.terms) - 1)
            distance = apart.clip(lower_bound=0) / 2
            score += pl.when(distance < self.gap).then(weight / (1.0 + distance / 10)).otherwise(0.0)
        pairs = rows.select("pair", "entity", score=score).group_by("pair")
        best = pairs.agg(pl.max("score"), pl.first("entity"))
        total = best.group_by("entity").agg(pl.sum("score"))
        top = total.sort(["score", "entity"], descending=[True, True]).head(K).collect()
        return list(zip(top["entity"].to_list(), top["score"].to_list(), strict=True))
