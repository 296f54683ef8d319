"""Models by name: the default model, a model file, a system or an object; checked against the index to be ranked.

Knows nothing of training.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from fader.errors import FaderError, UsageError, quote
from fader.learn.model import Model, parse_model, read_model
from fader.learn.modelfile import CollectionFacts as CollectionCounts
from fader.rank.system import System
from fader.registry import count_registered, find_part
from fader.search.collection import Collection
from fader.systems.base import parse_system

DEFAULT, PAPER, JOINT = "default", "paper", "joint"
SHIPPED = (DEFAULT, PAPER, JOINT)


@cache
def shipped_model(name: str) -> Model:
    """A model that ships with Fader, trained on public testbeds.

    `default` is a cascade: columns of contexts and entities rank the best candidates of a quick model again; `paper` is
    the paper's own, noprox+rectangle x sum; `joint` is such columns for all candidates, slower.
    """
    text = resources.files("fader").joinpath(f"models/{name}.json").read_text(encoding="utf-8")
    return parse_model(text, f"{name} model")


def default_model() -> Model:
    """The model that ranks where none is given."""
    return shipped_model(DEFAULT)


def collection_of(collection: Collection) -> CollectionCounts:
    """What distinguishes an index's collection from others."""
    counts = collection.documents, collection.tokens, collection.mentions, len(collection.catalog.entity_ids)
    return _count_once(*counts, collection.origin)


_count_once = lru_cache(maxsize=64)(CollectionCounts)  # every search asks


def warnings_of(model: Model, collection: Collection) -> list[str]:
    """What a user should know of a model that fits the index."""
    return [] if model.scope is None else model.scope.warnings(collection_of(collection))


def contents_of(collection: Collection) -> dict[str, Any]:
    """What results of an index depend on: its counts, and, since an index can be changed, its files."""
    counts = dict(zip(("documents", "tokens", "mentions", "entities"), collection_of(collection).counts, strict=True))
    if collection.manifest.format == 1:
        return counts
    return counts | {"files": collection.manifest.fingerprint}


def resolve_model(given: Any, collection: Collection, any_index: bool = False) -> Model:
    """The model that a name, a file or an object stands for, if it fits the index.

    Objects are a `Model`, a `System`, or a fitted `Ranker`, which has its model in `model_`.
    """
    if isinstance(given, str | Path):
        given = _find_named(str(given))
    given = getattr(given, "model_", given)
    model = Model(given) if isinstance(given, System) else given
    if not isinstance(model, Model):
        raise UsageError(
            f"{quote(given)} is no model and no system; give a model file, a system such as Count() or its name, or a "
            "fitted Ranker"
        )
    model = model.as_portable() if any_index else model
    if model.scope is not None:
        model.scope.check(collection.analysis.to_dict(), collection_of(collection))
    return model


def _find_named(text: str) -> Model | System:
    if text in SHIPPED:
        return shipped_model(text)
    if text.endswith(".json") or "/" in text.split("(")[0] or _is_file(text):
        return read_model(text)
    try:
        return parse_system(text)
    except FaderError as error:
        raise UsageError(f"{error}; or give the file of a model") from None


def _is_file(text: str) -> bool:
    """Whether a text without a system's name before its first bracket names a file."""
    try:
        return not _is_system(text.split("(")[0].strip(), count_registered()) and Path(text).is_file()
    except OSError:  # longer than a file's name can be
        return False


@lru_cache(maxsize=64)
def _is_system(name: str, _registered: int) -> bool:
    return find_part("fader.systems", name) is not None
