"""What every ranking and explanation must keep, as assertions on one table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fader.contexts.table import Contexts
from fader.rank.ranking import explain_entity, rank_entities, rank_without


def check_contract(ranker: Any, contexts: Contexts) -> None:
    """Order, contributions, pieces and what is left without a context."""
    ranking = rank_entities(ranker, contexts, 1000)
    assert np.isfinite(ranking.score).all()
    listed = list(zip(ranking.score.tolist(), ranking.entity.tolist(), strict=True))
    assert listed == sorted(listed, reverse=True)
    assert ranking.candidates == len(listed)
    head = rank_entities(ranker, contexts, 2)
    assert (head.entity.tolist(), head.score.tolist()) == (ranking.entity[:2].tolist(), ranking.score[:2].tolist())
    for i in range(len(listed)):
        parts = explain_entity(ranker, contexts, ranking, i)
        assert parts.row.size == ranking.support[i] == len(set(parts.row.tolist()))
        assert (contexts.entity[parts.row] == ranking.entity[i]).all()
        assert parts.share.sum() == pytest.approx(ranking.score[i], rel=1e-9, abs=1e-12)
        assert parts.literal.sum(axis=0) == pytest.approx(parts.share, rel=1e-9, abs=1e-12)
        assert (parts.literal[contexts.distances[:, parts.row] < 0] == 0).all()
        for row, score in zip(parts.row.tolist(), parts.score.tolist(), strict=True):
            pieces = ranker.pieces(contexts, row)
            assert sum(piece.value for piece in pieces) == pytest.approx(score, rel=1e-9, abs=1e-12)
    for i in range(min(3, len(listed))):
        row = int(explain_entity(ranker, contexts, ranking, i).row[0])
        found = rank_without(ranker, contexts, ranking, i, row)
        again = rank_entities(ranker, contexts.take(np.delete(np.arange(len(contexts)), row)), 1000)
        place = again.entity.tolist().index(ranking.entity[i]) if ranking.entity[i] in again.entity else None
        expected = (None, None) if place is None else (place + 1, float(again.score[place]))
        assert (found.rank, found.score) == expected
