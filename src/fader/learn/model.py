"""A trained model: a value that ranks, and a file that holds nothing but JSON.

    file := {"format": "fader-model", "version": 1, "features", "weights", "aggregator", "policy", "window", "overlap",
             "analysis", "collection", "portable", "provenance", "checksum": "xxh3:" of all the rest}

Bucket edges are part of the features' text, what an aggregator learned is part of its text. A model fits an index of
the same analysis (of any, where none is named) and the same collection, unless it is portable. Knows nothing of how
it was trained or of indexes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from fader.aggregate.base import Aggregator
from fader.contexts.policy import check_policy
from fader.errors import FaderError, InputError, StorageError, quoted
from fader.features.base import FeatureMap
from fader.features.combined import feature_map
from fader.parts import parse, split_top
from fader.rank.pipeline import Piped, Pipeline

F64 = NDArray[np.float64]
FORMAT, VERSION = "fader-model", 1
LARGEST_BYTES = 64 << 20


@dataclass(frozen=True)
class Collection:
    """What tells one collection from another: its counts."""

    documents: int
    tokens: int
    mentions: int
    entities: int

    def __str__(self) -> str:
        return f"{self.documents:,} documents, {self.tokens:,} tokens, {self.mentions:,} mentions"


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

    def __str__(self) -> str:
        return f"{short(str(self.features))} x {short(str(self.aggregator))}"

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(self.features, self.weights, self.aggregator, self.policy)

    def check(self, analysis: dict[str, Any], collection: Collection) -> None:
        """Refuse an index that the model was not made for."""
        if self.analysis and self.analysis != analysis:
            raise InputError(
                f"the model was trained on texts analysed with {_analysed(self.analysis)}, this index has "
                f"{_analysed(analysis)}: its words are others; train a model for this index"
            )
        if not self.portable and self.collection is not None and self.collection != collection:
            raise InputError(
                f"the model was trained on another index ({self.collection}; this one has {collection}); train a model "
                "for this index, or take the model as it is with --any-index (in Python: model.anywhere())"
            )

    def anywhere(self) -> Model:
        """The same model, for any collection."""
        return replace(self, portable=True)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, checksum included."""
        plain = {
            "format": FORMAT, "version": VERSION, "features": str(self.features), "weights": self.weights.tolist(),
            "aggregator": str(self.aggregator), "policy": self.policy, "window": self.window, "overlap": self.overlap,
            "analysis": self.analysis, "portable": self.portable, "provenance": self.provenance,
            "collection": None if self.collection is None else vars(self.collection),
        }  # fmt: skip
        return {**plain, "checksum": _checksum(plain)}

    def to_text(self) -> str:
        """The text of the model file."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n"


def short(text: str) -> str:
    """A part's text without long lists of numbers."""
    return text if len(text) <= 60 else "+".join(piece.split("(")[0] for piece in split_top(text, "+"))


def _analysed(analysis: dict[str, Any]) -> str:
    stemmer, stop = analysis.get("stemmer"), len(analysis.get("stopwords") or ())
    return f"{f'the stemmer {stemmer}' if stemmer else 'no stemmer'} and {stop} stop words"


def _checksum(plain: dict[str, Any]) -> str:
    line = json.dumps(plain, ensure_ascii=False, sort_keys=True)
    # A file that was altered may hold half of a surrogate pair.
    return f"xxh3:{xxhash.xxh3_64_hexdigest(line.encode('utf-8', 'surrogatepass'))}"


def read_model(path: str | Path) -> Model:
    """The model in a file."""
    try:
        if Path(path).stat().st_size > LARGEST_BYTES:
            raise InputError(f"{path}: larger than {LARGEST_BYTES >> 20} MB; that is no model file")
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise StorageError(f"{path}: no such model file; make one with `fader train`") from None
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"{path}: cannot be read as a model file: {error}") from None
    return model_of(text, str(path))


def model_of(text: str, name: str) -> Model:
    """The model of a file's text."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: not a model file (no JSON: {error})") from None
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise InputError(f"{name}: not a model file; make one with `fader train`")
    if plain.get("version") != VERSION:
        raise InputError(f"{name}: a model of version {quoted(plain.get('version'))}, this release reads {VERSION}")
    given = plain.pop("checksum", None)
    if given != _checksum(plain):
        raise InputError(f"{name}: the checksum does not fit: the file was cut or altered; train the model again")
    try:
        return _built(plain)
    except FaderError as error:
        raise InputError(f"{name}: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{name}: not a whole model ({type(error).__name__}: {error})") from None


def _built(plain: dict[str, Any]) -> Model:
    collection = plain["collection"]
    return Model(
        features=feature_map(plain["features"]),
        weights=np.array(plain["weights"], dtype=np.float64),
        aggregator=parse("fader.aggregate", plain["aggregator"]),
        policy=plain["policy"], window=plain["window"], overlap=bool(plain["overlap"]),
        analysis=dict(plain["analysis"]), collection=None if collection is None else Collection(**collection),
        portable=bool(plain["portable"]), provenance=dict(plain["provenance"]),
    )  # fmt: skip
