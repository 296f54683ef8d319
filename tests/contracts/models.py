"""Features x aggregator with given weights, as training would leave it."""

from __future__ import annotations

from typing import Any

import numpy as np

from fader.learn.model import Model
from fader.learn.modelfile import ModelScope
from fader.systems.fader import FeatureModel


def feature_model(features: Any, weights: Any, aggregator: Any = "sum", policy: str = "document", **more: Any) -> Any:
    """The fitted system."""
    given = tuple(np.asarray(weights, dtype=np.float64).tolist())
    return FeatureModel(features=features, aggregator=aggregator, policy=policy, weights=given, **more)


def portable(system: Any) -> Model:
    """A trained model that fits any index."""
    return Model(system, ModelScope(portable=True))
