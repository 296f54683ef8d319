"""Converts queries, options and partial contexts to dicts of texts, numbers and arrays for the wire, and back.

Received data is not trusted: a value of the wrong type raises UsageError. Knows nothing of sockets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fader.contexts.columns import DocumentColumns, DocumentValues, Positions, RowColumns
from fader.contexts.match import MatchOptions
from fader.contexts.partial import PartialContexts
from fader.contexts.query import Literal, Query
from fader.contexts.statistics import Statistics
from fader.errors import UsageError, quote
from fader.limits import DEFAULTS

I32 = NDArray[np.int32]
Plain = dict[str, Any]
FARTHEST = 2**32  # more than the distance of any two tokens of a document
_NOTHING = np.empty(0, dtype=np.int32)


def dump_query(query: Query) -> Plain:
    """The literals and the type of a query; shards do not need its original text."""
    literals, forbidden = ([_dump_literal(one) for one in some] for some in (query.literals, query.forbidden))
    return {"literals": literals, "forbidden": forbidden, "type": query.type}


def load_query(plain: Plain) -> Query:
    try:
        literals = tuple(_load_literal(one) for one in plain["literals"])
        forbidden = tuple(_load_literal(one) for one in plain["forbidden"])
        return Query("", literals, forbidden, plain["type"])
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"not a query ({type(error).__name__}: {error})") from None


def _dump_literal(literal: Literal) -> list[Any]:
    return [list(literal.terms), list(literal.offsets), literal.mode]


def _load_literal(plain: Sequence[Any]) -> Literal:
    terms, offsets, mode = plain
    literal = Literal(tuple(map(str, terms)), tuple(map(int, offsets)), str(mode), " ".join(terms))
    if not literal.terms or len(literal.terms) != len(literal.offsets):
        raise ValueError("a literal has as many offsets as terms, and one at least")
    return literal


def dump_options(options: MatchOptions) -> Plain:
    """The options of a match."""
    limits, window = options.limits, options.window
    window = window.item() if isinstance(window, np.generic) else window
    return {
        "overlap": bool(options.overlap),
        "window": None if window is None else min(window, FARTHEST),
        "plan": options.plan,
        "contexts": limits.contexts,
        "memory_mb": limits.memory_mb,
    }


def load_options(plain: Plain) -> MatchOptions:
    try:
        limits = replace(DEFAULTS, contexts=plain["contexts"], memory_mb=plain["memory_mb"])
        return MatchOptions(bool(plain["overlap"]), plain["window"], plain["plan"], limits)
    except (KeyError, TypeError) as error:
        raise UsageError(f"not options of a match ({type(error).__name__}: {error})") from None


def dump_statistics(statistics: Statistics) -> Plain:
    """Counts of the whole collection."""
    counts = {"documents": statistics.documents, "tokens": statistics.tokens}
    return counts | {"df": statistics.df, "cf": statistics.cf}


def load_statistics(plain: Plain) -> Statistics:
    return Statistics(**plain)


class Column(StrEnum):
    """A column that is sent on demand."""

    CONFIDENCE = "confidence"
    SIDES = "sides"
    START = "start"
    END = "end"
    DOCUMENTS = "documents"
    MATCHING = "matching"
    POSITIONS = "positions"


def parse_columns(names: Sequence[str]) -> list[Column]:
    """The columns of some names."""
    known = list(Column)
    for name in names:
        if name not in known:
            raise UsageError(f"partial contexts have no column {quote(name)}; there are {', '.join(known)}")
    return [Column(name) for name in names]


def dump_partial(partial: PartialContexts[RowColumns], columns: Sequence[Column] = ()) -> Plain:
    """Partial contexts with some of their further columns."""
    return {
        "df": partial.df,
        "cf": partial.cf,
        "entities": partial.entities,
        "slot": partial.slot,
        "document": partial.document,
        "distances": partial.distances,
        "matched": partial.matched,
        "taken": partial.taken,
        "plan": partial.plan,
        "columns": dump_columns(partial.columns, columns),
    }


def dump_columns(source: RowColumns, columns: Sequence[Column]) -> Plain:
    """Some columns; `row` of document values is left out, as it follows from the documents."""
    return {column.value: _dump_column(source, column) for column in columns}


def _dump_column(source: RowColumns, column: Column) -> Any:
    match column:
        case Column.CONFIDENCE:
            return source.read_confidence()
        case Column.SIDES:
            return source.read_sides()
        case Column.START:
            return source.read_start()
        case Column.END:
            return source.read_end()
        case Column.DOCUMENTS:
            return _dump_documents(source.read_documents())
        case Column.MATCHING:
            return _dump_documents(source.read_matching())
        case Column.POSITIONS:
            found = source.read_positions()
            return {"at": found.at, "start": found.start, "length": found.length}


def _dump_documents(values: DocumentColumns) -> Plain:
    return {
        "number": values.number,
        "counts": values.counts,
        "length": values.length,
        "distinct": values.distinct,
        "square": values.square,
        "prior": values.prior,
    }


def load_partial(plain: Plain, fetch: FetchColumn) -> PartialContexts[RowColumns]:
    """Partial contexts; columns that did not come with them are fetched when they are read."""
    eager = {name: value for name, value in plain.items() if name != "columns"}
    return PartialContexts(**eager, columns=SentColumns(plain["columns"], fetch))


class FetchColumn(Protocol):
    """Fetches a column of one group's partial contexts, as it was sent."""

    def __call__(self, column: Column) -> Any: ...


@dataclass(frozen=True)
class SentColumns:
    """Columns of partial contexts that came over the wire, or come when they are read."""

    given: Plain
    fetch: FetchColumn

    def _read(self, column: Column) -> Any:
        return self.given[column] if column in self.given else self.fetch(column)

    def read_sides(self) -> NDArray[np.int8]:
        found: NDArray[np.int8] = self._read(Column.SIDES)
        return found

    def read_start(self) -> I32:
        found: I32 = self._read(Column.START)
        return found

    def read_end(self) -> I32:
        found: I32 = self._read(Column.END)
        return found

    def read_confidence(self) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self._read(Column.CONFIDENCE)
        return found

    def read_documents(self) -> DocumentValues:
        return DocumentValues(row=_NOTHING, **self._read(Column.DOCUMENTS))

    def read_matching(self) -> DocumentValues:
        return DocumentValues(row=_NOTHING, **self._read(Column.MATCHING))

    def read_positions(self) -> Positions:
        return Positions(**self._read(Column.POSITIONS))
