"""Contexts tables that no index made: small, but with every case that counts.

A table has some literals, of which one may occur nowhere; rows in document and position order; several mentions
of one entity in one document. `bare` rows have no literal at all, as mentions have when overlaps are ignored. A
mention may be without a literal that another mention of its document has, as there are with a window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader.contexts.columns import DocumentValues, GivenColumns, Positions, SentenceStarts, Titles
from fader.contexts.query import parse_query
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.corpus.analysis import Analysis

# More than occur in any table: not every candidate need have a context.
ENTITIES = np.arange(0, 30, 3, dtype=np.int32)
LENGTH = 50  # tokens of an average document
WORDS = ("alpha", '"beta gamma"', "+delta", "epsilon")


@dataclass(frozen=True)
class TableColumns:
    """What a table is made of, a row a context."""

    entity: NDArray[np.int32]
    document: NDArray[np.int32]
    start: NDArray[np.int32]
    distances: NDArray[np.int32]
    sides: NDArray[np.int8]
    confidence: NDArray[np.float64]
    df: list[int]


def document_values(columns: TableColumns, rows: NDArray[np.int64]) -> DocumentValues:
    """Ten documents, no two alike: a literal that any mention of a document has is in it from one to four times.

    Some documents have literals that none of their mentions has. Other terms occur once each.
    """
    t, j = np.arange(len(columns.df))[:, None], np.arange(10, dtype=np.int32)
    present = ((t + j) % 5 == 0) & (np.array(columns.df) > 0)[:, None]
    for literal, x in zip(*np.nonzero(columns.distances >= 0), strict=True):
        present[literal, columns.document[x]] = True
    counts = np.where(present, 1 + (7 * t + 3 * j) % 4, 0).astype(np.int32)
    other = 5 + 9 * j
    return DocumentValues(
        row=columns.document[rows],
        number=j,
        counts=counts,
        length=other + counts.sum(axis=0, dtype=np.int32),
        distinct=(other + np.count_nonzero(counts, axis=0)).astype(np.int64),
        square=(other + (counts * counts).sum(axis=0)).astype(np.int64),
        prior=np.ones(j.size),
    )


def _positions(counts: NDArray[np.int32]) -> Positions:
    """As many occurrences as counts say, seven tokens apart; where they stand has nothing to do with distances."""
    at = np.zeros((counts.shape[0], counts.shape[1] + 1), dtype=np.int64)
    at[:, 1:] = np.cumsum(counts).reshape(counts.shape)
    at[1:, 0] = at[:-1, -1]
    starts = [7 * np.arange(size) + t + j for t, row in enumerate(counts.tolist()) for j, size in enumerate(row)]
    return Positions(at, np.concatenate(starts).astype(np.int32), np.ones(counts.shape[0], dtype=np.int32))


def _sentences(documents: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Each document has a sentence of 5 tokens, one of 9, and the rest."""
    return 3 * np.arange(documents + 1), np.tile(np.array([0, 5, 14], dtype=np.int32), documents)


def _titles(literals: int, documents: int) -> Titles:
    """Document j is about entity j; its title has j terms, and literal t where t divides j."""
    j = np.arange(documents, dtype=np.int32)
    has = (j % (np.arange(literals)[:, None] + 1) == 0).astype(np.uint8)
    return Titles(j, j, np.minimum(j, has.sum(axis=0)).astype(np.int32), has)


def contexts_of(columns: TableColumns, order: NDArray[np.int64] | None = None) -> Contexts:
    """The table with its rows in an order."""
    rows = np.arange(columns.entity.size) if order is None else order
    literals, documents = len(columns.df), 50
    df = np.array(columns.df, dtype=np.int64)
    given = GivenColumns(
        start=columns.start[rows],
        end=columns.start[rows] + np.int32(1),
        sides=np.ascontiguousarray(columns.sides[:, rows]),
        confidence=columns.confidence[rows],
        documents=document_values(columns, rows),
        positions=_positions(document_values(columns, rows).counts),
        matching=document_values(columns, rows),
        sentences=SentenceStarts(*_sentences(10)),
        titles=_titles(literals, 10),
        entity_documents=ENTITIES % 7 + np.int32(1),
    )
    return Contexts(
        query=parse_query(" ".join(WORDS[:literals]), Analysis()),
        statistics=Statistics(documents, LENGTH * documents, df, 3 * df),
        slot=np.searchsorted(ENTITIES, columns.entity[rows]).astype(np.int32),
        entities=ENTITIES,
        document=columns.document[rows],
        distances=np.ascontiguousarray(columns.distances[:, rows]),
        plan="",
        columns=given,
    )


def sides_of(distances: NDArray[np.int32]) -> NDArray[np.int8]:
    """Left and right by turns, over literals and rows; 0 for overlaps and absent literals."""
    turn = np.add.outer(np.arange(distances.shape[0]), np.arange(distances.shape[1])) % 2
    return np.where(distances > 0, 2 * turn - 1, 0).astype(np.int8)


def draw_table(seed: int, least: int = 0, bare: bool = False) -> TableColumns:
    """The columns of a table with `least` rows or more, by a seed."""
    draw = np.random.default_rng(seed)
    literals, size = int(draw.integers(1, len(WORDS) + 1)), int(draw.integers(least, 26))
    df = draw.integers(1, 51, literals).tolist()
    if literals > 1 and seed % 2:
        df[0] = 0
    place = np.sort(draw.integers(0, 310, size)).astype(np.int32)
    distances = draw.choice([-1, -1, 0, 1, 1, 2, 5, 10, 300], (literals, size)).astype(np.int32)
    distances[np.array(df) == 0] = -1
    if not bare and size:
        distances[-1, (distances < 0).all(axis=0)] = draw.integers(0, 10)
    return TableColumns(
        entity=draw.choice(ENTITIES[:8], size).astype(np.int32),
        document=place // np.int32(31),
        start=place % np.int32(31),
        distances=distances,
        sides=sides_of(distances),
        confidence=np.linspace(1, 0.5, size),
        df=df,
    )
