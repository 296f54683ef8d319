"""What ranks, by name: the default model, a model file, or a system; checked against the index it is to rank.

Knows nothing of training.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from fader.errors import FaderError, UsageError, quoted
from fader.index.reader import IndexReader
from fader.learn import model, modelfile
from fader.learn.dataset import View
from fader.learn.model import Model, model_of
from fader.learn.modelfile import Collection
from fader.rank.base import System
from fader.registry import discover
from fader.systems import saved
from fader.systems.base import system
from fader.systems.saved import Saved

DEFAULT = "default"
EVERY_CONTEXT = View()


@cache
def default_model() -> Model:
    """The model that ships with Fader: noprox+rectangle x sum, trained on public testbeds."""
    text = resources.files("fader").joinpath("models/default.json").read_text(encoding="utf-8")
    return model_of(text, "default model")


def collection_of(reader: IndexReader) -> Collection:
    """What tells an index's collection from others."""
    counts = reader.documents, reader.tokens, reader.mentions, len(reader.catalog.entity_ids)
    return Collection(*counts, reader.manifest.origin)


def contents_of(reader: IndexReader) -> dict[str, Any]:
    """What results of an index hang on: its counts, and, since an index can be changed, its files."""
    counts = dict(zip(("documents", "tokens", "mentions", "entities"), collection_of(reader).counts, strict=True))
    if reader.manifest.format == 1:
        return counts
    return counts | {"files": reader.manifest.fingerprint}


def warnings_of(ranker: System, reader: IndexReader) -> list[str]:
    """What a user should know of a ranker that fits the index."""
    return ranker.made_for.warnings(collection_of(reader)) if isinstance(ranker, Model | Saved) else []


def ranker_of(given: Any, reader: IndexReader, any_index: bool = False) -> System:
    """The ranker that a name, a file or a value stands for, if it fits the index."""
    if isinstance(given, str | Path):
        given = _named(str(given))
    if hasattr(given, "model_"):
        given = given.model_
    if isinstance(given, Model | Saved):
        made: Model | Saved = given.as_portable() if any_index else given
        made.check(reader.analysis.to_dict(), collection_of(reader))
        return made
    if not hasattr(given, "rank"):
        raise UsageError(
            f"{quoted(given)} is no model and no system; give a model file, a system's name or a fitted Ranker"
        )
    return given  # type: ignore[no-any-return]


def read_ranker(path: str | Path) -> Model | Saved:
    """What ranks in a model file."""
    plain = modelfile.opened(modelfile.read_text(path), str(path))
    return saved.built(plain, str(path)) if "system" in plain else model.built(plain, str(path))


def _is_file(text: str) -> bool:
    """Whether a text without a system's name before its first bracket names a file."""
    try:
        return text.split("(")[0].strip() not in discover("fader.systems") and Path(text).is_file()
    except OSError:  # longer than a file's name can be
        return False


def _named(text: str) -> System:
    if text == DEFAULT:
        return default_model()
    if text.endswith(".json") or "/" in text.split("(")[0] or _is_file(text):
        return read_ranker(text)
    try:
        return system(text)  # type: ignore[no-any-return]
    except FaderError as error:
        raise UsageError(f"{error}; or give the file of a model") from None


def view_of(system: System) -> View:
    """How a ranker wants contexts to be matched."""
    view: View = getattr(system, "view", EVERY_CONTEXT)
    return view
