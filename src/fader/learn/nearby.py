"""Weights near given ones: what a few queries teach a model that was trained on many others.

    minimise  sum over queries of listwise loss  +  (w - w0) . R (w - w0) / (2 lambda^2)       within the bounds

The base w0 is where the search begins and where it stays without queries: each query pulls about equally, so that few
move the weights a little and many move them far. lambda says how far weights of different collections are apart; 0
keeps the base. Golden case: no query has a good and a bad candidate; the weights are w0. Knows nothing of
cross-validation, cascades or storage.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fader.aggregate.base import Aggregator
from fader.learn.dataset import Dataset
from fader.learn.joined import JoinedLevel
from fader.learn.loss import Loss
from fader.learn.objective import labels_of
from fader.learn.train import Fit, FitSettings, Objective, descend

F64 = NDArray[np.float64]


class NearFitter:
    """Fits of one dataset, in which each context counts for itself, near one base; `dataset` is without contexts."""

    def __init__(self, dataset: Dataset, aggregator: Aggregator, base: F64) -> None:
        self.base, self.values = base, JoinedLevel(dataset, aggregator)
        # Contexts are in the joined table now; they need not be held twice.
        self.dataset = replace(dataset, queries=tuple(replace(query, blocks=()) for query in dataset.queries))

    def fit(self, settings: FitSettings, weight: F64, start: F64 | None = None) -> Fit:
        """The weights near the base that suit queries that have a weight; the base itself where none can train."""
        labels = labels_of(self.dataset, settings.judged_only)
        labels = labels.with_weights(labels.weight * weight)
        if not labels.weight.any():
            return Fit(self.base, 0.0)
        start, loss = self.base if start is None else start, Loss(settings.loss, labels)
        if loss.has_rounds:
            loss.hold(self.values.values(start, labels.weight))
        features = self.dataset.features
        objective = Objective(self.values, loss, features.penalty() / settings.lam**2, self.base)
        found = descend(objective, features.bounds(), start, settings)
        return Fit(found.weights, found.objective, [found.objective], 1, True, found.iterations, found.converged)
