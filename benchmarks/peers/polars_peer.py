"""The same answer in Polars: a membership filter, then one nearest-neighbour `join_asof` per literal.

Layout given to it, untimed: one sorted frame per queried type and per queried literal, phrases included, so
that no query filters a large table; the (document, entity) pairs of a type are numbered, so that grouping
takes one key. The join key is twice the middle of a span: for one literal the occurrence with the nearest
middle is the one with the smallest distance, since widths only shift all its distances alike. Documents lie
a gap apart, as for numpy.
Of the variants tried (eager and lazy, streaming, semi-joins, two-sided joins), this was the fastest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from benchmarks.common import REQUIRED, Answer, Dataset, K, Query
from benchmarks.peers.numpy_peer import gap_of, pair_numbers


class PolarsPeer:
    name = "Polars"
    same_answer = True

    def prepare(self, data: Dataset, queries: Sequence[Query]) -> None:
        self.gap = gap_of(data)
        terms = {t.terms for q in queries for t in q.literals}
        self.types = {t: self._type(data, t) for t in {q.type for q in queries}}
        self.keys = {t: self._keys(data, t) for t in terms}
        self.distinct = {t: pl.Series(data.occurrences(t).distinct) for t in terms}
        self.weights = {q: data.weights(q.counted) for q in queries}

    def _type(self, data: Dataset, type_: int) -> pl.DataFrame:
        rows = data.type_rows(type_)
        document, entity = data.mention_document[rows], data.mention_entity[rows]
        start = data.mention_start[rows] + document.astype(np.int64) * self.gap
        width = data.mention_length[rows].astype(np.int64)
        columns = {"key": 2 * start + width - 1, "reach": width - 1, "document": document, "entity": entity}
        frame = pl.DataFrame({**columns, "pair": pair_numbers(document, entity)})
        return frame.sort("key").set_sorted("key")

    def _keys(self, data: Dataset, terms: tuple[int, ...]) -> pl.DataFrame:
        found = data.occurrences(terms)
        start = found.positions + found.documents.astype(np.int64) * self.gap
        key = 2 * start + found.width - 1
        return pl.DataFrame({"key": key, "at": key}).set_sorted("key")

    def _contexts(self, query: Query) -> pl.LazyFrame:
        """The type's mentions in matching documents."""
        required = [t for t in query.counted if t.kind == REQUIRED]
        groups = [[t] for t in required] or [query.counted]
        document, match = pl.col("document"), pl.lit(True)
        for group in groups:
            inside = pl.concat([self.distinct[t.terms] for t in group])
            match = match & document.is_in(inside.implode())
        for literal in query.forbidden:
            match = match & ~document.is_in(self.distinct[literal.terms].implode())
        return self.types[query.type].lazy().filter(match).set_sorted("key")

    def answer(self, query: Query) -> Answer:
        rows, score = self._contexts(query), pl.lit(0.0)
        for i, (literal, weight) in enumerate(zip(query.counted, self.weights[query], strict=True)):
            nearest = self.keys[literal.terms].lazy().rename({"at": f"at{i}"})
            rows = rows.join_asof(nearest, on="key", strategy="nearest")
            apart = (pl.col("key") - pl.col(f"at{i}")).abs() - pl.col("reach") - (len(literal.terms) - 1)
            distance = apart.clip(lower_bound=0) / 2
            score += pl.when(distance < self.gap).then(weight / (1.0 + distance / 10)).otherwise(0.0)
        pairs = rows.select("pair", "entity", score=score).group_by("pair")
        best = pairs.agg(pl.max("score"), pl.first("entity"))
        total = best.group_by("entity").agg(pl.sum("score"))
        top = total.sort(["score", "entity"], descending=[True, True]).head(K).collect()
        return list(zip(top["entity"].to_list(), top["score"].to_list(), strict=True))
