"""Fader: entity search. Ask for things, not pages, and see the evidence.

    import fader
    index = fader.build("index/", corpus=["corpus.jsonl"], entities="entities.tsv", types="types.tsv")
    answer = index.search('played +violin', type="scientist", k=10)

Importing this package is cheap; the compiled parts are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Index", "__version__", "build", "errors", "open"]

if TYPE_CHECKING:
    from fader import errors
    from fader.search.index import Index, build, open


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    import importlib

    if name in ("Index", "build", "open"):
        return getattr(importlib.import_module("fader.search.index"), name)
    if name == "errors":
        return importlib.import_module("fader.errors")
    raise AttributeError(f"module 'fader' has no attribute {name!r}")
