"""After a command has built or changed an index: the examples that are kept beside it.

Those of a small index are made when a service starts, in no time; here nothing is loaded for them.
"""

from __future__ import annotations

from pathlib import Path

LEAST_DOCUMENTS = 1_000


def keep_examples(folder: Path, documents: int, anew: bool = False) -> None:
    """Choose the examples of an index of some size where that is due, or `anew` in any case."""
    if documents >= LEAST_DOCUMENTS:
        from fader.search.stored_examples import renew_examples  # which loads what ranks

        renew_examples(folder, anew)
