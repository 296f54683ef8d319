"""Hypothesis strategies for Contexts tables that no index made: small, but with every case that counts.

A table has some literals, of which one may occur nowhere; rows in document and position order; several mentions
of one entity in one document. `bare` rows have no literal at all, as mentions have when overlaps are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from fader.contexts.query import parse_query
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts, DocumentValues
from fader.corpus.analysis import Analysis

# More than occur in any table: not every candidate need have a context.
ENTITIES = np.arange(0, 30, 3, dtype=np.int32)
WORDS = ("alpha", '"beta gamma"', "+delta", "epsilon")


@dataclass(frozen=True)
class Columns:
    """What a table is made of, a row a context."""

    entity: NDArray[np.int32]
    document: NDArray[np.int32]
    start: NDArray[np.int32]
    distances: NDArray[np.int32]
    sides: NDArray[np.int8]
    confidence: NDArray[np.float64]
    df: list[int]


def contexts_of(columns: Columns, order: NDArray[np.int64] | None = None) -> Contexts:
    """The table with its rows in an order."""
    rows = np.arange(columns.entity.size) if order is None else order
    literals, documents = len(columns.df), 50
    values = DocumentValues(
        row=columns.document[rows],
        number=np.arange(10, dtype=np.int32),
        counts=np.ones((literals, 10), dtype=np.int32),
        length=np.full(10, 40, dtype=np.int32),
        distinct=np.full(10, 30, dtype=np.int64),
        square=np.full(10, 60, dtype=np.int64),
        prior=np.ones(10),
    )
    df = np.array(columns.df, dtype=np.int64)
    known: dict[str, Any] = {
        "query": parse_query(" ".join(WORDS[:literals]), Analysis()),
        "statistics": Statistics(documents, 40 * documents, df, 2 * df),
        "plan": "",
        "slot": np.searchsorted(ENTITIES, columns.entity[rows]).astype(np.int32),
        "entities": ENTITIES,
        "document": columns.document[rows],
        "distances": np.ascontiguousarray(columns.distances[:, rows]),
    }
    late: dict[str, Any] = {
        "start": columns.start[rows],
        "end": columns.start[rows] + np.int32(1),
        "sides": np.ascontiguousarray(columns.sides[:, rows]),
        "confidence": columns.confidence[rows],
        "documents": values,
    }
    return Contexts(**known, late=late.__getitem__)


@st.composite
def tables(draw: st.DrawFn, least: int = 0, bare: bool = False) -> Columns:
    """The columns of a table with `least` rows or more."""
    literals = draw(st.integers(1, len(WORDS)))
    df = draw(st.lists(st.integers(1, 50), min_size=literals, max_size=literals))
    if literals > 1 and draw(st.booleans()):
        df[0] = 0
    size = draw(st.integers(least, 25))
    column = st.integers(0, 9)
    places = sorted(draw(st.lists(st.tuples(column, st.integers(0, 30)), min_size=size, max_size=size)))
    cells = st.sampled_from([-1, -1, 0, 1, 1, 2, 5, 10, 300])
    distances = np.array(
        draw(st.lists(st.lists(cells, min_size=size, max_size=size), min_size=literals, max_size=literals)),
        dtype=np.int32,
    ).reshape(literals, size)
    distances[np.array(df) == 0] = -1
    if not bare and size:
        distances[-1, (distances < 0).all(axis=0)] = draw(st.integers(0, 9))
    return Columns(
        entity=np.array(draw(st.lists(st.sampled_from(range(0, 24, 3)), min_size=size, max_size=size)), dtype=np.int32),
        document=np.array([d for d, _s in places], dtype=np.int32),
        start=np.array([s for _d, s in places], dtype=np.int32),
        distances=distances,
        sides=np.where(distances > 0, np.int8(1), np.int8(0)),
        confidence=np.linspace(1, 0.5, size),
        df=df,
    )
