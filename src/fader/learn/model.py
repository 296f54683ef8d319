"""A trained model: a value that ranks, and a file that holds nothing but JSON.

    file := {"features", "weights", "aggregator", "policy", "window", "overlap", "top", and what every model file has}

Bucket edges are part of the features' text, what an aggregator learned is part of its text. Knows nothing of how it
was trained or of indexes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.aggregate.base import Aggregator
from fader.contexts.policy import check_policy
from fader.errors import FaderError, InputError, quoted
from fader.features.base import FeatureMap
from fader.features.combined import feature_map
from fader.learn.dataset import View
from fader.learn.modelfile import Collection, ModelScope, file_text, opened, read_text, sealed
from fader.rank.pipeline import Piped, Pipeline
from fader.registry import parse, split_top

F64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Model(Piped):
    """Features with weights x aggregator, with what it was trained on."""

    features: FeatureMap
    weights: F64
    aggregator: Aggregator
    policy: str = "document"
    window: int | None = None
    overlap: bool = True
    analysis: dict[str, Any] = field(default_factory=dict)
    collection: Collection | None = None
    portable: bool = False
    provenance: dict[str, Any] = field(default_factory=dict)
    top: int = 0

    def __post_init__(self) -> None:
        check_policy(self.policy, "model")
        if self.weights.shape != (self.features.size,):
            raise InputError(f"model: {self.features} needs {self.features.size} weights, not {self.weights.size}")
        if not np.isfinite(self.weights).all():
            at = int(np.flatnonzero(~np.isfinite(self.weights))[0])
            raise InputError(
                f"model: weights must be finite, but weight {at + 1} is {self.weights[at]}; train it again"
            )
        if self.window is not None and (not isinstance(self.window, int) or self.window < 0):
            raise InputError(f"model: window must be a number of tokens from 0 on or none, not {quoted(self.window)}")
        if not isinstance(self.top, int) or self.top < 0:
            raise InputError(f"model: top must be a number of documents, 0 for all, not {quoted(self.top)}")

    def __str__(self) -> str:
        return f"{short(str(self.features))} x {short(str(self.aggregator))}"

    @property
    def view(self) -> View:
        """How it wants contexts to be matched."""
        return View(self.policy, self.window, self.overlap, self.top)

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(self.features, self.weights, self.aggregator, self.policy)

    @property
    def made_for(self) -> ModelScope:
        """Where it comes from and where it may be used."""
        return ModelScope(self.analysis, self.collection, self.portable, self.provenance)

    def check(self, analysis: dict[str, Any], collection: Collection) -> None:
        """Refuse an index that the model was not made for."""
        self.made_for.check(analysis, collection)

    def as_portable(self) -> Model:
        """The same model, for any collection."""
        return replace(self, portable=True)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, checksum included."""
        plain = {
            "features": str(self.features), "weights": self.weights.tolist(), "aggregator": str(self.aggregator),
            "policy": self.policy, "window": self.window, "overlap": self.overlap, "top": self.top,
        }  # fmt: skip
        return sealed(plain | self.made_for.to_dict())

    def to_text(self) -> str:
        """The text of the model file."""
        return file_text(self.to_dict())


def short(text: str) -> str:
    """A part's text without long lists of numbers."""
    return text if len(text) <= 60 else "+".join(piece.split("(")[0] for piece in split_top(text, "+"))


def model_of(text: str, name: str) -> Model:
    """The model of a file's text."""
    return built(opened(text, name), name)


def read_model(path: str | Path) -> Model:
    """The model in a file."""
    return model_of(read_text(path), str(path))


def built(plain: dict[str, Any], name: str) -> Model:
    """The model of a file's contents."""
    try:
        return _built(plain)
    except FaderError as error:
        raise InputError(f"{name}: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{name}: not a whole model ({type(error).__name__}: {error})") from None


def _built(plain: dict[str, Any]) -> Model:
    made_for = ModelScope.from_dict(plain)
    return Model(
        features=feature_map(plain["features"]),
        weights=np.array(plain["weights"], dtype=np.float64),
        aggregator=parse("fader.aggregate", plain["aggregator"]),
        policy=plain["policy"], window=plain["window"], overlap=bool(plain["overlap"]),
        analysis=made_for.analysis, collection=made_for.collection, portable=made_for.portable,
        provenance=made_for.provenance, top=plain.get("top", 0),
    )  # fmt: skip
