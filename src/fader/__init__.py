"""Fader: entity search. Ask for things, not pages, and see the evidence.

    import fader
    index = fader.build("index/", corpus=["corpus.jsonl"], entities="entities.tsv", types="types.tsv")
    answer = index.search('played +violin', type="scientist", k=10)

Importing this package is cheap; the compiled parts are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fader.version import __version__

__all__ = [
    "Index",
    "Limits",
    "Ranker",
    "__version__",
    "add",
    "build",
    "compare",
    "delete",
    "errors",
    "import_corpus",
    "load_plugin",
    "merge",
    "open",
    "register",
    "write_report",
]

if TYPE_CHECKING:
    from fader import errors
    from fader.corpora.frame.run import import_corpus
    from fader.experiment.compare import compare
    from fader.experiment.ranker import Ranker
    from fader.experiment.reporting.report import write_report
    from fader.limits import Limits
    from fader.registry import load_plugin, register
    from fader.search.change import add, delete, merge
    from fader.search.index import Index, build, open


_HOMES = {
    "Index": "fader.search.index",
    "build": "fader.search.index",
    "open": "fader.search.index",
    "add": "fader.search.change",
    "delete": "fader.search.change",
    "merge": "fader.search.change",
    "import_corpus": "fader.corpora.frame.run",
    "Limits": "fader.limits",
    "load_plugin": "fader.registry",
    "register": "fader.registry",
    "Ranker": "fader.experiment.ranker",
    "compare": "fader.experiment.compare",
    "write_report": "fader.experiment.reporting.report",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    import importlib

    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name == "errors":
        return importlib.import_module("fader.errors")
    raise AttributeError(f"module 'fader' has no attribute {name!r}")
