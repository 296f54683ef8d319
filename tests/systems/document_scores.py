"""Scores of matching documents, by number."""

from __future__ import annotations

from fader.contexts.table import Contexts
from fader.systems.shared.weighting import document_scores


def scores_of(contexts: Contexts, model: str) -> dict[int, float]:
    return dict(zip(contexts.matching.number.tolist(), document_scores(contexts, model).tolist(), strict=True))
