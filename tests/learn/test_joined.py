"""All queries in one table give the values and gradients of queries one by one; weights stay near their base."""

from __future__ import annotations

import numpy as np
import pytest

from fader.features.base import FeatureMap
from fader.features.combined import feature_map
from fader.learn.joined import JoinedLevel
from fader.learn.loss import LOSSES, Loss
from fader.learn.nearby import NearFitter
from fader.learn.objective import ContextLevel, labels_of
from fader.learn.train import FitSettings
from fader.registry import parse
from learn.cases import F64, data_of, drawn_queries

MAPS = ["noprox+rectangle(3x4)+confidence", "coverage(3x4)+idfupto(4)", "windows+grid(3x4)+coverage(2x3,signed=true)"]
AGGREGATORS = ["logsumexp", "sum", "max", "softor"]
QUERIES = drawn_queries(5, queries=4, rows=22)
SETTINGS = FitSettings(loss="listwise", lam=1.0)


def weights(features: FeatureMap, seed: int) -> F64:
    return np.random.default_rng(seed).uniform(0.05, 1.0, features.size) / features.size


@pytest.mark.parametrize("text", MAPS)
@pytest.mark.parametrize("name", AGGREGATORS)
@pytest.mark.parametrize("loss", LOSSES)
def test_values_and_gradients_are_those_of_queries_one_by_one(text: str, name: str, loss: str) -> None:
    """To the rounding of columns; queries without weight count for nothing."""
    features, aggregator = feature_map(text), parse("fader.aggregate", name)
    w = weights(features, 3)
    data = data_of(QUERIES, features).best(w)
    labels = labels_of(data, judged_only=False).with_weights(np.array([1.0, 2.0, 0.0, 1.0]))
    one, all_at_once, made = ContextLevel(data, aggregator), JoinedLevel(data, aggregator), Loss(loss, labels)
    made.hold(one.values(w, labels.weight))
    total, gradient = one.loss(w, made)
    found, slope = all_at_once.loss(w, made)
    assert found == pytest.approx(total, rel=1e-5)
    np.testing.assert_allclose(slope, gradient, rtol=1e-4, atol=1e-6)
    counted = np.repeat(labels.weight > 0, np.diff(one.at))
    expected = one.values(w, labels.weight)[counted]
    np.testing.assert_allclose(all_at_once.values(w, labels.weight)[counted], expected, rtol=1e-5, atol=1e-7)


def test_weights_stay_near_their_base() -> None:
    """The smaller lambda, the nearer; without queries that train they are the base, whatever lambda is."""
    features = feature_map("windows+confidence")
    base = weights(features, 1)
    data = data_of(QUERIES, features).best(base)
    fitter = NearFitter(data, parse("fader.aggregate", "logsumexp"), base)
    away = [
        float(np.linalg.norm(fitter.fit(FitSettings(loss="listwise", lam=lam), np.ones(4)).weights - base))
        for lam in (0.01, 0.1, 1.0)
    ]
    assert 0 < away[0] < away[1] < away[2]
    assert fitter.fit(SETTINGS, np.zeros(4)).weights.tolist() == base.tolist()


def test_what_is_found_is_a_minimum() -> None:
    """No step along a weight, within the bounds, makes loss and penalty together smaller."""
    features = feature_map("windows+confidence")
    base = weights(features, 1)
    data = data_of(QUERIES, features).best(base)
    fitter = NearFitter(data, parse("fader.aggregate", "logsumexp"), base)
    found = fitter.fit(SETTINGS, np.ones(4)).weights
    loss = Loss("listwise", labels_of(data, judged_only=False))
    low, high = features.bounds()

    def value(w: F64) -> float:
        return fitter.values.loss(w, loss)[0] + 0.5 * float((w - base) @ (w - base))

    for i in range(found.size):
        for step in (-1e-2, 1e-2):
            moved = found.copy()
            moved[i] += step
            assert value(np.clip(moved, low, high)) >= value(found) - 1e-9
