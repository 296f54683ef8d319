"""NoProx: worked out by hand, and against the formulas in plain Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from contracts.tables import TableColumns, contexts_of, tables
from fader.contexts.columns import DocumentValues
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.registry import parse
from features.tables import table

NAMES = ["cosine", "bm25", "jaccard", "dirichlet", "constant"]


def feature_of(text: str = "noprox") -> Any:
    return parse("fader.features", text)


def values(contexts: Contexts, text: str = "noprox") -> Any:
    """(contexts, columns), from scores under unit weights."""
    feature = feature_of(text)
    return np.stack([feature.score(contexts, w) for w in np.eye(feature.size)], axis=1)


def golden() -> Contexts:
    """N = 4 documents of 6 tokens on average. Literals: df 1, cf 2; df 2, cf 4; one that is nowhere.

    Document 0 is `a a b c d`, with the first literal twice; document 1 `a b x y`, with both once each.
    """
    contexts = contexts_of(table([[1, 0, 3], [-1, 2, 5], [-1, -1, -1]], [1, 2, 0]))
    contexts.statistics = Statistics(4, 24, np.array([1, 2, 0]), np.array([2, 4, 0]))
    contexts.documents = DocumentValues(
        row=np.array([0, 1, 1], dtype=np.int32),
        number=np.arange(2, dtype=np.int32),
        counts=np.array([[2, 1], [0, 1], [0, 0]], dtype=np.int32),
        length=np.array([5, 4], dtype=np.int32),
        distinct=np.array([4, 4]),
        square=np.array([7, 4]),
        prior=np.ones(2),
    )
    return contexts


def test_golden_values() -> None:
    """idf ln 5 and ln 3; BM25 idf ln(1 + 3.5/1.5) and ln(1 + 2.5/2.5); mu p = cf/N = 1/2 and 1."""
    rare, common = math.log(5), math.log(3)
    norm = math.sqrt(rare**2 + common**2)
    k0, k1 = 1.2 * (0.25 + 0.75 * 5 / 6), 1.2 * (0.25 + 0.75 * 4 / 6)
    first = [
        2 * rare / (math.sqrt(7) * norm),
        math.log(10 / 3) * 2 * 2.2 / (2 + k0),
        rare / (rare + common + 3 * math.log(2)),
        math.log(1 + 2 / 0.5),
        1.0,
    ]
    second = [
        (rare + common) / (2 * norm),
        math.log(10 / 3) * 2.2 / (1 + k1) + math.log(2) * 2.2 / (1 + k1),
        (rare + common) / (rare + common + 2 * math.log(2)),
        math.log(1 + 1 / 0.5) + math.log(1 + 1 / 1),
        1.0,
    ]
    found = values(golden())
    assert found[0].tolist() == pytest.approx(first, rel=1e-12)
    assert found[1].tolist() == pytest.approx(second, rel=1e-12)
    assert found[1].tolist() == found[2].tolist()
    assert first[0] == pytest.approx(0.6243, abs=1e-4)
    assert first[1] == pytest.approx(1.7369, abs=1e-4)


def test_the_docstring_is_right() -> None:
    """One literal, df = 1 of N = 4, tf = 2 in a document of 5 terms, 4 of them different."""
    contexts = contexts_of(table([[1]], [1]))
    contexts.statistics = Statistics(4, 24, np.array([1]), np.array([2]))
    one, four = np.zeros(1, dtype=np.int32), np.array([4])
    counts, length = np.array([[2]], dtype=np.int32), np.array([5], dtype=np.int32)
    contexts.documents = DocumentValues(one, one, counts, length, four, np.array([7]), np.ones(1))
    found = values(contexts)[0]
    assert found[0] == pytest.approx(2 / math.sqrt(7), rel=1e-12)
    assert found[2] == pytest.approx(math.log(5) / (math.log(5) + 3 * math.log(2)), rel=1e-12)


def by_formula(contexts: Contexts, name: str, x: int) -> float:
    statistics, documents = contexts.statistics, contexts.documents
    N, average, j = statistics.documents, statistics.tokens / statistics.documents, documents.row[x]
    literals = [(int(df), int(cf), int(tf)) for df, cf, tf in
                zip(statistics.df, statistics.cf, documents.counts[:, j], strict=True) if df > 0]  # fmt: skip
    matched = [(df, cf, tf) for df, cf, tf in literals if tf > 0]
    idf = {df: math.log(1 + N / df) for df, _cf, _tf in literals}
    if name == "cosine":
        norm = math.sqrt(documents.square[j]) * math.sqrt(sum(idf[df] ** 2 for df, _cf, _tf in literals))
        return sum(tf * idf[df] for df, _cf, tf in matched) / norm
    if name == "bm25":
        k = 1.2 * (1 - 0.75 + 0.75 * documents.length[j] / average)
        return sum(math.log(1 + (N - df + 0.5) / (df + 0.5)) * tf * 2.2 / (tf + k) for df, _cf, tf in matched)
    if name == "jaccard":
        rest = math.log(2) * (documents.distinct[j] - len(matched))
        return sum(idf[df] for df, _cf, _tf in matched) / (sum(idf[df] for df, _cf, _tf in literals) + rest)
    if name == "dirichlet":
        return sum(math.log(1 + tf / (average * cf / statistics.tokens)) for _df, cf, tf in matched)
    return 1.0


@settings(deadline=None)
@given(tables(bare=True))
def test_values_are_those_of_the_formulas(columns: TableColumns) -> None:
    """All five, of documents of which no two are alike."""
    contexts = contexts_of(columns)
    found = values(contexts)
    for x in range(len(contexts)):
        assert found[x].tolist() == pytest.approx([by_formula(contexts, name, x) for name in NAMES], rel=1e-9)


def test_some_of_them_in_any_order() -> None:
    """TableColumns are those named, in their order; the text parses back."""
    all_five, feature = values(golden()), feature_of("noprox(use=constant/bm25)")
    assert values(golden(), "noprox(use=constant/bm25)").tolist() == all_five[:, [4, 1]].tolist()
    assert feature.labels() == ["constant", "bm25"]
    assert feature.start().tolist() == [0.1, 0.1]
    assert str(feature) == "noprox(use=constant/bm25)"
    assert feature_of().labels() == NAMES


def test_values_are_found_once_a_document() -> None:
    """A row a document, which its contexts share."""
    block = feature_of().blocks(golden())[0]
    assert block.values.shape == (2, 5)
    assert block.row.tolist() == [0, 1, 1]


def test_the_constant_alone_needs_no_documents() -> None:
    """They are not found, because they are not read."""
    contexts = contexts_of(table([[1, 2]], [3]))
    contexts.columns = None
    assert feature_of("noprox(use=constant)").score(contexts, np.array([2.0])).tolist() == [2, 2]


def test_literals_have_their_own_terms() -> None:
    """Of BM25 with weight 1, the common literal has its term and the rare one has its own."""
    contexts = golden()
    shares = feature_of("noprox(use=bm25)").by_literal(contexts, np.array([1], dtype=np.int32), np.ones(1))[:, 0]
    k = 1.2 * (0.25 + 0.75 * 4 / 6)
    assert shares.tolist() == pytest.approx([math.log(10 / 3) * 2.2 / (1 + k), math.log(2) * 2.2 / (1 + k), 0])


def test_terms_of_literals_that_a_context_lacks_go_to_the_others() -> None:
    """As with a window: the document has both, the context one, which then explains the whole score."""
    contexts = golden()
    contexts.distances = np.array([[1, 0, -1], [-1, 2, 5], [-1, -1, -1]], dtype=np.int32)
    feature, rows = feature_of(), np.array([2], dtype=np.int32)
    w = np.arange(1.0, 6.0)
    shares = feature.by_literal(contexts, rows, w)[:, 0]
    assert shares.tolist() == pytest.approx([0, feature.score(contexts, w)[2], 0])


def test_pieces_are_named_by_column() -> None:
    """They belong to no literal."""
    pieces = feature_of().pieces(golden(), 0, np.ones(5))
    assert [piece.cell for piece in pieces] == NAMES
    assert {piece.literal for piece in pieces} == {-1}
    assert [piece.value for piece in pieces] == pytest.approx(values(golden())[0].tolist())
