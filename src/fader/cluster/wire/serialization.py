"""Queries, options and shares as plain data: what crosses a wire, dictionaries of texts, numbers and arrays, and back.

What comes back is not believed: a value of the wrong kind is an error of the caller's. Knows nothing of sockets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.contexts.match import MatchOptions
from fader.contexts.partial import Share
from fader.contexts.query import Literal, Query
from fader.contexts.statistics import Statistics
from fader.contexts.table import DocumentValues, Positions
from fader.errors import UsageError, quoted
from fader.limits import DEFAULTS

I32 = NDArray[np.int32]
Plain = dict[str, Any]
EAGER = ("df", "cf", "entities", "slot", "document", "distances", "matched", "taken", "plan")
LATE = ("confidence", "sides", "start", "end", "documents", "matching", "positions")
OF_DOCUMENTS = ("number", "counts", "length", "distinct", "square", "prior")
FARTHEST = 2**32  # no two tokens of a document are so far apart
_NOTHING = np.empty(0, dtype=np.int32)


def query_to(query: Query) -> Plain:
    """What is looked for; how it was written is of no use elsewhere."""
    return {
        "literals": [_literal_to(one) for one in query.literals],
        "forbidden": [_literal_to(one) for one in query.forbidden], "type": query.type,
    }  # fmt: skip


def query_from(plain: Plain) -> Query:
    try:
        literals = tuple(_literal_from(one) for one in plain["literals"])
        forbidden = tuple(_literal_from(one) for one in plain["forbidden"])
        return Query("", literals, forbidden, plain["type"])
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"not a query ({type(error).__name__}: {error})") from None


def _literal_to(literal: Literal) -> list[Any]:
    return [list(literal.terms), list(literal.offsets), literal.mode]


def _literal_from(plain: Sequence[Any]) -> Literal:
    terms, offsets, mode = plain
    literal = Literal(tuple(map(str, terms)), tuple(map(int, offsets)), str(mode), " ".join(terms))
    if not literal.terms or len(literal.terms) != len(literal.offsets):
        raise ValueError("a literal has as many offsets as terms, and one at least")
    return literal


def options_to(options: MatchOptions) -> Plain:
    """How contexts are taken."""
    limits, window = options.limits, options.window
    window = window.item() if isinstance(window, np.generic) else window
    return {
        "overlap": bool(options.overlap), "window": None if window is None else min(window, FARTHEST),
        "plan": options.plan, "contexts": limits.contexts, "memory_mb": limits.memory_mb,
    }  # fmt: skip


def options_from(plain: Plain) -> MatchOptions:
    try:
        limits = replace(DEFAULTS, contexts=plain["contexts"], memory_mb=plain["memory_mb"])
        return MatchOptions(bool(plain["overlap"]), plain["window"], plain["plan"], limits)
    except (KeyError, TypeError) as error:
        raise UsageError(f"not options of a match ({type(error).__name__}: {error})") from None


def statistics_to(statistics: Statistics) -> Plain:
    """Counts of the whole collection."""
    return {
        "documents": statistics.documents, "tokens": statistics.tokens, "df": statistics.df, "cf": statistics.cf,
    }  # fmt: skip


def statistics_from(plain: Plain) -> Statistics:
    return Statistics(**plain)


def check_columns(names: Sequence[str]) -> None:
    """Refuse a late column that is none."""
    for name in names:
        if name not in LATE:
            raise UsageError(f"a share has no column {quoted(name)}; there are {', '.join(LATE)}")


def share_to(share: Share, columns: Sequence[str] = ()) -> Plain:
    """A share with some of its late columns."""
    return {name: getattr(share, name) for name in EAGER} | {"columns": columns_to(share, columns)}


def columns_to(share: Share, columns: Sequence[str]) -> Plain:
    """Late columns of a share; `row` of document values is left out, as it follows from the documents."""
    check_columns(columns)
    return {name: _column_to(share.late(name)) for name in columns}


def _column_to(value: Any) -> Any:
    if isinstance(value, DocumentValues):
        return {name: getattr(value, name) for name in OF_DOCUMENTS}
    if isinstance(value, Positions):
        return {"at": value.at, "start": value.start, "length": value.length}
    return value


def column_from(name: str, value: Any) -> Any:
    """A late column."""
    if name in ("documents", "matching"):
        return DocumentValues(row=_NOTHING, **value)
    return Positions(**value) if name == "positions" else value


def share_from(plain: Plain, late: Callable[[str], Any]) -> Share:
    """A share; what columns did not come with it, `late` finds."""
    there = {name: column_from(name, value) for name, value in plain["columns"].items()}

    def found(name: str) -> Any:
        return there[name] if name in there else late(name)

    return Share(**{name: plain[name] for name in EAGER}, late=found)
