"""Marks the entities of a catalog in raw text: a dictionary annotator.

    from fader.corpora.annotate import Annotator
    annotator = Annotator.from_files("entities.tsv", "types.tsv")
    annotator.annotate("Marie Curie was born in Warsaw.")

`names` reads the catalog, `scan` finds tokens, `build` makes the `dictionary` of all names from `terms`, `trie`,
`spelling` and `groups`, `match` finds them in texts, `resolve` chooses among entities of one name, `profiles` and
`links` say what speaks for an entity, `annotator` puts these together; `texts` and `written` turn documents into lines,
`options` and `run` are the command. docs/annotating.md has the rules. Knows nothing of indexes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["Annotator"]

if TYPE_CHECKING:
    from fader.corpora.annotate.annotator import Annotator


def __getattr__(name: str) -> Any:
    if name == "Annotator":
        from fader.corpora.annotate.annotator import Annotator

        return Annotator
    raise AttributeError(f"module 'fader.corpora.annotate' has no attribute {name!r}")
