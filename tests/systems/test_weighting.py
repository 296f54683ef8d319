"""Weighting models against their formulas, and the order of documents."""

from __future__ import annotations

from math import e, log2, pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.worlds import Document, Mention, World, worlds
from fader.errors import UsageError
from fader.systems.shared.weighting import MODELS, document_ranking, document_scores, in_best_documents
from systems.voting_oracle import SCORES


@pytest.mark.parametrize("model", MODELS)
@settings(deadline=None)
@given(worlds())
def test_scores_are_the_formula(model: str, world: World) -> None:
    """Of every matching document, with a mention or without."""
    scores = document_scores(world.contexts(), model)
    assert scores.tolist() == pytest.approx([SCORES[model](world, d) for d in world.matching], rel=1e-9, abs=1e-9)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("model", MODELS)
@settings(deadline=None)
@given(worlds())
def test_documents_are_ranked_by_score_then_number(model: str, world: World) -> None:
    """Of equal scores the smaller number is first."""
    contexts = world.contexts()
    scores, number = document_scores(contexts, model), contexts.matching.number
    expected = sorted(range(scores.size), key=lambda j: (-scores[j], number[j]))
    assert document_ranking(contexts, model).tolist() == expected


def test_pl2_by_hand() -> None:
    """N = 4, cf = 2, tf = 1 in a document of average length: n = 1, lambda = 1/2."""
    mention = (Mention(0, 1, 0),)
    world = World((Document((0, 5), mention), Document((0, 5), ()), Document((5, 5), ()), Document((5, 6), ())), 1)
    expected = (1 - log2(e) / 2 + log2(2 * pi) / 2) / 2
    assert document_scores(world.contexts(), "pl2").tolist() == pytest.approx([expected, expected], rel=1e-12)


def test_scores_and_rankings_are_made_once() -> None:
    """Systems that share a table share them."""
    contexts = World((Document((0, 5), (Mention(0, 1, 0),)),), 1).contexts()
    assert document_scores(contexts, "bm25") is document_scores(contexts, "bm25")
    assert document_ranking(contexts, "pl2") is document_ranking(contexts, "pl2")


def test_an_unknown_model_is_refused() -> None:
    """With what is known."""
    contexts = World((Document((0, 5), (Mention(0, 1, 0),)),), 1).contexts()
    with pytest.raises(UsageError, match=r'unknown weighting model "bm52"; did you mean "bm25"'):
        document_scores(contexts, "bm52")


@settings(deadline=None)
@given(worlds(), st.integers(1, 11))
def test_contexts_in_the_best_documents(world: World, top: int) -> None:
    """Those rows whose document is among the `top` that BM25 ranks highest, with a mention or without; in order."""
    contexts = world.contexts()
    score = dict(zip(world.matching, document_scores(contexts, "bm25").tolist(), strict=True))
    best = sorted(world.matching, key=lambda d: (-score[d], d))[:top]
    expected = [(d, m) for d, m in world.rows if d in best]
    found = in_best_documents(contexts, top)
    assert found.document.tolist() == [d for d, _m in expected]
    assert found.start.tolist() == [m.start for _d, m in expected]
    assert found.entity.tolist() == [m.entity for _d, m in expected]
    assert found.distances.T.tolist() == [[world.distance(d, m, t) for t in range(world.literals)] for d, m in expected]
    assert (found.matched_documents, found.statistics) == (contexts.matched_documents, contexts.statistics)
    if top >= len(world.matching):
        assert found is contexts


def test_of_equal_documents_the_first_are_kept() -> None:
    """And one that has no mention takes its place among the best all the same."""
    same = tuple(Document((0, 5), (Mention(1, 2, e),)) for e in range(3))
    better = Document((0, 0, 0), ())
    contexts = World((*same, better, Document((5, 6), ())), 1).contexts()
    kept = [in_best_documents(contexts, top).entity.tolist() for top in (1, 2, 3, 4)]
    assert kept == [[], [0], [0, 1], [0, 1, 2]]
