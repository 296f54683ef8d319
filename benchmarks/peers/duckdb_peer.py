"""The same answer in DuckDB, one SQL statement per query, in the fastest of four formulations.

- pairs: one equality join of the type's mentions with all the literals' occurrences on the document, the
  smallest distance of each literal by filtered aggregates per mention;
- asof: two ASOF joins (nearest to the left, nearest to the right) per literal on corpus-wide positions;
- lists: occurrences as one list per document, joined on the document, `list_min` over distances;
- window: mentions and occurrences in one sorted stream, `last_value`/`first_value` ignoring nulls.

Layout given to it, untimed: a table per queried type and per queried literal (phrases precomputed), int32
numbers for strings, sorted by position, (document, entity) pairs numbered. `prepare` times the formulations
on a few queries and keeps the fastest for this query set.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import duckdb
import numpy as np
import pyarrow as pa

from benchmarks.common import REQUIRED, Answer, Dataset, K, Literal, Query, median
from benchmarks.peers.numpy_peer import gap_of, pair_numbers

TOTAL = (
    "SELECT entity, sum(score) AS score FROM"
    " (SELECT any_value(entity) AS entity, max(score) AS score FROM scored GROUP BY pair)"
    f" GROUP BY entity ORDER BY score DESC, entity DESC LIMIT {K}"
)


class DuckDBPeer:
    name = "DuckDB"
    same_answer = True

    def __init__(self, formulation: str | None = None, threads: int = 1) -> None:
        self.threads, self.wanted = threads, formulation
        self.formulations: dict[str, Callable[[Query], str]] = {
            "pairs": self._pairs,
            "asof": self._asof,
            "lists": self._lists,
            "window": self._window,
        }

    # --- layout

    def prepare(self, data: Dataset, queries: Sequence[Query]) -> None:
        self.connection = duckdb.connect(":memory:", config={"threads": self.threads})
        self.connection.execute("SET preserve_insertion_order = false")
        self.gap = gap_of(data)
        self.number = {t: i for i, t in enumerate(sorted({t.terms for q in queries for t in q.literals}))}
        self.weights = {q: data.weights(q.counted) for q in queries}
        for type_ in {q.type for q in queries}:
            self._type(data, type_)
        for terms in self.number:
            self._literal(data, terms)
        self.formulation = self.wanted or self._fastest(queries[:9])

    def _create(self, name: str, columns: dict[str, np.ndarray]) -> None:
        self.connection.register("incoming", pa.table(columns))
        self.connection.execute(f"CREATE TABLE {name} AS FROM incoming")
        self.connection.unregister("incoming")

    def _place(self, positions: np.ndarray, documents: np.ndarray) -> np.ndarray:
        """Positions with documents a gap apart."""
        return positions + documents.astype(np.int64) * self.gap

    def _type(self, data: Dataset, type_: int) -> None:
        rows = data.type_rows(type_)
        document, entity = data.mention_document[rows], data.mention_entity[rows]
        s = self._place(data.mention_start[rows], document)
        columns = {"document": document, "entity": entity, "s": s, "e": s + data.mention_length[rows]}
        columns = {name: _narrow(values) for name, values in columns.items()}
        columns["mention"] = np.arange(len(rows), dtype=np.int32)
        self._create(f"mentions{type_}", {**columns, "pair": pair_numbers(document, entity)})

    def _literal(self, data: Dataset, terms: tuple[int, ...]) -> None:
        found, i = data.occurrences(terms), self.number[terms]
        a = _narrow(self._place(found.positions, found.documents))
        self._create(f"occurrences{i}", {"document": found.documents, "a": a})
        self._create(f"documents{i}", {"document": found.distinct})
        grouped = f"SELECT document, list(a ORDER BY a) AS a FROM occurrences{i} GROUP BY document"
        self.connection.execute(f"CREATE TABLE lists{i} AS {grouped} ORDER BY document")

    def _fastest(self, queries: Sequence[Query]) -> str:
        """The formulation with the least median time over these queries, the better of two rounds each."""

        def took(statement: str) -> float:
            start = time.process_time()
            self.connection.execute(statement).fetchall()
            return time.process_time() - start

        def typical(name: str) -> float:
            statements = [self.formulations[name](q) for q in queries]
            return median([min(took(s), took(s)) for s in statements])

        return min(self.formulations, key=typical)

    # --- statements

    def _numbers(self, literals: Sequence[Literal]) -> list[int]:
        return [self.number[t.terms] for t in literals]

    def _without_forbidden(self, query: Query) -> list[str]:
        return [
            f"NOT EXISTS (SELECT 1 FROM documents{i} AS f WHERE f.document = m.document)"
            for i in self._numbers(query.forbidden)
        ]

    def _required(self, query: Query) -> list[str]:
        numbers = self._numbers([t for t in query.counted if t.kind == REQUIRED])
        return [f"m.document IN (SELECT document FROM documents{i})" for i in numbers]

    def _contexts(self, query: Query) -> str:
        union = " UNION ALL ".join(f"SELECT document FROM documents{i}" for i in self._numbers(query.counted))
        tests = self._required(query) or [f"m.document IN ({union})"]
        tests += self._without_forbidden(query)
        return f"contexts AS (SELECT * FROM mentions{query.type} AS m WHERE {' AND '.join(tests)})"

    def _pairs(self, query: Query) -> str:
        numbers = self._numbers(query.counted)
        union = " UNION ALL ".join(
            f"SELECT document, a, {k} AS k, {len(t.terms)} AS n FROM occurrences{i}"
            for k, (i, t) in enumerate(zip(numbers, query.counted, strict=True))
        )
        joined = (
            "SELECT mention, pair, entity, k, greatest(0, s - a - n + 1, a - e + 1) AS d"
            f" FROM mentions{query.type} AS m JOIN ({union}) USING (document)"
        )
        tests = self._required(query) + self._without_forbidden(query)
        if tests:
            joined += f" WHERE {' AND '.join(tests)}"
        score = " + ".join(
            f"coalesce({w!r}::DOUBLE / (1 + min(d) FILTER (k = {k}) / 10e0), 0e0)"
            for k, w in enumerate(self.weights[query])
        )
        return (
            f"WITH scored AS (SELECT any_value(pair) AS pair, any_value(entity) AS entity, {score} AS score"
            f" FROM ({joined}) GROUP BY mention) {TOTAL}"
        )

    def _near(self, weight: float, left: str, right: str, width: int) -> str:
        """A literal's share of the score from its neighbours on both sides, either null or far off."""
        gap = self.gap
        sides = f"coalesce(s - {left} - {width - 1}, {gap}), coalesce({right} - e + 1, {gap})"
        distance = f"greatest(0, least({sides}))"
        return f"CASE WHEN {distance} < {gap} THEN {weight!r}::DOUBLE / (1 + {distance} / 10e0) ELSE 0e0 END"

    def _asof(self, query: Query) -> str:
        joins, terms = "", []
        literals = zip(self._numbers(query.counted), query.counted, self.weights[query], strict=True)
        for k, (i, literal, weight) in enumerate(literals):
            joins += f" ASOF LEFT JOIN occurrences{i} AS l{k} ON contexts.s >= l{k}.a"
            joins += f" ASOF LEFT JOIN occurrences{i} AS r{k} ON contexts.s < r{k}.a"
            terms.append(self._near(weight, f"l{k}.a", f"r{k}.a", len(literal.terms)))
        scored = f"SELECT pair, entity, {' + '.join(terms)} AS score FROM contexts{joins}"
        return f"WITH {self._contexts(query)}, scored AS ({scored}) {TOTAL}"

    def _lists(self, query: Query) -> str:
        joins, terms = "", []
        literals = zip(self._numbers(query.counted), query.counted, self.weights[query], strict=True)
        for k, (i, literal, weight) in enumerate(literals):
            joins += f" LEFT JOIN lists{i} AS t{k} ON contexts.document = t{k}.document"
            distance = f"greatest(0, s - p - {len(literal.terms)} + 1, p - e + 1)"
            nearest = f"list_min(list_transform(t{k}.a, lambda p: {distance}))"
            terms.append(f"coalesce({weight!r}::DOUBLE / (1 + {nearest} / 10e0), 0e0)")
        scored = f"SELECT pair, entity, {' + '.join(terms)} AS score FROM contexts{joins}"
        return f"WITH {self._contexts(query)}, scored AS ({scored}) {TOTAL}"

    def _window(self, query: Query) -> str:
        size = len(query.counted)
        parts = ["SELECT s AS place, s, e, pair, entity, " + _columns(size, None) + " FROM contexts"]
        for k, i in enumerate(self._numbers(query.counted)):
            parts.append(f"SELECT a, NULL, NULL, NULL, NULL, {_columns(size, k)} FROM occurrences{i}")
        sides = ", ".join(
            f"last_value(a{k} IGNORE NULLS) OVER before AS l{k},"
            f" first_value(a{k} IGNORE NULLS) OVER behind AS r{k}"
            for k in range(size)
        )
        windows = (
            "before AS (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),"
            " behind AS (ORDER BY place ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)"
        )
        literals = zip(query.counted, self.weights[query], strict=True)
        score = " + ".join(self._near(w, f"l{k}", f"r{k}", len(t.terms)) for k, (t, w) in enumerate(literals))
        return (
            f"WITH {self._contexts(query)}, stream AS ({' UNION ALL '.join(parts)}),"
            f" sided AS (SELECT s, e, pair, entity, {sides} FROM stream WINDOW {windows}),"
            f" scored AS (SELECT pair, entity, {score} AS score FROM sided WHERE s IS NOT NULL) {TOTAL}"
        )

    def answer(self, query: Query) -> Answer:
        return self.connection.execute(self.formulations[self.formulation](query)).fetchall()


def _narrow(values: np.ndarray) -> np.ndarray:
    """int32 where the values fit."""
    return values.astype(np.int32) if values.max(initial=0) < 2**31 else values


def _columns(size: int, at: int | None) -> str:
    """Null columns a0, a1, .. of which the one at `at` is the position."""
    return ", ".join(f"{'a' if k == at else 'NULL::BIGINT'} AS a{k}" for k in range(size))
