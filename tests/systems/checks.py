"""What every ranking and explanation must keep, as assertions on one table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fader.contexts.table import Contexts


def check_contract(ranker: Any, contexts: Contexts) -> None:
    """Order, contributions, pieces and what is left without a context."""
    ranking = ranker.rank(contexts, 1000)
    assert np.isfinite(ranking.score).all()
    listed = list(zip(ranking.score.tolist(), ranking.entity.tolist(), strict=True))
    assert listed == sorted(listed, reverse=True)
    assert ranking.candidates == len(listed)
    head = ranker.rank(contexts, 2)
    assert (head.entity.tolist(), head.score.tolist()) == (ranking.entity[:2].tolist(), ranking.score[:2].tolist())
    for i in range(len(listed)):
        parts = ranker.explain(contexts, ranking, i)
        assert parts.row.size == ranking.support[i] == len(set(parts.row.tolist()))
        assert (contexts.entity[parts.row] == ranking.entity[i]).all()
        assert parts.share.sum() == pytest.approx(ranking.score[i], rel=1e-9, abs=1e-12)
        assert parts.literal.sum(axis=0) == pytest.approx(parts.share, rel=1e-9, abs=1e-12)
        assert (parts.literal[contexts.distances[:, parts.row] < 0] == 0).all()
        for row, score in zip(parts.row.tolist(), parts.score.tolist(), strict=True):
            pieces = ranker.pieces(contexts, row)
            assert sum(piece.value for piece in pieces) == pytest.approx(score, rel=1e-9, abs=1e-12)
    for i in range(min(3, len(listed))):
        row = int(ranker.explain(contexts, ranking, i).row[0])
        found = ranker.without(contexts, ranking, i, row)
        again = ranker.rank(contexts.take(np.delete(np.arange(len(contexts)), row)), 1000)
        place = again.entity.tolist().index(ranking.entity[i]) if ranking.entity[i] in again.entity else None
        expected = (None, None) if place is None else (place + 1, float(again.score[place]))
        assert (found.rank, found.score) == expected
