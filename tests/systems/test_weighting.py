"""Weighting models against their formulas, and the order of documents."""

from __future__ import annotations

from math import e, log2, pi

import numpy as np
import pytest
from hypothesis import given, settings

from contracts.worlds import Document, Mention, World, worlds
from fader.errors import UsageError
from fader.systems.weighting import MODELS, document_ranking, document_scores
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
